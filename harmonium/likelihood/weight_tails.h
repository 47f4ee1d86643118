// How heavy the tail of every row's importance weights is: the Pareto shape k of its largest ones, as diagnose() finds
// it (likelihood/weights.h), for weights that come in pieces.
//
// Above 0.7 a mean of weights is not to be trusted however many there are (Vehtari, Simpson, Gelman, Yao & Gabry 2024):
// so little of it is in most draws that log p̂ may rise for a long time. Only the largest weights of each row are kept,
// at most 3√K + 1.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace harmonium {

class WeightTails {
 public:
  static constexpr double heavy = 0.7;

  // Of so many weights of every row.
  explicit WeightTails(std::int64_t draws);

  // log w of further draws, rows × any number.
  void add(const at::Tensor& log_weights);
  // Of every row, float64 on the CPU; undefined where there are too few draws for an opinion.
  [[nodiscard]] at::Tensor shapes() const;

 private:
  std::int64_t tail_;   // weights that are the tail; 0: no opinion
  at::Tensor largest_;  // rows × at most tail + 1
};

}  // namespace harmonium
