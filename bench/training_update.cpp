// Updates per second of PCD-1 on a 784×500 binary RBM: plain, centered and with FANG, timed in turns. Batch 100 is the
// shape the scikit-learn reference is timed at, 2000 that of the published FANG recipe.
#include <cmath>
#include <cstdio>
#include <functional>

#include "bench/timing.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/training/trainer.h"

using namespace harmonium;

namespace {

Dataset binary_data(std::int64_t rows, std::int64_t columns) {
  // One pixel in eight is on, as in the reference; speed does not depend on which.
  return {.name = "random", .values = uniform(Key(0), {rows, columns}).lt(0.125).to(at::kByte)};
}

Trainer make_trainer(const std::string& optimizer, std::int64_t batch) {
  const Dataset data = binary_data(20 * batch, 784);
  BoltzmannMachine machine = make_rbm("bernoulli:784", "bernoulli:500");
  initialize(machine, Key(1), 0.01, {{data.column_means().to(at::kFloat)}});
  auto metric = make_metric(optimizer, machine.topology(), machine.parameters());
  return {std::move(machine),
          BatchStream(data, {.batch = batch}, Key(2)),
          make_negative_phase("pcd", {.sweeps = 1, .particles = batch}),
          std::move(metric),
          {.rate_bias = 0.01, .rate_weights = 0.01},
          {.updates = 1'000'000'000}};
}

// A trainer past its first updates, so that fang has its statistics and chains are under way.
std::function<void()> block_of(Trainer& trainer, int updates) {
  return [&trainer, updates] {
    for (int i = 0; i < updates; ++i) trainer.step();
  };
}

}  // namespace

int main(int argc, char** argv) {
  bench::use_all_cores();
  const std::int64_t batch = argc > 1 ? std::atoll(argv[1]) : 100;
  // A whole cycle of fang: ten looks at the particles and one refit, wherever the block begins.
  const int block = 100, repetitions = batch >= 1000 ? 3 : 9;
  Trainer sgd = make_trainer("sgd", batch), centering = make_trainer("centering", batch),
          fang = make_trainer("fang", batch);
  const auto times =
      bench::medians({block_of(sgd, block), block_of(centering, block), block_of(fang, block)}, repetitions);
  for (const Trainer* trainer : {&sgd, &centering, &fang}) {
    trainer->check();
    if (!std::isfinite(trainer->gradient_norm()) || trainer->gradient_norm() == 0) {
      std::printf("the update did nothing\n");
      return 1;
    }
  }
  std::printf(
      "{\"batch\": %lld, \"sgd_updates_per_second\": %.1f, \"centering_updates_per_second\": %.1f, "
      "\"fang_updates_per_second\": %.1f}\n",
      static_cast<long long>(batch), block / times[0], block / times[1], block / times[2]);
  return 0;
}
