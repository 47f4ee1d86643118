#include "harmonium/cli/experiment_file.h"

#include "harmonium/core/atomic_file.h"

namespace harmonium::cli {

ExperimentFile parse_experiment(const std::string& name, const std::string& source, const std::string& text) {
  ExperimentFile file{.name = name, .source = source, .text = text, .table = parse_toml(text, source)};
  for (const auto& [key, field] :
       {std::pair{"kind", &file.kind}, {"title", &file.title}, {"question", &file.question}}) {
    const toml::node* node = file.table.get(key);
    require(node != nullptr, "{}: an experiment needs `{} = \"…\"` at its top", source, key);
    assign_toml(*field, *node, place_in(source, key, *node));
  }
  return file;
}

ExperimentFile open_experiment(const std::string& name_or_path) {
  const std::filesystem::path path = name_or_path;
  if (path.extension() == ".toml" || path.has_parent_path()) {
    require(std::filesystem::is_regular_file(path), "there is no experiment file {}", name_or_path);
    return parse_experiment(path.stem().string(), name_or_path, read_file(path));
  }
  std::string names;
  for (const EmbeddedExperiment& each : embedded_experiments()) {
    if (each.name == name_or_path) return parse_experiment(name_or_path, name_or_path, std::string(each.text));
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  fail("there is no experiment '{}'; there are: {}; or give the path of a .toml file", name_or_path, names);
}

}  // namespace harmonium::cli
