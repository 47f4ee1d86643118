#include "harmonium/models/free_energy/spike_slab_states.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/checked_cholesky.h"
#include "harmonium/models/free_energy/state_bits.h"

namespace harmonium {

double SpikeSlabStates::work(std::int64_t inputs, std::int64_t hidden) {
  if (hidden > most_state_bits) return std::numeric_limits<double>::infinity();
  const auto D = static_cast<double>(inputs), N = static_cast<double>(hidden);
  return std::exp2(hidden) * (N * D * D + D * D * D / 3);
}

SpikeSlabStates::SpikeSlabStates(const Moments& theta)
    : theta_(theta.to(at::TensorOptions(at::kCPU).dtype(at::kDouble))) {
  const std::int64_t D = theta_["visible.bias"].size(0), N = theta_["hidden.bias"].size(0);
  require(N <= most_state_bits, "2^{} states of spikes are too many to enumerate; at most 2^{}", N, most_state_bits);
  const std::int64_t all = std::int64_t{1} << N,
                     at_once = std::max<std::int64_t>(1, state_numbers_at_once / (D * std::max(D, N)));
  const double gaussian = 0.5 * static_cast<double>(D) * std::log(2 * std::numbers::pi);
  log_weights_ = at::empty({all}, at::kDouble);
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t count = std::min(at_once, all - first);
    const at::Tensor states = state_bits(at::arange(first, first + count, at::kLong), N), L = factors(states);
    const at::Tensor y = at::linalg_solve_triangular(L, linear_parts(states).unsqueeze(2), /*upper=*/false).squeeze(2);
    log_weights_.narrow(0, first, count)
        .copy_(states.matmul(theta_["hidden.bias"]) + gaussian - L.diagonal(0, 1, 2).log().sum(1) +
               0.5 * y.square().sum(1));
  }
}

at::Tensor SpikeSlabStates::factors(const at::Tensor& states) const {
  const at::Tensor& W = theta_["visible_hidden.weights"];
  at::Tensor diagonal = theta_["visible.log_precision"].exp().expand({states.size(0), W.size(0)});
  if (theta_.contains("penalty.weights")) diagonal = diagonal + states.matmul(theta_["penalty.weights"].t());
  const at::Tensor taken = W.unsqueeze(0) * (states * at::exp(-theta_["hidden.log_precision"])).unsqueeze(1);
  return checked_cholesky(at::diag_embed(diagonal) - taken.matmul(W.t()), "precisions of the states of spikes");
}

at::Tensor SpikeSlabStates::linear_parts(const at::Tensor& states) const {
  return theta_["visible.bias"] + (states * theta_["hidden.mean"]).matmul(theta_["visible_hidden.weights"].t());
}

double SpikeSlabStates::log_z() const { return at::logsumexp(log_weights_, 0).item<double>(); }

at::Tensor SpikeSlabStates::draw(const Key& key, std::int64_t rows) const {
  const std::int64_t D = theta_["visible.bias"].size(0), N = theta_["hidden.bias"].size(0);
  const at::Tensor states = state_bits(draw_states(log_weights_, key.fold_in(0), rows), N);
  const at::Tensor noise = normal(key.fold_in(1), {rows, D}, at::kDouble), found = at::empty({rows, D}, at::kDouble);
  const std::int64_t at_once = std::max<std::int64_t>(1, state_numbers_at_once / (D * std::max(D, N)));
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows - first);
    const at::Tensor own = states.narrow(0, first, count);
    found.narrow(0, first, count).copy_(gaussian_draws(factors(own), linear_parts(own), noise.narrow(0, first, count)));
  }
  return found;
}

}  // namespace harmonium
