// The data of a run, once they are open.
#pragma once

#include <cstdint>

#include "harmonium/data/dataset.h"

namespace harmonium {

struct RunData {
  Dataset train, valid;  // valid may have no rows
  Binarization binarization = Binarization::none;
  std::int64_t classes = 0;  // of the labels; 0: as many as the training data have
};

// Streams of a run's seed, by purpose: the same numbers for every family.
namespace run_streams {
enum : std::uint64_t {
  initial = 1,
  batches = 2,
  updates = 3,
  monitor = 4,
  pretraining = 5,
  posterior = 6,
  chains = 7,
  noise = 8
};
}

}  // namespace harmonium
