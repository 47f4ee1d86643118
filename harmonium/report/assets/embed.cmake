# cmake -DOUTPUT=FILE.cpp -DNAMES_AND_FILES=name|file|name|file… -P embed.cmake
# Writes a function harmonium::assets::name() for each file that returns its bytes.
string(REPLACE "|" ";" names_and_files "${NAMES_AND_FILES}")
set(code "#include \"harmonium/report/assets.h\"\n\nnamespace harmonium::assets {\n")
while(names_and_files)
  list(POP_FRONT names_and_files name file)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND code "\nstatic constexpr unsigned char ${name}_bytes[] = {${bytes}};\n"
                     "std::string_view ${name}() {\n"
                     "  return {reinterpret_cast<const char*>(${name}_bytes), sizeof(${name}_bytes)};\n}\n")
endwhile()
string(APPEND code "\n}  // namespace harmonium::assets\n")
file(WRITE ${OUTPUT} "${code}")
