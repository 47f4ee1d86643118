// A short name for the content of a data set, to tell whether it is still the same.
#pragma once

#include <string>

#include "harmonium/data/dataset.h"

namespace harmonium {

// 64 hexadecimal digits that stand for shape, type, scale, values and labels of all rows, wherever they live and
// whatever the data set is called. SHA-256 of pieces, so that all threads help; the digits do not depend on their
// number.
[[nodiscard]] std::string dataset_digest(const Dataset& data);

}  // namespace harmonium
