#include "harmonium/experiments/experiment_file.h"

#include <fmt/core.h>

#include "harmonium/core/atomic_file.h"
#include "harmonium/data/catalog/folders.h"
#include "harmonium/families/registry.h"

namespace harmonium {

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

void ExpectedTime::say() const {
  if (minutes > 0)
    fmt::print(stderr, "  about {:.0f} min on {}; can be interrupted and continued at any time\n", minutes, machine);
}

bool take_time(ExpectedTime& time, std::string_view key, const toml::node& node, const std::string& where) {
  if (key == "minutes")
    assign_toml(time.minutes, node, where);
  else if (key == "machine")
    assign_toml(time.machine, node, where);
  else
    return false;
  return true;
}

void take_quick_time(const ExperimentFile& file, toml::table& quick_table, bool quick, ExpectedTime& time) {
  for (const char* key : {"minutes", "machine"}) {
    const toml::node* node = quick_table.get(key);
    if (node == nullptr) continue;
    ExpectedTime ignored;
    take_time(quick ? time : ignored, key, *node, place_in(file.source, key, *node));
    quick_table.erase(key);
  }
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

const toml::table& as_table(const toml::node& node, const std::string& where) {
  require(node.is_table(), "{}: a [table] is needed", where);
  return *node.as_table();
}

std::vector<const toml::table*> tables_of(const ExperimentFile& file, const char* name) {
  std::vector<const toml::table*> tables;
  const toml::node* node = file.table.get(name);
  if (node == nullptr) return tables;
  const std::string where = place_in(file.source, name, *node);
  require(node->is_array_of_tables(), "{}: write it as [[{}]]", where, name);
  for (const toml::node& each : *node->as_array()) tables.push_back(&as_table(each, where));
  return tables;
}

std::filesystem::path find_experiment_model(const std::string& given) {
  if (std::filesystem::exists(given)) return given;
  std::string looked = given;
  for (const std::filesystem::path& folder : candidate_folders(std::filesystem::path(given).parent_path().string())) {
    const std::filesystem::path path = folder / std::filesystem::path(given).filename();
    if (std::filesystem::exists(path)) return path;
    looked += ", " + path.string();
  }
  fail("the model was not found; looked for {}. Put it into the folder that HARMONIUM_DATA names", looked);
}

void keep_last_unless_told(RunConfig& config) {
  if (config.keep == "auto" && find_family(config.model).has("gradient")) config.keep = "last";
}

int stopped_experiment(const ReproduceOptions& options) {
  fmt::print(stderr, "interrupted; progress saved. To continue:\n  harmonium reproduce {}{} --out {}\n", options.name,
             options.quick ? " --quick" : "", options.out.string());
  return 130;
}

}  // namespace harmonium
