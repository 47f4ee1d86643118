#include "bench/gpu/gpu_bench.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/builders.h"

namespace harmonium::bench {

namespace {

struct Machine {
  at::Tensor weights, visible, hidden;
  [[nodiscard]] RbmParameters parameters() const { return {weights, visible, hidden}; }
};

Machine random_machine() {
  const auto on_device = [](const at::Tensor& x) { return x.to(gpu); };
  return {on_device(normal(Key(1), {784, 500}) * 0.1), on_device(normal(Key(2), {784}) - 1),
          on_device(normal(Key(3), {500}))};
}

std::vector<StepKeys> keys_of(std::int64_t sweeps) {
  std::vector<StepKeys> keys;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    const Key key = Key(7).fold_in(static_cast<std::uint64_t>(sweep));
    keys.push_back({key.fold_in(0).bits(), key.fold_in(1).bits()});
  }
  return keys;
}

// Every draw but those where the uniform is within the rounding of the weights of its probability.
void validate_draws(const Key& key, const at::Tensor& field, const at::Tensor& drawn, const std::string& what) {
  const at::Tensor u = uniform(key, field.sizes(), at::kFloat).to(gpu), p = logistic(field);
  const at::Tensor wrong = drawn.ne(u.lt(p).to(at::kFloat)).logical_and((u - p).abs().gt(2e-3));
  require(wrong.sum().item<std::int64_t>() == 0, "{}: draws differ from their definition", what);
}

}  // namespace

GpuLines gpu_sweeps() {
  GpuLines lines;
  const Machine machine = random_machine();
  for (const std::int64_t rows : {100, 2000, 5000, 20'000}) {
    RbmChains chains(machine.weights, rows);
    chains.arrange(machine.weights);
    const at::Tensor before = uniform(Key(9), {rows, 500}).lt(0.3).to(at::kFloat).to(gpu);
    chains.set({}, before);
    const std::vector<StepKeys> keys = keys_of(1000);
    chains.sweep(machine.parameters(), {keys[0]});
    validate_draws(Key(keys[0][0]), at::addmm(machine.visible, before, machine.weights.t()), chains.visible(),
                   "visible");
    validate_draws(Key(keys[0][1]), at::addmm(machine.hidden, chains.visible(), machine.weights), chains.hidden(),
                   "hidden");
    const double seconds =
        device_median([&] { chains.sweep(machine.parameters(), keys); }, 7) / static_cast<double>(keys.size());
    lines.push_back({format("sweep, {} chains", rows), seconds * 1e6, "µs"});
    lines.push_back({"… products", 4.0 * static_cast<double>(rows) * 784 * 500 / seconds * 1e-12, "TFLOP/s"});
  }
  return lines;
}

GpuLines gpu_annealing(const GpuSubject& subject) {
  BoltzmannMachine machine = make_rbm("bernoulli:784", "bernoulli:500");
  initialize(machine, Key(1), 0.05, {{subject.train.column_means().to(at::kFloat)}});
  machine = machine.to(gpu);
  const AnnealingPath path(
      {machine.with_parameters(base_rate_parameters(machine, {{subject.train.column_means().to(at::kFloat).to(gpu)}})),
       "base rates"},
      {machine}, linear_schedule(10'000));
  const double seconds = device_median([&] { (void)ais(path, 5000, {.seed = 1}); }, 3);
  return {{"AIS step, 5000 chains", seconds / 10'000 * 1e6, "µs"}, {"… for 100 000 of them", seconds * 10, "s"}};
}

}  // namespace harmonium::bench
