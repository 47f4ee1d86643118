# Warnings, sanitizers and ccache, collected in the interface target harmonium_options that every target of ours uses.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers need these two relaxations before ccache will look at them.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

add_library(harmonium_options INTERFACE)
target_compile_options(harmonium_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(harmonium_options INTERFACE -fpch-preprocess -Wno-maybe-uninitialized)  # false alarms inside std
endif()
if(HARMONIUM_WARNINGS_AS_ERRORS)
  target_compile_options(harmonium_options INTERFACE -Werror)
endif()
if(HARMONIUM_SANITIZE)
  target_compile_options(harmonium_options INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(harmonium_options INTERFACE -fsanitize=address,undefined)
  target_compile_definitions(harmonium_options INTERFACE HARMONIUM_SANITIZED)
endif()
