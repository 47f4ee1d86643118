#include "harmonium/runs/config_file.h"

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/families/registry.h"
#include "harmonium/runs/toml_table.h"

namespace harmonium {

namespace {

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += '\\';
    // TOML takes control characters, which names of files may have, only in this form.
    if (code < 0x20 || code == 0x7F)
      result += format("\\u{:04X}", code);
    else
      result += c;
  }
  return result + "\"";
}

}  // namespace

std::string options_advice(const std::string& name) {
  for (const char* flag : {"threads", "out", "overwrite", "json"})
    if (name == flag) return format("it belongs on the command line, --{}, and not into a file", name);
  return "`harmonium train --help` lists them (with _ for -)";
}

void read_toml(const std::filesystem::path& path, RunConfig& config) {
  require(std::filesystem::is_regular_file(path), "there is no configuration file {}", path.string());
  assign_config(config, parse_toml(read_file(path), path.string()), path.string());
}

toml::table parse_toml(const std::string& text, const std::string& source) {
  try {
    return toml::parse(text, source);
  } catch (const toml::parse_error& error) {
    fail("{}, line {}: {}", source, error.source().begin.line, error.description());
  }
}

std::string place_in(const std::string& source, std::string_view key, const toml::node& node) {
  return format("{}, line {}, '{}'", source, node.source().begin.line, std::string(key));
}

namespace {

// Every option that version 0.1 had, whatever the model: files that list them all were written by that version, which
// wrote down options of other families as well.
bool lists_all_options(const toml::table& table) {
  return table.contains("rungs") && table.contains("dropout") && table.contains("track_betas") &&
         table.contains("sparsity_cost") && table.contains("label_column") && table.contains("code");
}

}  // namespace

void assign_config(RunConfig& config, const toml::table& table, const std::string& source, TableOf scope) {
  if (const toml::node* model = table.get("model")) {
    std::string name;
    const std::string where = place_in(source, "model", *model);
    assign_toml(name, *model, where);
    const Family& family = naming(where, [&]() -> const Family& { return find_family(name); });
    if (name != config.model) config.own = family.own;
    config.model = name;
  }
  const Family& family = find_family(config.model);
  const bool lenient = scope == TableOf::several_runs || lists_all_options(table);
  for (const auto& [key, node] : table) {
    const std::string where = place_in(source, key.str(), node);
    bool known = false;
    RunConfig::visit(config, [&, &key = key, &node = node](const char* name, auto& field, const char*) {
      if (key.str() != name) return;
      known = true;
      if (lenient || family.has(name)) assign_toml(field, node, where);
    });
    const std::string having = families_with(std::string(key.str()));
    require(known || !having.empty(), "{}: no such option; {}", where, options_advice(std::string(key.str())));
    require(lenient || family.has(std::string(key.str())), "{}: does not apply to model {}; it belongs to {}", where,
            config.model, having);
  }
}

std::string to_toml(const RunConfig& config) {
  std::string text;
  visit_options(config, [&](const char* name, const auto& field, const char*) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
      text += format("{} = {}\n", name, quote(field));
    else
      text += format("{} = {}\n", name, field);
  });
  return text;
}

}  // namespace harmonium
