# Turns the lines of digits/optdigits.txt into C++ string literals, which data/digits.cpp includes. Done while
# configuring, with CMake alone, so that the embedded data need no extra tool and no decompressor.
set(digits_file ${CMAKE_CURRENT_LIST_DIR}/digits/optdigits.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${digits_file})
file(READ ${digits_file} digits_text)
# One literal per line, because compilers limit the length of a single one.
string(REGEX REPLACE "([a-q]+ [0-9])\n" "\"\\1\",\n" digits_literals "${digits_text}")
# CONFIGURE leaves an unchanged file alone, so nothing is rebuilt without need.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/harmonium/data/optdigits.inc CONTENT "${digits_literals}" @ONLY)
