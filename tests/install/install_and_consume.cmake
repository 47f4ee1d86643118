# Run by the test: install, configure the consumer, build it, run it. Any step that fails stops the script.
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${work})
unset(ENV{DESTDIR})

step(${CMAKE_COMMAND} --install ${build} --config ${config} --prefix ${work}/prefix)

# The build tree's own paths must not be what makes the package work.
file(GLOB_RECURSE package_files ${work}/prefix/*.cmake)
foreach(package_file IN LISTS package_files)
  file(READ ${package_file} text)
  string(FIND "${text}" "${build}/harmonium" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${package_file} refers to the build tree ${build}")
  endif()
endforeach()

list(PREPEND prefixes ${work}/prefix)
string(REPLACE ";" "\\;" prefixes "${prefixes}")
step(${CMAKE_COMMAND} -S ${consumer} -B ${work}/build -G ${generator} -D CMAKE_BUILD_TYPE=${config}
     -D CMAKE_CXX_COMPILER=${compiler} -D "CMAKE_PREFIX_PATH=${prefixes}" -D Torch_DIR=${torch} -D EXPECT_FILES=${files})
step(${CMAKE_COMMAND} --build ${work}/build --config ${config})

execute_process(COMMAND ${CMAKE_COMMAND} --build ${work}/build --config ${config} --target run
                OUTPUT_VARIABLE output ECHO_OUTPUT_VARIABLE COMMAND_ERROR_IS_FATAL ANY)
if(NOT output MATCHES "block 6627e8d5 e169c58d bc57ac4c 9b00dbd8\ndot 19\n")
  message(FATAL_ERROR "the consumer printed something else than a Philox block of zeros and a dot product of 19")
endif()
