// A few labels, asked where they say most: one for each group that was found without labels (Tieleman 2014, chapter 2).
//
// Given are log-weights x_c of C groups for every row, up to a constant of each row. A row is in the group with the
// largest (of equal ones the first), and its margin is
//
//   x_c − log Σ_{j≠c} e^{x_j}
//
// in float64: probabilities of thousands of rows round to 1, margins tell them apart. Labels are asked in rounds: every
// group that has rows is asked about the row with its largest margin (of equal ones the first), in the next round about
// the second, and so on; within a round the largest group comes first (of equal ones the first). No group is asked more
// than ⌈labels / C⌉ times, so groups without rows cost nothing, and with C labels or fewer each is asked once at most.
//
// A group has the label that most of its answers give, of equally frequent ones that of the surer row. A row in a group
// without a label takes that of the likeliest group which has one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace harmonium {

struct AskedRow {
  std::int64_t row = 0, group = 0;
  double margin = 0;
};

// Groups of rows, int64.
[[nodiscard]] at::Tensor groups_of(const at::Tensor& log_weights);
// Of every row, float64; infinite where there is one group only.
[[nodiscard]] at::Tensor margins_of(const at::Tensor& log_weights);
// In the order in which they are asked; at most `labels` of them.
[[nodiscard]] std::vector<AskedRow> rows_to_ask(const at::Tensor& log_weights, std::int64_t labels);

// The label of every group; −1: none. `answers` are those to `asked`, in order.
[[nodiscard]] std::vector<std::int64_t> labels_of_groups(const std::vector<AskedRow>& asked,
                                                         const std::vector<std::int64_t>& answers, std::int64_t groups);
// Labels of rows, int64. Some group must have one.
[[nodiscard]] at::Tensor labels_by_groups(const at::Tensor& log_weights, const std::vector<std::int64_t>& of_groups);
// The most frequent label of each group, the least of equally frequent ones; −1 for groups without rows.
[[nodiscard]] std::vector<std::int64_t> majority_labels(const at::Tensor& groups, const at::Tensor& labels,
                                                        std::int64_t count);

}  // namespace harmonium
