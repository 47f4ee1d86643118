// Tables whose entries have a `name`: what can be chosen by name, and the message where a name is wrong.
#pragma once

#include <string>

#include "harmonium/core/error.h"

namespace harmonium {

// "pcd, fpcd, cd": the names of all entries, or of those that `chosen` accepts.
template <class Table, class Choice>
[[nodiscard]] std::string names_of(const Table& table, Choice&& chosen) {
  std::string names;
  for (const auto& each : table) {
    if (!chosen(each)) continue;
    if (!names.empty()) names += ", ";
    names += each.name;
  }
  return names;
}
template <class Table>
[[nodiscard]] std::string names_of(const Table& table) {
  return names_of(table, [](const auto&) { return true; });
}

// The entry of that name. Fails: "unknown gradient 'x'; there are: pcd, fpcd, cd", where `what` is "gradient".
template <class Table>
[[nodiscard]] const auto& find_named(const Table& table, const std::string& name, const char* what) {
  for (const auto& each : table)
    if (each.name == name) return each;
  fail("unknown {} '{}'; there are: {}", what, name, names_of(table));
}

}  // namespace harmonium
