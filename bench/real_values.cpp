// Models of real values beside the matrix products that they cannot do without: an update of a spike-and-slab RBM
// beside the five dense products of a PCD-1 update, a trajectory of HMC beside the products of its gradients. What is
// above the products are passes over elements, random numbers and steps of the parameters.
#include <ATen/ATen.h>

#include <cmath>

#include "bench/bench.h"
#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/models/free_energy/covariance_model.h"
#include "harmonium/samplers/hmc.h"
#include "harmonium/training/make_training.h"

namespace harmonium::bench {

namespace {

bool close_to(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>() <= 1e-4 * (1 + b.abs().max().item<double>());
}

Lines spike_slab_updates(const Options& options) {
  const std::int64_t D = 784, N = options.smoke ? 60 : 500, batch = 100;
  const Dataset rows{.name = "noise", .values = normal(Key(1), {1000, D})};
  BoltzmannMachine machine = make_rbm(format("gaussian:{}", D), format("spike_slab:{}", N));
  initialize(machine, Key(2), 0.01, {{at::zeros({D}), at::full({D}, -0.5)}});
  auto metric = make_metric("sgd", machine.topology(), machine.parameters());
  Training training = make_training(machine, BatchStream(rows, {.batch = batch}, Key(3)),
                                    make_negative_phase("pcd", {.sweeps = 1, .particles = batch}), std::move(metric),
                                    {.rate_bias = 1e-4, .rate_weights = 1e-4}, {.updates = 1'000'000'000});
  const int block = options.smoke ? 2 : 10;
  const auto advance = [&] {
    for (int i = 0; i < block; ++i) training.step();
  };
  // Five products of a binary RBM's update: up, statistics; down, up, statistics of the chains.
  const at::Tensor W = machine.parameters()["visible_hidden.weights"].clone(), v = rows.values.narrow(0, 0, batch),
                   h = uniform(Key(4), {batch, N}).gt(0.5).to(at::kFloat);
  at::Tensor up = at::empty({batch, N}), down = at::empty({batch, D}), statistics = at::zeros({D, N});
  const auto products = [&] {
    for (int i = 0; i < block; ++i) {
      at::mm_out(up, v, W);
      at::mm_out(statistics, v.t(), h);
      at::mm_out(down, h, W.t());
      at::mm_out(up, v, W);
      statistics.addmm_(v.t(), h, 1, -1);
    }
  };
  products();
  validate(close_to(up, v.matmul(W)) && close_to(down, h.matmul(W.t())) && statistics.abs().max().item<double>() < 1e-2,
           "the products of an update");
  const State data = machine.observe({v});
  const at::Tensor field = machine.field(1, data);
  validate(close_to(field - machine.layer_parameters(1)[0], up), "the field of the hidden units");
  advance();
  training.check();
  validate(training.gradient_norm() > 0, "an update that does something");
  Options more = options;
  more.turns = 15;
  const std::vector<double> times = medians(more, {advance, products});
  return {{format("ssRBM updates, gaussian:{} × spike_slab:{}, PCD-1, batch {}", D, N, batch), block / times[0], "/s"},
          {"… cost in the five dense products of a binary RBM's update", times[0] / times[1], "×", "≤ 1.5"}};
}

Lines hmc_trajectories(const Options& options, const char* name, const CovarianceStructure& structure) {
  const std::int64_t chains = 128, leapfrog = options.smoke ? 2 : 20;
  const CovarianceModel model(structure);
  const Moments theta = model.initial_parameters(Key(1));
  const at::Tensor start = model.base_draws(theta, Key(2), chains);
  const HmcTarget target = hmc_target(model, theta);
  at::Tensor v = start.clone();
  std::uint64_t number = 0;
  double accepted = 0;
  const auto trajectory = [&] { accepted += hmc(target, v, 0.02, leapfrog, Key(3).fold_in(number++)).accepted; };

  const at::Tensor &C = theta["filters.weights"], W = structure.hidden > 0 ? theta["visible_hidden.weights"] : C;
  at::Tensor u = at::empty({chains, structure.filters}), x = at::empty({chains, W.size(1)}),
             back = at::empty({chains, structure.inputs});
  const auto one_gradient = [&] {
    at::mm_out(u, start, C);
    at::mm_out(back, u, C.t());
    if (structure.hidden == 0) return;
    at::mm_out(x, start, W);
    back.addmm_(x, W.t());
  };
  // L + 1 gradients and two log-densities, which take the products of one.
  const auto products = [&] {
    for (std::int64_t i = 0; i < leapfrog + 2; ++i) one_gradient();
  };
  // The score by these products and what stands between them.
  const at::Tensor q = structure.units == CovarianceUnits::switches
                           ? at::sigmoid(theta["covariance.bias"] - 0.5 * start.matmul(C).square())
                           : theta["covariance.gamma"] / (1 + 0.5 * start.matmul(C).square());
  at::Tensor score = -(q * start.matmul(C)).matmul(C.t());
  if (structure.contained) score += theta["visible.bias"] - start;
  if (structure.hidden > 0) score += at::sigmoid(theta["hidden.bias"] + start.matmul(W)).matmul(W.t());
  validate(close_to(model.score(start, theta), score), "the score of the model");
  products();
  at::Tensor plain = start.matmul(C).matmul(C.t());
  if (structure.hidden > 0) plain += start.matmul(W).matmul(W.t());
  validate(close_to(back, plain), "the products of a gradient");
  trajectory();
  validate(accepted > 0.5, "trajectories that are accepted");
  Options more = options;
  more.turns = 31;
  const std::vector<double> times = medians(more, {trajectory, products});
  return {{format("HMC of {}, {} columns, {} filters, {} mean units, {} chains × {} steps", name, structure.inputs,
                  structure.filters, structure.hidden, chains, leapfrog),
           1 / times[0], "/s"},
          {"… speed in that of its matrix products", times[1] / times[0], "×", "≥ 0.7"}};
}

}  // namespace

Lines real_values(const Options& options) {
  Lines lines = spike_slab_updates(options);
  const auto add = [&](const Lines& more) { lines.insert(lines.end(), more.begin(), more.end()); };
  const std::int64_t D = options.smoke ? 16 : 192, F = options.smoke ? 20 : 256, N = options.smoke ? 8 : 100;
  add(hmc_trajectories(options, "mcrbm", {.inputs = D, .hidden = N, .filters = F, .spread = 1.0 / 3}));
  add(hmc_trajectories(options, "pot",
                       {.inputs = D,
                        .hidden = 0,
                        .filters = F,
                        .units = CovarianceUnits::gammas,
                        .contained = false,
                        .equal_norms = false}));
  return lines;
}

}  // namespace harmonium::bench
