#include "harmonium/cli/config_file.h"

#include <algorithm>

#include "harmonium/cli/toml_table.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium::cli {

namespace {

std::string flag(std::string name) {
  std::ranges::replace(name, '_', '-');
  return "--" + name;
}

std::string quote(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

}  // namespace

void ConfigFlags::declare(CLI::App& command) {
  RunConfig::visit(values_, [&](const char* name, auto& field, const char* help) {
    CLI::Option* option = command.add_option(flag(name), field, help)->capture_default_str();
    if constexpr (std::is_unsigned_v<std::decay_t<decltype(field)>>) option->check(CLI::NonNegativeNumber);
    options_.push_back(option);
  });
}

RunConfig ConfigFlags::resolve(const std::string& file) const {
  RunConfig config;
  if (!file.empty()) read_toml(file, config);
  return resolve(std::move(config));
}

RunConfig ConfigFlags::resolve(RunConfig config) const {
  std::size_t index = 0;
  RunConfig::visit(values_, [&](const char* name, const auto& given, const char*) {
    if (options_[index++]->count() == 0) return;
    RunConfig::visit(config, [&](const char* other, auto& field, const char*) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::decay_t<decltype(given)>>)
        if (std::string_view(other) == name) field = given;
    });
  });
  return config;
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

void assign_config(RunConfig& config, const toml::table& table, const std::string& source) {
  for (const auto& [key, node] : table) {
    const std::string where = place_in(source, key.str(), node);
    bool known = false;
    RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
      if (key.str() != name) return;
      assign_toml(field, node, where);
      known = true;
    });
    require(known, "{}: no such option; `harmonium train --help` lists them (with _ for -)", where);
  }
}

std::string to_toml(const RunConfig& config) {
  std::string text;
  RunConfig::visit(config, [&](const char* name, const auto& field, const char*) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
      text += format("{} = {}\n", name, quote(field));
    else
      text += format("{} = {}\n", name, field);
  });
  return text;
}

}  // namespace harmonium::cli
