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
  std::vector<std::int64_t> lengths = {};  // rows of each sequence that it is made of; empty: none
};

// The index of the array called `wanted`; where that is empty, of the only usable matrix or of the one with the most
// obvious name. Throws Error that lists the arrays and says how to choose.
[[nodiscard]] std::size_t choose_array(const std::vector<ArrayInfo>& arrays, const std::string& wanted,
                                       const std::string& where);

// Arrays for training and for testing: x_train and x_test, train_data and valid_data, trainX and testX, …
struct ArrayPart {
  std::string part;  // train, valid or test
  std::size_t index = 0;
};
// One array for each part, train first; empty where there is no array for training beside one for validation or
// testing, or where it is not clear which is which.
[[nodiscard]] std::vector<ArrayPart> find_parts(const std::vector<ArrayInfo>& arrays);

// "x_train (60000×784), x_test (10000×784)", for messages.
[[nodiscard]] std::string list_of_arrays(const std::vector<ArrayInfo>& arrays);

// The index of the vector with one entry for each row of the chosen array whose name says that it holds its labels:
// y… for x…, …_labels for …_images, train_labels or y_train for any array for training, else labels, y, target.
[[nodiscard]] std::optional<std::size_t> find_labels(const std::vector<ArrayInfo>& arrays, std::size_t chosen);

// The index of the vector whose name says that it holds the lengths of sequences of which the chosen array's rows are
// the frames: x_lengths or lengths_x for x, lengths_train for any array for training, else lengths.
[[nodiscard]] std::optional<std::size_t> find_lengths(const std::vector<ArrayInfo>& arrays, std::size_t chosen);

}  // namespace harmonium
