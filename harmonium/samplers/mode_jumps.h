// Which mode of labelled data each state of a chain belongs to, and how often chains go from one to another.
//
// Modes are the classes of labelled rows, and a state belongs to the class of the row nearest to it (Euclidean; for
// binary units the number of units that differ, squared root). That is a classifier with an error rate of its own: a
// chain that stands still between two classes flickers, and every flicker counts as a jump. accuracy() says how often
// labelled rows are given their own class by the others. Cost of an assignment: rows × labelled rows × width.
#pragma once

#include <ATen/core/Tensor.h>

namespace harmonium {

class NearestLabelled {
 public:
  // `rows` × width with labels (int64, 0 … classes − 1) of each.
  NearestLabelled(const at::Tensor& rows, const at::Tensor& labels);

  struct Assignment {
    at::Tensor label;     // of the nearest row, int64
    at::Tensor distance;  // to it
  };
  [[nodiscard]] Assignment assign(const at::Tensor& states) const;

  [[nodiscard]] std::int64_t classes() const { return classes_; }
  [[nodiscard]] std::int64_t rows() const { return rows_.size(0); }
  // Each row assigned by all others: the share whose class is right, and the mean distance.
  struct LeaveOneOut {
    double accuracy = 0, mean_distance = 0;
  };
  [[nodiscard]] LeaveOneOut leave_one_out() const;
  // The other way round: mean distance of the rows to the nearest state. Large where states leave out a part of the
  // data, however near to data each of them is.
  [[nodiscard]] double distance_to_nearest_of(const at::Tensor& states) const;
  // The same of all other rows to the first `count`, for comparison.
  [[nodiscard]] double distance_to_first(std::int64_t count) const;

 private:
  [[nodiscard]] at::Tensor squared_distances(const at::Tensor& states) const;

  at::Tensor rows_, squares_, labels_;
  std::int64_t classes_;
};

struct ModeJumps {
  std::int64_t chains = 0, steps = 0;  // steps between states: one less than states of a chain
  std::int64_t jumps = 0;              // neighbouring states of one chain in different classes
  at::Tensor histogram = {};           // states in each class, int64
  double visited_per_chain = 0;        // mean over chains: classes seen / all classes

  [[nodiscard]] std::int64_t visited() const;  // classes that any chain has seen
  // Per chain and hundred steps.
  [[nodiscard]] double per_hundred() const;
  // What independent states with the same histogram would have per hundred steps: 100 (1 − Σ p²).
  [[nodiscard]] double per_hundred_if_independent() const;
};

// `modes`: chains × states, int64, 0 … classes − 1.
[[nodiscard]] ModeJumps count_jumps(const at::Tensor& modes, std::int64_t classes);

}  // namespace harmonium
