// What the values of a table mean, and what they are divided by (the rule stands in make_dataset.h).
#pragma once

#include <string>

#include "harmonium/data/dataset.h"

namespace harmonium {

// Looks at data.values (bytes or float32), turns floats that are whole numbers of 0 … 255 into bytes, counts missing
// values and sets scale, whole_numbers and remarks. `scale` as in Reading; `gray_bytes`: the type says that 255 is
// white. Infinities and columns without any value are errors.
void set_range(Dataset& data, const std::string& where, const std::string& scale, bool gray_bytes);

}  // namespace harmonium
