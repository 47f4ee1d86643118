// What the benchmarks share: turns of timing, and the lines of the result.
//
// Nothing is judged by a clock alone. Every figure is a ratio of medians of candidates that were timed in turns in one
// process, so that a slow spell of the machine hits all of them; and every candidate is validated before it is timed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace harmonium::bench {

struct Options {
  bool smoke = false;  // tiny sizes, one turn: shows that everything still runs, measures nothing
  int threads = 0;     // 0: all cores
  int turns = 5;
};

struct Line {
  std::string what;
  double value = 0;
  std::string unit;
  std::string bound = {};  // "≥ 8": what the value is held against
};

[[nodiscard]] int thread_count(const Options& options);
[[nodiscard]] double seconds(const std::function<void()>& work);
// Median seconds of each candidate over the turns, after one turn that does not count.
[[nodiscard]] std::vector<double> medians(const Options& options, const std::vector<std::function<void()>>& candidates);
// Work as LibTorch does it by itself, without our pool of memory: references are timed like this.
[[nodiscard]] std::function<void()> with_own_memory(std::function<void()> work);
// Throws if a candidate is not what it claims to be.
void validate(bool good, const std::string& what);

using Lines = std::vector<Line>;
Lines gibbs_sweep(const Options& options);
Lines annealing(const Options& options);
Lines updates(const Options& options);
Lines growth(const Options& options);
Lines nets(const Options& options);
Lines directed(const Options& options);
Lines updates_under_load(const Options& options);
Lines real_values(const Options& options);
Lines pcd_updates(const Options& options);  // the first line of updates() alone

}  // namespace harmonium::bench
