// How an enumeration sees a machine: the digits that number its states, and the statistics that each enumerated unit
// makes with those of the summed block.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harmonium/models/enumeration.h"

namespace harmonium {

// A digit of the enumeration's numbers: a binary unit, a softmax group, any part of Unit::digit().
struct Digit {
  std::size_t layer = 0;
  std::int64_t first_column = 0, values = 2, columns = 1;
  std::int64_t stride = 1;  // what one step of the digit adds to the number
};

using DigitGroup = std::vector<Digit>;

// All digits in at most `most` groups of about as many states each.
[[nodiscard]] std::vector<DigitGroup> grouped_digits(const BoltzmannMachine& machine, const EnumerationPlan& plan,
                                                     std::size_t most);
// What the digits add to a state's number, for every combination of their values.
[[nodiscard]] at::Tensor number_offsets(const DigitGroup& digits);

// One feature of the enumerated side and the statistics it makes with those of the summed block. The first is the
// constant.
struct Feature {
  std::size_t layer = 0;
  std::int64_t column = -1;
  at::Tensor columns;  // statistics t of the summed block
  at::Tensor places;   // in g, of t × feature
};

// begin, begin + 1, …
[[nodiscard]] at::Tensor place_range(std::int64_t begin, std::int64_t count);

// The machine's statistics sorted by what they are to an enumeration. Machine and plan must outlive it.
class EnumerationLayout {
 public:
  EnumerationLayout(const BoltzmannMachine& machine, const EnumerationPlan& plan);

  [[nodiscard]] std::int64_t dimension() const { return dimension_; }
  [[nodiscard]] std::int64_t summed_size() const { return summed_size_; }  // statistics of the summed block
  [[nodiscard]] const std::vector<Feature>& features() const { return features_; }
  // Statistics that are known given the enumerated layers (their own, and products of edges among them): values of
  // every row, and their places in g.
  [[nodiscard]] at::Tensor known(const State& state) const;
  [[nodiscard]] at::Tensor known_places() const;

 private:
  void add_feature(std::size_t layer, std::int64_t column);

  const BoltzmannMachine& machine_;
  const EnumerationPlan& plan_;
  std::map<std::string, std::int64_t> begin_;         // of every entry in g
  std::map<std::size_t, std::int64_t> summed_begin_;  // layers of the summed block: place of their first statistic in t
  std::vector<Feature> features_;
  std::int64_t dimension_ = 0, summed_size_ = 0;
};

}  // namespace harmonium
