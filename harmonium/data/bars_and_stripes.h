// Bars and stripes: the smallest picture world with structure that no pair of pixels shows (MacKay, "Information
// Theory, Inference, and Learning Algorithms", 2003, ch. 43).
//
// An n×n picture is either bars (every column wholly on or off) or stripes (every row wholly on or off). All of black
// and all of white are both, so there are 2·2ⁿ − 2 distinct pictures; here each has the same probability (drawing an
// orientation first would make those two twice as likely). The entropy is therefore ln(2ⁿ⁺¹ − 2) nats, and no model can
// have a higher mean log-likelihood than minus that.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

struct BarsAndStripesOptions {
  std::int64_t side = 4;  // 1 … 16
};

// Every distinct picture once: stripes by increasing row code, then bars.
[[nodiscard]] Dataset bars_and_stripes(const BarsAndStripesOptions& options = {});
// Independent draws; row r depends on the key and r alone.
[[nodiscard]] Dataset bars_and_stripes(std::int64_t rows, const Key& key, const BarsAndStripesOptions& options = {});
// Nats.
[[nodiscard]] double bars_and_stripes_entropy(const BarsAndStripesOptions& options = {});

}  // namespace harmonium
