// Making gray values binary, reproducibly.
//
//   threshold:   v = 1 where gray ≥ 1/2
//   stochastic:  v ~ Bernoulli(gray), a pure function of (key, position), so the same seed gives the same bits on any
//                number of threads
//
// Stochastic bits carry the entropy of the pixels on top of that of the picture, so log-likelihoods under the two
// differ by many nats (Salakhutdinov & Murray, "On the quantitative analysis of deep belief networks", ICML 2008, use
// fixed stochastic bits).
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

// Values in [0, 1] to values in {0, 1} of the same shape and floating type; `none` returns `gray` itself. Use a key of
// its own for every call: the fresh bits of a batch are binarize(batch, stochastic, key.fold_in(update)).
[[nodiscard]] at::Tensor binarize(const at::Tensor& gray, Binarization binarization, const Key& key);

// The whole table as uint8 bits with scale 1, remembering how they were made. `none` returns the data unchanged, and
// so does any choice for data that were binarized before; gray values outside [0, 1] are refused, naming the first. Row
// r depends on the seed, r and the row's gray values only, so binarizing the first n rows gives the first n binarized
// rows.
[[nodiscard]] Dataset binarize(const Dataset& data, Binarization binarization, std::uint64_t seed);

}  // namespace harmonium
