// TOML as configurations and experiments use it: errors name file and line, and nothing unknown is passed over.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <type_traits>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/families/run_config.h"

namespace harmonium {

// `source` is what errors call the text.
[[nodiscard]] toml::table parse_toml(const std::string& text, const std::string& source);

// "recipe.toml, line 3, 'rate'".
[[nodiscard]] std::string place_in(const std::string& source, std::string_view key, const toml::node& node);

// What to do about a key that is no option of a run: some are flags of the command line.
[[nodiscard]] std::string options_advice(const std::string& name);

// Overwrites fields by the table's; unknown keys, wrong types and options of other families fail. A table that several
// runs share may hold options of any of their families.
enum class TableOf { one_run, several_runs };
void assign_config(RunConfig& config, const toml::table& table, const std::string& source,
                   TableOf scope = TableOf::one_run);

template <class T>
void assign_toml(T& field, const toml::node& node, const std::string& where) {
  if constexpr (std::is_same_v<T, std::string>) {
    // hidden = 100 is as good as hidden = "100".
    if (const auto integer = node.value_exact<std::int64_t>()) {
      field = std::to_string(*integer);
      return;
    }
    const auto text = node.value_exact<std::string>();
    require(text.has_value(), "{}: a text is needed", where);
    field = *text;
  } else if constexpr (std::is_same_v<T, bool>) {
    const auto truth = node.value_exact<bool>();
    require(truth.has_value(), "{}: true or false is needed", where);
    field = *truth;
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

// A list takes the place of the one before.
template <class T>
void assign_toml(std::vector<T>& fields, const toml::node& node, const std::string& where) {
  require(node.is_array(), "{}: a list [a, b] is needed", where);
  fields.clear();
  for (const toml::node& each : *node.as_array()) assign_toml(fields.emplace_back(), each, where);
}

}  // namespace harmonium
