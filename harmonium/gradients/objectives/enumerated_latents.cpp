#include "harmonium/gradients/objectives/enumerated_latents.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

at::Tensor total(const std::vector<at::Tensor>& terms) { return at::stack(terms).sum(0); }

std::vector<at::Tensor> layers_of(const StudiedNet& net, const at::Tensor& states) {
  std::vector<at::Tensor> layers;
  for (std::int64_t first = 0; const std::int64_t width : net.latent) {
    layers.push_back(states.narrow(-1, first, width).contiguous());
    first += width;
  }
  return layers;
}

// The rows of a Jacobian, one backward pass for each number.
at::Tensor jacobian(const StudiedNet& net, const Moments& leaves, const at::Tensor& numbers, bool recognition) {
  std::vector<at::Tensor> rows;
  for (std::int64_t i = 0; i < numbers.size(0); ++i)
    rows.push_back(flat_gradient(net, leaves, numbers[i], recognition));
  return at::stack(rows);
}

}  // namespace

at::Tensor EnumeratedLatents::log_joint() const { return total(log_p); }
at::Tensor EnumeratedLatents::log_posterior() const { return total(log_q); }

Trace EnumeratedLatents::draw(const at::Tensor& numbers) const {
  const auto pick = [&](const at::Tensor& each) {
    return each.index_select(0, numbers.reshape({-1})).view(numbers.sizes()).detach().requires_grad_();
  };
  Trace trace;
  for (const at::Tensor& each : log_p) trace.log_p.push_back(pick(each));
  for (const at::Tensor& each : log_q) trace.log_q.push_back(pick(each));
  return trace;
}

at::Tensor EnumeratedLatents::given_layer(const at::Tensor& values, std::size_t layer) const {
  const at::Tensor q = log_posterior().exp();
  if (layer == 0) return (q * values).sum().expand_as(values);
  const at::Tensor& below = latents[layer - 1];
  const at::Tensor powers = at::pow(2, at::arange(below.size(1), at::kLong));
  const at::Tensor group = (below.to(at::kLong) * powers).sum(1);
  const at::Tensor mass = at::bincount(group, q), sum = at::bincount(group, q * values);
  return (sum / mass).index_select(0, group);
}

at::Tensor all_states(std::int64_t bits) {
  const at::Tensor numbers = at::arange(std::int64_t{1} << bits, at::kLong).unsqueeze(1);
  return at::bitwise_and(at::bitwise_right_shift(numbers, at::arange(bits, at::kLong).unsqueeze(0)), 1).to(at::kDouble);
}

Trace enumerated_trace(const StudiedNet& net, const Moments& leaves, const at::Tensor& row) {
  require(net.binary, "latent states can be enumerated where they are bits");
  return net.model->score(leaves, row.unsqueeze(0), layers_of(net, all_states(net.units()).unsqueeze(0)));
}

at::Tensor flat_gradient(const StudiedNet& net, const Moments& leaves, const at::Tensor& value, bool recognition) {
  for (const auto& [name, leaf] : leaves.entries())
    if (leaf.grad().defined()) at::Tensor(leaf).mutable_grad().reset();
  value.backward({}, /*retain_graph=*/true);
  std::vector<at::Tensor> parts;
  for (const auto& [name, leaf] : leaves.entries())
    if (net.recognizes(name) == recognition)
      parts.push_back((leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf)).reshape({-1}));
  return at::cat(parts).clone();
}

EnumeratedLatents enumerate_latents(const StudiedNet& net, const at::Tensor& row) {
  const c10::AutoGradMode with_gradient(true);
  const Moments leaves =
      net.parameters.map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
  const Trace trace = enumerated_trace(net, leaves, row);
  EnumeratedLatents result{
      .latents = layers_of(net, all_states(net.units())), .log_p = {}, .log_q = {}, .scores_p = {}, .scores_q = {}};
  result.scores_p = jacobian(net, leaves, total(trace.log_p)[0], false);
  std::vector<at::Tensor> scores;
  for (const at::Tensor& each : trace.log_q) scores.push_back(jacobian(net, leaves, each[0], true));
  result.scores_q = at::cat(scores);
  for (const at::Tensor& each : trace.log_p) result.log_p.push_back(each[0].detach());
  for (const at::Tensor& each : trace.log_q) result.log_q.push_back(each[0].detach());
  return result;
}

LatentTuples all_tuples(const EnumeratedLatents& row, std::int64_t draws) {
  const at::Tensor numbers = at::combinations(at::arange(row.states(), at::kLong), draws, /*with_replacement=*/true);
  at::Tensor log_weight = row.log_posterior().index_select(0, numbers.reshape({-1})).view(numbers.sizes()).sum(1);
  at::Tensor run = at::ones({numbers.size(0)}, at::kDouble);
  for (std::int64_t k = 1; k < draws; ++k) {
    const at::Tensor same = numbers.select(1, k).eq(numbers.select(1, k - 1));
    run = at::where(same, run + 1, at::ones_like(run));
    log_weight = log_weight - run.log();
  }
  return {.numbers = numbers, .weights = at::exp(log_weight + std::lgamma(static_cast<double>(draws) + 1))};
}

LatentTuples drawn_tuples(const EnumeratedLatents& row, std::int64_t draws, std::int64_t count, const Key& key) {
  const at::Tensor cumulative = row.log_posterior().exp().cumsum(0);
  const at::Tensor numbers =
      at::searchsorted(cumulative, uniform(key, {count, draws}, at::kDouble), false, true).clamp_max(row.states() - 1);
  return {
      .numbers = numbers, .weights = at::full({count}, 1.0 / static_cast<double>(count), at::kDouble), .drawn = count};
}

}  // namespace harmonium
