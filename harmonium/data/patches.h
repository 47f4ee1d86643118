// Small windows cut out of pictures, at every place: data for models of a few units.
#pragma once

#include "harmonium/data/dataset.h"

namespace harmonium {

// All size × size windows of every picture, row by row, binarized at one half: bits, without labels.
[[nodiscard]] Dataset binary_patches(const Dataset& pictures, std::int64_t size);

}  // namespace harmonium
