// The table of unit types: how each is written, made and fitted to a table of data. Options, help texts, messages and
// model files read it; nobody else takes a unit's text apart.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonium/units/unit.h"

namespace harmonium {

struct UnitType {
  std::string name;  // "softmax"
  std::string form;  // "softmax:GxK"
  std::string help;  // "G groups of K states, one of them on"
  Unit::Support support;
  std::string example;  // a small layer: "softmax:2x3"
  // How visible units are written where the data say how many there are: "softmax:K". Empty: not for data.
  std::string of_data = {};
  // From what stands after the name and its colon; `spec` is the whole, for messages.
  std::function<std::shared_ptr<const Unit>(std::string_view size, const std::string& spec)> make;
  // What has to stand after the name and its colon for so many columns, where `size` says less than that; else `size`.
  std::function<std::string(const std::string& size, std::int64_t columns, const std::string& spec)> fit = {};
};

// All there are: make_unit() and its messages read this table.
[[nodiscard]] const std::vector<UnitType>& unit_types();
// That of "softmax", "softmax:3" or "softmax:2x3". Fails where there is none.
[[nodiscard]] const UnitType& unit_type(const std::string& spec);
// "bernoulli:N, softmax:GxK, …", and "bernoulli, softmax:K, …": those for data, without their width.
[[nodiscard]] std::string unit_forms();
[[nodiscard]] std::string data_unit_forms();

// Visible units for so many columns: "bernoulli" becomes "bernoulli:64", "softmax:2" "softmax:32x2", and what is whole
// stays as it is.
[[nodiscard]] std::string fit_unit(const std::string& spec, std::int64_t columns);

// A number of units means binary ones: "100" is "bernoulli:100"; anything else stays as it is. And the other way round.
[[nodiscard]] std::string hidden_spec(const std::string& given);
[[nodiscard]] std::string hidden_text(const Unit& unit);

}  // namespace harmonium
