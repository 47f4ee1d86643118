# cmake -DOUTPUT=FILE.cpp "-DFILES=a.toml|b.toml…" -P embed_experiments.cmake
# Writes the table embedded_experiments() with the bytes of each file.
string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(entries "")
foreach(file IN LISTS files)
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static constexpr unsigned char ${name}_text[] = {${bytes}};\n")
  string(APPEND entries "      {\"${name}\", {reinterpret_cast<const char*>(${name}_text), sizeof(${name}_text)}},\n")
endforeach()
file(WRITE ${OUTPUT} "#include \"harmonium/experiments/experiment_file.h\"\n\nnamespace harmonium {\n\n${arrays}
const std::vector<EmbeddedExperiment>& embedded_experiments() {
  static const std::vector<EmbeddedExperiment> table = {\n${entries}  };
  return table;
}\n\n}  // namespace harmonium\n")
