// The check that an autoregressive net is one: what it says of a variable must not depend on that variable nor on any
// that comes later. A net that leaks a single pixel has wonderful likelihoods, and they are wrong.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/distributions/distribution.h"

namespace harmonium {

// Looks at `positions` variables of each of five rows, chosen by the key: changes the variable and all later ones, and
// fails where an output for the variable changes by a single bit. `raw` gives outputs (rows × raw columns) for a table
// of rows; `like` says of what type and where they are. Both calls have rows of the same number in the same places, so
// that products round alike.
void require_causal(const Distribution& visible, const std::vector<std::int64_t>& order,
                    const std::function<at::Tensor(const at::Tensor& rows)>& raw, const at::TensorOptions& like,
                    const Key& key, std::int64_t positions = 20);

}  // namespace harmonium
