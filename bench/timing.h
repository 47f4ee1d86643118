// Medians of repeated timings. A benchmark prints ratios of two medians taken alternately in one process.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace harmonium::bench {

// LibTorch's own default is one thread on some builds.
inline void use_all_cores() { at::set_num_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))); }

inline double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

// Medians of several candidates, timed in turn so that a slow spell of the machine hits all of them.
inline std::vector<double> medians(const std::vector<std::function<void()>>& candidates, int repetitions) {
  std::vector<std::vector<double>> times(candidates.size());
  for (const auto& work : candidates) work();  // warm up
  for (int i = 0; i < repetitions; ++i)
    for (std::size_t c = 0; c < candidates.size(); ++c) times[c].push_back(seconds(candidates[c]));
  std::vector<double> result;
  for (const auto& each : times) result.push_back(median(each));
  return result;
}

}  // namespace harmonium::bench
