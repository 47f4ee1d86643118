# Makes find_package(harmonium) work from an installed tree: harmonium::harmonium, and harmonium::files where it was
# built. What the library is compiled with (warnings, -Werror, precompiled headers) stays private: harmonium_options is
# in the export only because a static library must name whatever it was linked with, and reaches a consumer's link line
# (the sanitizers' runtime) but never its compile line.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/harmonium)

# The same name in the tree and installed, so that add_subdirectory and find_package are interchangeable.
add_library(harmonium::harmonium ALIAS harmonium)

set(targets harmonium harmonium_options)
set(not_installed cli)
if(HARMONIUM_TOOL)
  add_library(harmonium::files ALIAS harmonium_files)
  list(APPEND targets harmonium_files)
  install(TARGETS harmonium_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
else()
  list(APPEND not_installed formats catalog families runs report sessions experiments)
endif()
install(TARGETS ${targets} EXPORT harmonium ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT harmonium NAMESPACE harmonium:: DESTINATION ${package_dir})

# LibTorch is looked up anew on the consumer's side (harmoniumConfig.cmake makes harmonium::harmonium_torch), since its
# location and flags are that machine's business. CMake wants every target in some export, so this one is never installed.
install(TARGETS harmonium_torch EXPORT harmonium_torch)
install(EXPORT harmonium_torch NAMESPACE harmonium:: DESTINATION ${package_dir} COMPONENT never EXCLUDE_FROM_ALL)

set(without)
foreach(folder IN LISTS not_installed)
  list(APPEND without PATTERN ${folder} EXCLUDE)
endforeach()
install(DIRECTORY harmonium DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" ${without})

configure_package_config_file(cmake/harmoniumConfig.cmake.in ${PROJECT_BINARY_DIR}/harmoniumConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/harmoniumConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/harmoniumConfig.cmake ${PROJECT_BINARY_DIR}/harmoniumConfigVersion.cmake
        DESTINATION ${package_dir})
