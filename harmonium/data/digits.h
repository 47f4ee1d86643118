// The embedded data: 1797 handwritten digits of 8×8 pixels with 17 levels of gray, so that the tool can be tried with
// no file and no network.
//
// E. Alpaydin, C. Kaynak (1998), "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository,
// doi 10.24432/C50P49 (its test part), CC BY 4.0; see data/digits/ATTRIBUTION.md.
#pragma once

#include "harmonium/data/dataset.h"
#include "harmonium/data/split.h"

namespace harmonium {

// All digits in the original order: uint8 0 … 16, scale 1/16, labels 0 … 9.
[[nodiscard]] Dataset digits();

// The split every published number of this project uses: 1297 train, 200 valid and 300 test rows, in the order of
// permutation(Key(1998), 1797). The original order is not random
// (neighbours often share a writer), hence the shuffle.
[[nodiscard]] Split digits_split();

}  // namespace harmonium
