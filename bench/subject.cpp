#include "bench/subject.h"

#include "harmonium/core/error.h"
#include "harmonium/data/digits.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/gibbs.h"
#ifdef HARMONIUM_BENCH_FILES
#include "harmonium/data/catalog/catalog.h"
#endif

namespace harmonium::bench {

namespace {

// 8×8 → 24×24 with a margin of 2: as wide as MNIST and as empty at the border.
Dataset enlarged_digits() {
  const Dataset small = digits();
  const at::Tensor grey = small.to_float().view({-1, 8, 8}).repeat_interleave(3, 1).repeat_interleave(3, 2);
  at::Tensor wide = at::zeros({grey.size(0), 28, 28});
  wide.narrow(1, 2, 24).narrow(2, 2, 24).copy_(grey);
  return {.name = "enlarged digits", .values = wide.view({-1, 784}).mul(255).round().to(at::kByte), .scale = 1.0 / 255};
}

}  // namespace

Subject subject(const Options& options) {
  const std::int64_t hidden = options.smoke ? 60 : 500;
#ifdef HARMONIUM_BENCH_FILES
  if (!options.smoke) try {
      return {.name = "MNIST", .images = open_dataset("mnist:train"), .hidden = hidden};
    } catch (const Error&) {
      // Not at hand.
    }
#endif
  return {.name = "enlarged digits", .images = enlarged_digits(), .hidden = hidden};
}

Training training_of(const Subject& subject, const std::string& optimizer, std::int64_t batch) {
  BoltzmannMachine machine = make_rbm("bernoulli:784", format("bernoulli:{}", subject.hidden));
  initialize(machine, Key(1), 0.01, {{subject.images.column_means().to(at::kFloat)}});
  auto metric = make_metric(optimizer, machine.topology(), machine.parameters());
  return make_training(std::move(machine),
                       BatchStream(subject.images, {.batch = batch, .binarization = Binarization::stochastic}, Key(2)),
                       make_negative_phase("pcd", {.sweeps = 1, .particles = batch}), std::move(metric),
                       {.rate_bias = 0.1, .rate_weights = optimizer == "fang" ? 0.03 : 0.1},
                       {.updates = 1'000'000'000});
}

BoltzmannMachine trained_machine(const Options& options, const Subject& subject) {
  Training training = training_of(subject, "sgd", 100);
  for (int update = 0; update < (options.smoke ? 50 : 20'000); ++update) training.step();
  return machine_of(training).with_parameters(training.parameters().clone());
}

State states_of(const BoltzmannMachine& machine, const Subject& subject, std::int64_t chains) {
  BatchStream stream(subject.images, {.batch = chains, .binarization = Binarization::stochastic}, Key(3));
  State state = machine.observe(stream.batch(0));
  (void)sample_layers(machine, state, Key(4), {1});
  gibbs(machine, state, Key(5), 20);
  return state;
}

}  // namespace harmonium::bench
