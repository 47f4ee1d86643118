// Time and memory of an update as machines grow: time per N_v · N_h · batch, and what the largest one takes.
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "bench/bench.h"
#include "harmonium/core/format.h"
#include "harmonium/core/tensor_pool.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/training/make_training.h"

namespace harmonium::bench {

namespace {

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

double bytes_now() {
  std::ifstream file("/proc/self/statm");
  double all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

Training square_training(std::int64_t units, std::int64_t batch) {
  const Dataset data{.name = "random", .values = uniform(Key(0), {batch, units}).lt(0.125).to(at::kByte)};
  BoltzmannMachine machine = make_rbm(format("bernoulli:{}", units), format("bernoulli:{}", units));
  initialize(machine, Key(1), 0.01, {{data.column_means().to(at::kFloat)}});
  auto metric = make_metric("sgd", machine.topology(), machine.parameters());
  return make_training(std::move(machine), BatchStream(data, {.batch = batch}, Key(2)),
                       make_negative_phase("pcd", {.sweeps = 1, .particles = batch}), std::move(metric),
                       {.rate_bias = 0.001, .rate_weights = 0.001}, {.updates = 1'000'000'000});
}

}  // namespace

Lines growth(const Options& options) {
  const std::int64_t batch = options.smoke ? 20 : 2000;
  const std::vector<std::int64_t> sizes =
      options.smoke ? std::vector<std::int64_t>{100, 50} : std::vector<std::int64_t>{4000, 2000, 1000, 500, 200, 100};
  Lines lines;
  double largest = 0, last = 0;
  Options few = options;
  few.turns = 3;
  for (const std::int64_t units : sizes) {
    const double before = bytes_now();  // the largest comes first, when the peak is still its own
    Training training = square_training(units, batch);
    trim_tensor_pool();
    const double work = 1e-9 * static_cast<double>(units * units * batch);
    const int block = work > 1 ? 1 : 10;
    const double time = medians(few, {[&] {
                                  for (int i = 0; i < block; ++i) training.step();
                                }})[0] /
                        block;
    if (largest == 0) largest = time / work;
    last = time / work;
    lines.push_back(
        {format("time of a PCD-1 update, {0}×{0}, batch {1}, per N_v·N_h·batch", units, batch), 1e3 * last, "ps"});
    if (units == sizes.front()) {
      const double parameters = 4.0 * static_cast<double>(units * units + 2 * units),
                   states = 4.0 * 4.0 * static_cast<double>(batch * units);  // data and particles, both layers
      lines.push_back({format("memory of training {0}×{0} with {1} particles", units, batch),
                       (peak_bytes() - before) / (1 << 20), "MiB"});
      lines.push_back(
          {"… in sizes of parameters and states", (peak_bytes() - before) / (parameters + states), "×", "≤ 3"});
      lines.push_back(
          {"… beyond its states, in sizes of the parameters", (peak_bytes() - before - states) / parameters, "×"});
    }
  }
  lines.push_back({format("… from {0}×{0} to {1}×{1}, in times of linear growth", sizes.back(), sizes.front()),
                   largest / last, "×", "≤ 1.25"});
  return lines;
}

}  // namespace harmonium::bench
