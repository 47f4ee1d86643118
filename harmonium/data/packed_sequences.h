// Sequences of different lengths side by side without padding: step t holds frame t of every sequence that has one.
//
// Sequences stand longest first, so that those with a frame at step t are the first alive[t] of all, and a state of
// them all is cut down, never masked, when sequences end.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "harmonium/data/dataset.h"

namespace harmonium {

struct PackedSequences {
  at::Tensor rows;                    // int64: the data's row of every frame, step after step
  std::vector<std::int64_t> alive;    // of each step: sequences that have a frame; never rises, sums to rows.size(0)
  std::vector<std::int64_t> order;    // the case of the data that stands at each place
  std::vector<std::int64_t> lengths;  // of the sequence at each place
};

// Of the given cases (int64 numbers) of the data. Independent rows are sequences of one frame. Those of one length stay
// in the given order.
[[nodiscard]] PackedSequences pack(const Dataset& data, const at::Tensor& cases);

}  // namespace harmonium
