// Small spike-and-slab sparse codings with random parameters, and what tests of them share.
#pragma once

#include <ATen/ATen.h>

#include "harmonium/kernels/random.h"
#include "harmonium/models/directed/s3c.h"

namespace harmonium::support {

// float64; columns of W ~ N(0, scale²), deviations of the noise around 0.6.
inline S3c small_s3c(std::int64_t inputs, std::int64_t hidden, std::uint64_t seed = 1, double scale = 0.8) {
  S3c model({.inputs = inputs, .hidden = hidden}, at::kDouble);
  const Key key = Key(seed).fold_in(0x53C);
  const std::vector<std::pair<double, double>> shift_and_spread = {{0, 1},    {1, 0.3}, {0, scale},
                                                                   {-0.3, 1}, {0, 1},   {0.2, 0.4}};
  for (std::size_t i = 0; i < shift_and_spread.size(); ++i) {
    const auto& [name, value] = model.parameters().entries()[i];
    const auto [shift, spread] = shift_and_spread[i];
    at::Tensor(value).copy_(shift + spread * normal(key.fold_in(i), value.sizes(), at::kDouble));
  }
  return model;
}

// All states of so many spikes, a row each.
inline at::Tensor all_spikes(std::int64_t hidden) {
  const at::Tensor numbers = at::arange(std::int64_t{1} << hidden).unsqueeze(1);
  return numbers.bitwise_right_shift(at::arange(hidden)).bitwise_and(1).to(at::kDouble);
}

// Any posterior at all, as far as it is one.
inline S3cPosterior random_posterior(std::int64_t rows, std::int64_t hidden, std::uint64_t seed) {
  return {.spikes = uniform(Key(seed).fold_in(0), {rows, hidden}, at::kDouble),
          .slabs = normal(Key(seed).fold_in(1), {rows, hidden}, at::kDouble),
          .precision = 1 + uniform(Key(seed).fold_in(2), {hidden}, at::kDouble)};
}

}  // namespace harmonium::support
