// What a component hands to a checkpoint and takes back: its state as named tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/core/moments.h"

namespace harmonium {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// The tensor called `name`; fails naming it and `what` (a file, a component) when it is missing.
[[nodiscard]] inline const at::Tensor& find_tensor(const NamedTensors& tensors, const std::string& name,
                                                   const std::string& what) {
  for (const auto& [key, value] : tensors)
    if (key == name) return value;
  fail("{}: tensor '{}' is missing", what, name);
}

// Components side by side in one list: each has a prefix.
[[nodiscard]] inline NamedTensors with_prefix(const std::string& prefix, const NamedTensors& tensors) {
  NamedTensors result;
  for (const auto& [name, value] : tensors) result.emplace_back(prefix + name, value);
  return result;
}

[[nodiscard]] inline NamedTensors under_prefix(const std::string& prefix, const NamedTensors& tensors) {
  NamedTensors result;
  for (const auto& [name, value] : tensors)
    if (name.starts_with(prefix)) result.emplace_back(name.substr(prefix.size()), value);
  return result;
}

// Fills `target` from the tensors of its entries' names; `what` names it in messages.
inline void copy_moments(Moments& target, const NamedTensors& source, const std::string& what) {
  for (const auto& [name, value] : target.entries()) {
    const at::Tensor& found = find_tensor(source, name, what);
    require(found.sizes() == value.sizes(), "{}: tensor '{}' has the wrong shape", what, name);
    at::Tensor(value).copy_(found);
  }
}

}  // namespace harmonium
