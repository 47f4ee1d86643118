// A small training on synthetic bits, for tests of the loop.
#pragma once

#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/training/make_training.h"

namespace harmonium {

inline Dataset random_bits(std::int64_t rows, std::int64_t columns) {
  return {.name = "bits", .values = uniform(Key(5), {rows, columns}).lt(0.3).to(at::kByte)};
}

inline Training small_training(const std::string& gradient, const std::string& optimizer, const StepOptions& step = {},
                               std::int64_t updates = 40) {
  const Dataset data = random_bits(50, 6);
  BoltzmannMachine machine = make_rbm("bernoulli:6", "bernoulli:4");
  // Strong weights: with weak ones chains that share their random numbers meet within a sweep wherever they start, and
  // a lost particle would leave no trace.
  initialize(machine, Key(1), 3.0, {{data.column_means().to(at::kFloat)}});
  auto metric = make_metric(optimizer, machine.topology(), machine.parameters());
  return make_training(std::move(machine), BatchStream(data, {.batch = 16}, Key(2)),
                       make_negative_phase(gradient, {.sweeps = 1, .particles = 50}), std::move(metric), step,
                       {.updates = updates, .averaging = 10, .seed = 3});
}

}  // namespace harmonium
