// Benchmarks of one CUDA device: every candidate is validated against the plain expression first, then timed by medians
// of several turns that end with a wait for the device. The PyTorch program of the same work is
// bench/reference/torch_gpu.py; bench/gpu/run puts both into one table.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium::bench {

inline const at::Device gpu(at::kCUDA, 0);

// Images of 28×28; MNIST from files in its own format (not compressed) where a folder is given.
struct GpuSubject {
  Dataset train, test;
};
[[nodiscard]] GpuSubject gpu_subject(const std::string& folder);

// Median seconds of `turns` calls of work on the device, after one that does not count.
[[nodiscard]] double device_median(const std::function<void()>& work, int turns);

// What is printed, and kept as JSON where asked for: "sweep 784×500, 2000 chains", 8.9, "µs".
struct GpuLine {
  std::string what;
  double value;
  std::string unit;
};
using GpuLines = std::vector<GpuLine>;

[[nodiscard]] GpuLines gpu_sweeps();
[[nodiscard]] GpuLines gpu_annealing(const GpuSubject& subject);
[[nodiscard]] GpuLines gpu_updates(const GpuSubject& subject);
// MNIST 784×500 learnt for a number of updates: seconds of training, and the log-likelihood of test images.
struct Learning {
  std::int64_t updates = 10'000;
  double rate_bias = 0.3, rate_weights = 0.03, averaging = 100;
  std::string schedule = "sqrt";
  double weight_decay = 0;
  bool grays = false;  // learnt as they are, as published, in place of bits drawn from them
  MetricOptions metric = {};
  std::int64_t chains = 2000, betas = 20'000;
  std::int64_t raise_rows = 0, raise_betas = 50'000;
  std::uint64_t seed = 1;
};
[[nodiscard]] GpuLines gpu_learning(const GpuSubject& subject, const Learning& learning);

// The fast mode beside fp32 and beside the CPU: log Z, moments and learning.
[[nodiscard]] GpuLines gpu_modes(const GpuSubject& subject);

// A deep Boltzmann machine of MNIST, all layers at once from random weights: seconds of training, and a lower bound on
// the log-likelihood of test images with log Z from below and from above.
struct DeepLearning {
  std::string optimizer = "fang";
  std::int64_t updates = 10'000;
  double initial_weights = 0.01, rate_bias = 0.01, rate_weights = 0.01;
  std::int64_t chains = 500, betas = 10'000, burn_in = 5000;
  std::uint64_t seed = 1;
};
[[nodiscard]] GpuLines gpu_deep(const GpuSubject& subject, const DeepLearning& learning);
// An update of a deep machine with a posterior that is sampled, three sweeps of chains.
[[nodiscard]] GpuLines gpu_deep_update(const GpuSubject& subject);

// Updates of directed nets.
[[nodiscard]] GpuLines gpu_directed(const GpuSubject& subject);

// Templates drawn by kernels beside tensor operations, forward and back.
[[nodiscard]] GpuLines gpu_render();

}  // namespace harmonium::bench
