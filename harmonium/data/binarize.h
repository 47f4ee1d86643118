// Making gray values binary, or continuous, reproducibly.
//
//   threshold:   v = 1 where gray ≥ 1/2
//   stochastic:  v ~ Bernoulli(gray), a pure function of (key, position), so the same seed gives the same bits on any
//                number of threads
//   dequantized: v = (k + u)·scale, u ~ U[0, 1), of whole numbers k: what was rounded away is made up, so that a
//   density
//                has no cause to pile up on the steps. E log p(v) with one step as the unit is at most the mean
//                log-probability of the k (Jensen; Theis, van den Oord & Bethge 2016)
//
// Stochastic bits carry the entropy of the pixels on top of that of the picture, so log-likelihoods under the two
// differ by many nats (Salakhutdinov & Murray, "On the quantitative analysis of deep belief networks", ICML 2008, use
// fixed stochastic bits).
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

// Values in [0, 1] to values in {0, 1} of the same shape and floating type; `none` returns `gray` itself. Use a key of
// its own for every call: the fresh bits of a batch are binarize(batch, stochastic, key.fold_in(update)). `step` is
// that of the data (Dataset::step); only dequantized values need it.
[[nodiscard]] at::Tensor binarize(const at::Tensor& gray, Binarization binarization, const Key& key,
                                  const at::Tensor& step = {});

// The whole table as uint8 bits (dequantized: float32) with scale 1, remembering how they were made. `none` returns the
// data unchanged, and so does any choice for data that were binarized before; gray values outside [0, 1] are refused,
// naming the first, and dequantizing what are not whole numbers (as they were stored before they were moved). Row
// r depends on the seed, r and the row's gray values only, so binarizing the first n rows gives the first n binarized
// rows.
[[nodiscard]] Dataset binarize(const Dataset& data, Binarization binarization, std::uint64_t seed);

// What means and variances are taken of: dequantized data with a draw of their noise, all others as they are (bits that
// are drawn anew have their gray value as mean).
[[nodiscard]] Dataset with_noise(const Dataset& data, Binarization binarization, const Key& key);

}  // namespace harmonium
