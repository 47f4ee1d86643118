// What a component hands to a checkpoint and takes back: its state as named tensors.
#pragma once

#include <ATen/ATen.h>

#include <string>
#include <utility>
#include <vector>

#include "harmonium/core/error.h"

namespace harmonium {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// The tensor called `name`; fails naming it and `what` (a file, a component) when it is missing.
[[nodiscard]] inline const at::Tensor& find_tensor(const NamedTensors& tensors, const std::string& name,
                                                   const std::string& what) {
  for (const auto& [key, value] : tensors)
    if (key == name) return value;
  fail("{}: tensor '{}' is missing", what, name);
}

}  // namespace harmonium
