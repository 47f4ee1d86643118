#include <chrono>

#include "bench/gpu/gpu_bench.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/training/make_training.h"

namespace harmonium::bench {

namespace {

constexpr std::int64_t batch_rows = 1000;  // of a batch, and chains

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

GpuLines gpu_deep(const GpuSubject& subject, const DeepLearning& learning) {
  BoltzmannMachine fresh = make_chain({"bernoulli:784", "bernoulli:500", "bernoulli:1000"});
  const at::Tensor rates = subject.train.column_means().to(at::kFloat);
  initialize(fresh, Key(learning.seed), learning.initial_weights, {{rates}});
  fresh = fresh.to(gpu);
  auto metric = make_metric(learning.optimizer, fresh.topology(), fresh.parameters());
  Training training = make_training(
      std::move(fresh),
      BatchStream(subject.train, {.batch = batch_rows, .binarization = Binarization::stochastic},
                  Key(learning.seed).fold_in(1), gpu),
      make_negative_phase("pcd", {.sweeps = 1, .particles = batch_rows}), std::move(metric),
      {.rate_bias = learning.rate_bias, .rate_weights = learning.rate_weights, .schedule = parse_schedule("linear")},
      {.updates = learning.updates, .averaging = 1000, .seed = learning.seed});
  const auto start = std::chrono::steady_clock::now();
  while (!training.finished()) training.step();
  training.wait();
  const double seconds = seconds_since(start);
  const BoltzmannMachine machine = averaged_machine(training);
  GpuLines lines = {
      {format("784-500-1000, {}, {} updates: training", learning.optimizer, learning.updates), seconds, "s"}};
  for (const EdgeInfo& edge : machine.topology().edges)
    lines.push_back({"… deviation of " + edge.weights, machine.parameters()[edge.weights].std().item<double>(), ""});

  const at::Tensor test = binarize(subject.test.to_float(), Binarization::stochastic, Key(5)).to(gpu);
  const LogMarginal bound = log_marginal(machine, machine.observe({test}), {.mean_field = {.most_sweeps = 200}});
  const double mean = bound.log_f.mean().item<double>();
  const AnnealingPath path({machine.with_parameters(base_rate_parameters(machine, {{rates.to(gpu)}})), "base rates"},
                           {machine}, linear_schedule(learning.betas));
  const AisResult up = ais(path, learning.chains, {.chains_at_once = learning.chains, .seed = 2});
  // Draws of the model for the way down: the training's own chains, walked on.
  State samples = chains_of(training);
  gibbs(machine, samples, Key(7), learning.burn_in);
  for (at::Tensor& layer : samples.layers) layer = layer.narrow(0, 0, std::min(learning.chains, batch_rows));
  const AisResult down = reverse_ais(path, samples, {.chains_at_once = learning.chains, .seed = 3});
  lines.push_back({"… test bound (mean field − AIS)", mean - up.log_z.value, "nats"});
  lines.push_back({"… from", mean - up.log_z.high, "nats"});
  lines.push_back({"… to", mean - up.log_z.low, "nats"});
  lines.push_back({"… test bound by reverse AIS", mean - down.log_z.value, "nats"});
  lines.push_back({"… from", mean - down.log_z.high, "nats"});
  lines.push_back({"… to", mean - down.log_z.low, "nats"});
  lines.push_back(
      {"… sweeps of mean field", static_cast<double>(bound.sweeps), bound.converged ? "" : "not converged"});
  return lines;
}

GpuLines gpu_deep_update(const GpuSubject& subject) {
  constexpr std::int64_t rows = 2000;
  BoltzmannMachine machine = make_chain({"bernoulli:784", "bernoulli:500", "bernoulli:500"});
  initialize(machine, Key(1), 0.02, {{subject.train.column_means().to(at::kFloat)}});
  machine = machine.to(gpu);
  auto metric = make_metric("fang", machine.topology(), machine.parameters());
  Training training =
      make_training(std::move(machine),
                    BatchStream(subject.train, {.batch = rows, .binarization = Binarization::stochastic}, Key(2), gpu),
                    make_negative_phase("pcd", {.sweeps = 3, .particles = rows}), std::move(metric),
                    {.rate_bias = 0.06, .rate_weights = 0.003, .schedule = Schedule::linear},
                    {.updates = 1'000'000, .averaging = 1000}, {}, {.by = DataInference::By::sampling});
  const auto advance = [&](int updates) {
    for (int i = 0; i < updates; ++i) training.step();
  };
  advance(200);
  const double seconds = device_median([&] { advance(500); }, 5) / 500;
  training.check();
  const auto start = std::chrono::steady_clock::now();
  constexpr int unwaited = 90;  // so few that the device's queue does not fill up
  advance(unwaited);
  const double host = seconds_since(start) / unwaited;
  training.wait();
  return {{"784-500-500, batch and chains 2000, sampled posterior: update", seconds * 1e6, "µs"},
          {"… of the host's time", host * 1e6, "µs"}};
}

}  // namespace harmonium::bench
