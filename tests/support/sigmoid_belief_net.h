// Small float64 sigmoid belief nets, all of whose latent states can be written down.
#pragma once

#include <ATen/ATen.h>

#include "harmonium/kernels/random.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"
#include "tests/support/vae.h"

namespace harmonium::support {

// Every parameter ~ N(0, 1).
inline SigmoidBeliefNet random_sbn(SigmoidBeliefNetStructure structure, std::uint64_t seed = 1) {
  SigmoidBeliefNet net(std::move(structure), at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(normal(Key(seed).fold_in(i++), value.sizes(), at::kDouble));
  return net;
}
inline SigmoidBeliefNet small_sbn(std::vector<std::int64_t> latent, std::vector<std::int64_t> between = {},
                                  std::uint64_t seed = 1, std::int64_t pixels = 3, std::int64_t prior_hidden = 0) {
  return random_sbn({.visible = format("bernoulli:{}", pixels),
                     .latent = std::move(latent),
                     .between = std::move(between),
                     .prior_hidden = prior_hidden},
                    seed);
}
// Layers of p, of q, and the prior.
inline SigmoidBeliefNet small_sbn_of(LayerKind generation, LayerKind recognition, LayerKind prior,
                                     std::vector<std::int64_t> latent, std::vector<std::int64_t> between = {},
                                     std::uint64_t seed = 1) {
  return random_sbn({.visible = "bernoulli:3",
                     .latent = std::move(latent),
                     .between = std::move(between),
                     .generation = generation,
                     .recognition = recognition,
                     .prior = prior,
                     .nade_hidden = 3},
                    seed);
}

// All K-tuples of joint latent states: for every layer, tuples × K × width.
inline std::vector<at::Tensor> all_tuples(const SigmoidBeliefNet& net, std::int64_t draws) {
  std::int64_t units = 0;
  for (const std::int64_t width : net.structure().latent) units += width;
  const at::Tensor states = all_rows(units);
  const std::int64_t count = states.size(0);
  std::int64_t tuples = 1;
  for (std::int64_t k = 0; k < draws; ++k) tuples *= count;
  at::Tensor number = at::arange(tuples, at::kLong);
  std::vector<at::Tensor> chosen;
  for (std::int64_t k = 0; k < draws; ++k) {
    chosen.push_back(states.index_select(0, number.remainder(count)));
    number = at::floor_divide(number, count);
  }
  const at::Tensor all = at::stack(chosen, 1);
  std::vector<at::Tensor> layers;
  for (std::int64_t first = 0; const std::int64_t width : net.structure().latent) {
    layers.push_back(all.narrow(2, first, width).contiguous());
    first += width;
  }
  return layers;
}

// One row, as many times as there are tuples, scored with all of them.
inline Trace enumerated(const SigmoidBeliefNet& net, const Moments& parameters, const at::Tensor& row,
                        const std::vector<at::Tensor>& tuples) {
  return net.score(parameters, row.unsqueeze(0).expand({tuples.front().size(0), row.size(0)}), tuples);
}

// Three latents, two hidden units of the prior over them, four pixels.
inline SigmoidBeliefNet small_sbn_with_rbm(std::uint64_t seed = 1) { return small_sbn({3}, {}, seed, 4, 2); }

// log Z of an RBM that is a net's prior, by the sum over all states of both layers, written out; differentiable.
inline at::Tensor enumerated_prior_log_z(const SigmoidBeliefNet& net, const Moments& parameters) {
  const at::Tensor h = all_rows(net.structure().latent.back()), g = all_rows(net.structure().prior_hidden);
  const at::Tensor potential = h.matmul(parameters["prior.visible.bias"]).unsqueeze(1) +
                               g.matmul(parameters["prior.hidden.bias"]).unsqueeze(0) +
                               h.matmul(parameters["prior.visible_hidden.weights"]).matmul(g.t());
  return at::logsumexp(potential.reshape({-1}), 0);
}

// log p(x) by the sum over all latent states, rows; log p(x) + log Z where the prior is an RBM.
inline at::Tensor enumerated_log_p(const SigmoidBeliefNet& net, const Moments& parameters, const at::Tensor& rows) {
  const std::vector<at::Tensor> states = all_tuples(net, 1);
  std::vector<at::Tensor> each;
  for (std::int64_t row = 0; row < rows.size(0); ++row) {
    const Trace trace = enumerated(net, parameters, rows[row], states);
    at::Tensor joint = trace.log_p.front();
    for (std::size_t l = 1; l < trace.log_p.size(); ++l) joint = joint + trace.log_p[l];
    each.push_back(at::logsumexp(joint.squeeze(1), 0));
  }
  return at::stack(each);
}

// log p(x), exact in float64 whatever the net's precision; less log Z where the prior is an RBM.
inline at::Tensor exact_log_p(const SigmoidBeliefNet& net, const at::Tensor& rows) {
  const SigmoidBeliefNet precise = net.to(at::TensorOptions().dtype(at::kDouble));
  const at::Tensor joint = enumerated_log_p(precise, precise.parameters(), rows.to(at::kDouble));
  return net.rbm_prior() ? joint - enumerated_prior_log_z(precise, precise.parameters()) : joint;
}

}  // namespace harmonium::support
