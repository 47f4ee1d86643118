// Which of several named arrays is the data, and which are its labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace harmonium {

struct ArrayInfo {
  std::string name;
  std::string kind;  // for messages: "uint8"; empty where it says nothing
  std::vector<std::int64_t> shape;
  bool is_usable = true;
};

// The index of the array called `wanted`; where that is empty, of the only usable matrix or of the one with the most
// obvious name. Throws Error that lists the arrays and says how to choose.
[[nodiscard]] std::size_t choose_array(const std::vector<ArrayInfo>& arrays, const std::string& wanted,
                                       const std::string& where);

// The index of the vector with one entry for each row of the chosen array whose name says that it holds its labels:
// y… for x…, …_labels for …_images, else labels, y, target.
[[nodiscard]] std::optional<std::size_t> find_labels(const std::vector<ArrayInfo>& arrays, std::size_t chosen);

}  // namespace harmonium
