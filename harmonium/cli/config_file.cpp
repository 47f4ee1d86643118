#include "harmonium/cli/config_file.h"

#include <toml++/toml.h>
#include <algorithm>

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

template <class T>
void assign(T& field, const toml::node& node, const std::string& where) {
  if constexpr (std::is_same_v<T, std::string>) {
    // hidden = 100 is as good as hidden = "100".
    if (const auto integer = node.value_exact<std::int64_t>()) {
      field = std::to_string(*integer);
      return;
    }
    const auto text = node.value_exact<std::string>();
    require(text.has_value(), "{}: a text is needed", where);
    field = *text;
  } else if constexpr (std::is_floating_point_v<T>) {
    const auto number = node.value<double>();
    require(number.has_value() && !node.is_boolean(), "{}: a number is needed", where);
    field = *number;
  } else {
    const auto number = node.value_exact<std::int64_t>();
    require(number.has_value(), "{}: a whole number is needed", where);
    require(std::is_signed_v<T> || *number >= 0, "{}: a number that is not negative is needed", where);
    field = static_cast<T>(*number);
  }
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
  toml::table table;
  try {
    table = toml::parse_file(path.string());
  } catch (const toml::parse_error& error) {
    fail("{}, line {}: {}", path.string(), error.source().begin.line, error.description());
  }
  for (const auto& [key, node] : table) {
    const std::string where =
        format("{}, line {}, '{}'", path.string(), node.source().begin.line, std::string(key.str()));
    bool known = false;
    RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
      if (key.str() != name) return;
      assign(field, node, where);
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
