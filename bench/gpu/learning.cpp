#include <chrono>
#include <cmath>

#include "bench/gpu/gpu_bench.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/training/make_training.h"

namespace harmonium::bench {

namespace {

Training training_on_device(const GpuSubject& subject, const std::string& optimizer, const Learning& learning) {
  BoltzmannMachine machine = make_rbm("bernoulli:784", "bernoulli:500");
  initialize(machine, Key(learning.seed), 0.05, {{subject.train.column_means().to(at::kFloat)}});
  machine = machine.to(gpu);
  auto metric = make_metric(optimizer, machine.topology(), machine.parameters(), learning.metric);
  return make_training(std::move(machine),
                       BatchStream(subject.train,
                                   {.batch = 2000,
                                    .binarization = learning.grays ? Binarization::none : Binarization::stochastic,
                                    .shrink = learning.grays ? 0.0005 : 0},
                                   Key(learning.seed).fold_in(1), gpu),
                       make_negative_phase("pcd", {.sweeps = 1, .particles = 2000}), std::move(metric),
                       {.rate_bias = learning.rate_bias,
                        .rate_weights = learning.rate_weights,
                        .schedule = parse_schedule(learning.schedule),
                        .weight_decay = learning.weight_decay},
                       {.updates = learning.updates, .averaging = learning.averaging, .seed = learning.seed});
}

void advance(Training& training, std::int64_t updates) {
  for (std::int64_t i = 0; i < updates; ++i) training.step();
  training.wait();
}

}  // namespace

GpuLines gpu_updates(const GpuSubject& subject) {
  GpuLines lines;
  const auto time = [&](const std::string& what, const std::string& optimizer, Learning learning) {
    learning.updates = 1'000'000;
    Training training = training_on_device(subject, optimizer, learning);
    advance(training, 200);
    const double seconds = device_median([&] { advance(training, 1000); }, 5) / 1000;
    require(std::isfinite(training.gradient_norm()) && training.gradient_norm() > 0, "{}: updates do nothing", what);
    lines.push_back({what, seconds * 1e6, "µs"});
    // So few that the device's queue does not fill up.
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 90; ++i) training.step();
    const double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 90;
    training.wait();
    lines.push_back({"… of the host's time", host * 1e6, "µs"});
  };
  constexpr std::int64_t never = 1'000'000'000;
  time("fang update, batch and particles 2000", "fang", {});
  time("… of gray values", "fang", {.grays = true});
  time("… with statistics of the first update only", "fang",
       {.metric = {.statistics_every = never, .refit_every = never}});
  time("… with statistics as usual, but one fit", "fang", {.metric = {.refit_every = never}});
  time("centering update", "centering", {.rate_weights = 0.3});
  time("sgd update", "sgd", {.rate_weights = 0.1});
  return lines;
}

GpuLines gpu_learning(const GpuSubject& subject, const Learning& learning) {
  {
    Training warm = training_on_device(subject, "fang", learning);  // libraries are loaded, kernels too
    advance(warm, 101);
  }
  Training training = training_on_device(subject, "fang", learning);
  const auto start = std::chrono::steady_clock::now();
  advance(training, learning.updates);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  training.check();
  const BoltzmannMachine machine = averaged_machine(training);
  const at::Tensor test = binarize(subject.test.to_float(), Binarization::stochastic, Key(5)).to(gpu);
  const at::Tensor rates = subject.train.column_means().to(at::kFloat).to(gpu);
  const AnnealingPath path({machine.with_parameters(base_rate_parameters(machine, {{rates}})), "base rates"}, {machine},
                           linear_schedule(learning.betas));
  const auto ais_start = std::chrono::steady_clock::now();
  const AisResult log_z = ais(path, learning.chains, {.seed = 2});
  const double ais_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - ais_start).count();
  const double mean = log_unnormalized(machine, machine.observe({test})).mean().item<double>();
  const std::string what =
      format("{} updates ({}{})", learning.updates, learning.schedule, learning.grays ? ", gray values" : "");
  const at::Tensor train =
      binarize(subject.train.slice(0, std::min<std::int64_t>(10'000, subject.train.rows())).to_float(),
               Binarization::stochastic, Key(6))
          .to(gpu);
  const double train_mean = log_unnormalized(machine, machine.observe({train})).mean().item<double>();
  GpuLines lines = {{what + ": training", seconds, "s"},
                    {"… test log-likelihood, AIS", mean - log_z.log_z.value, "nats"},
                    {"… from", mean - log_z.log_z.high, "nats"},
                    {"… to", mean - log_z.log_z.low, "nats"},
                    {format("… of {} training images", train.size(0)), train_mean - log_z.log_z.value, "nats"},
                    {"… effective chains", log_z.log_z.effective_samples.value_or(0), ""},
                    {"… AIS took", ais_seconds, "s"}};
  if (learning.raise_rows > 0) {
    const AnnealingPath down({machine.with_parameters(base_rate_parameters(machine, {{rates}})), "base rates"},
                             {machine}, linear_schedule(learning.raise_betas));
    const State rows = machine.observe({test.narrow(0, 0, learning.raise_rows)});
    const double own = log_unnormalized(machine, rows).mean().item<double>();
    const RaiseResult bound = raise(down, rows, 8, {.seed = 3});
    lines.push_back({format("… RAISE of {} images", learning.raise_rows), bound.log_likelihood.value, "nats"});
    lines.push_back({"… AIS of the same", own - log_z.log_z.value, "nats"});
  }
  return lines;
}

GpuLines gpu_modes(const GpuSubject& subject) {
  GpuLines lines;
  const std::int64_t updates = 3000;
  const at::Tensor rates = subject.train.column_means().to(at::kFloat).to(gpu);
  const at::Tensor test = binarize(subject.test.to_float(), Binarization::stochastic, Key(5)).to(gpu);
  const auto log_z_of = [&](const BoltzmannMachine& machine, std::int64_t chains, std::int64_t betas,
                            std::uint64_t seed) {
    const Moments base = base_rate_parameters(machine, {{rates.to(machine.device())}});
    const AnnealingPath path({machine.with_parameters(base), "base rates"}, {machine}, linear_schedule(betas));
    return ais(path, chains, {.chains_at_once = chains, .seed = seed});
  };
  const auto judge = [&](const BoltzmannMachine& machine, Precision precision, std::uint64_t seed,
                         const std::string& what) {
    set_device_precision(precision);
    const AisResult log_z = log_z_of(machine, 5000, 20'000, seed);
    const double mean = log_unnormalized(machine, machine.observe({test})).mean().item<double>();
    lines.push_back({what + ": log Z", log_z.log_z.value, "nats"});
    lines.push_back({"… half its interval", (log_z.log_z.high - log_z.log_z.low) / 2, "nats"});
    lines.push_back({"… test log-likelihood", mean - log_z.log_z.value, "nats"});
  };
  std::vector<BoltzmannMachine> machines;
  for (const Precision learnt : {Precision::fast, Precision::exact}) {
    set_device_precision(learnt);
    Training training = training_on_device(subject, "fang", {.updates = updates});
    advance(training, updates);
    machines.push_back(averaged_machine(training));
  }
  for (const std::uint64_t seed : {2, 3}) {
    judge(machines[0], Precision::fast, seed, "learnt fast, judged fast");
    judge(machines[0], Precision::exact, seed, "learnt fast, judged in fp32");
  }
  judge(machines[1], Precision::fast, 2, "learnt in fp32, judged fast");
  set_device_precision(Precision::fast);
  const auto add_interval = [&](const std::string& what, const AisResult& log_z) {
    lines.push_back({what + ": log Z", log_z.log_z.value, "nats"});
    lines.push_back({"… from", log_z.log_z.low, "nats"});
    lines.push_back({"… to", log_z.log_z.high, "nats"});
  };
  add_interval("learnt fast, 5000 chains, 100 000 β", log_z_of(machines[0], 5000, 100'000, 4));
  add_interval("… on the CPU, 1000 chains, 10 000 β",
               log_z_of(machines[0].to(at::TensorOptions(at::kCPU)), 1000, 10'000, 4));
  // Moments of one machine by 20 000 chains, 200 sweeps from the data's rates, in both modes.
  std::vector<Moments> moments;
  for (const Precision walking : {Precision::fast, Precision::exact}) {
    set_device_precision(walking);
    State state = machines[0].independent_sample(Key(6), 20'000);
    gibbs(machines[0], state, Key(7), 200);
    moments.push_back(machines[0].moments(state));
  }
  set_device_precision(Precision::fast);
  for (const auto& [name, value] : moments[0].entries()) {
    const at::Tensor difference = (value - moments[1][name]).to(at::kDouble);
    // Of independent chains, two means differ by √(2 p (1 − p) / rows).
    const at::Tensor p = moments[1][name].to(at::kDouble).clamp(1e-3, 1 - 1e-3);
    const at::Tensor score = difference / (2 * p * (1 - p) / 20'000).sqrt();
    lines.push_back({name + ": mean square of differences in their errors", score.square().mean().item<double>(), ""});
  }
  return lines;
}

}  // namespace harmonium::bench
