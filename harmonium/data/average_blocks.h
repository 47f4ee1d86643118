// Smaller pictures: every block of factor × factor pixels becomes their mean.
#pragma once

#include "harmonium/data/dataset.h"

namespace harmonium {

// Gray values as float32 of scale 1, labels kept. Fails where the rows are not pictures, or do not divide into blocks.
[[nodiscard]] Dataset average_blocks(const Dataset& data, std::int64_t factor);

}  // namespace harmonium
