// harmonium_bench [--smoke] [--threads N] [--turns N] [SECTION …]: prints one JSON object a line.
#include <ATen/Parallel.h>
#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "bench/bench.h"
#include "harmonium/core/fast_arithmetic.h"
#include "harmonium/core/machine_limits.h"
#include "harmonium/core/tensor_pool.h"

namespace harmonium::bench {

int thread_count(const Options& options) { return options.threads > 0 ? options.threads : usable_processors(); }

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::vector<double> medians(const Options& options, const std::vector<std::function<void()>>& candidates) {
  const int turns = options.smoke ? 1 : options.turns;
  std::vector<std::vector<double>> times(candidates.size());
  for (const auto& work : candidates) work();
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t c = 0; c < candidates.size(); ++c) times[c].push_back(seconds(candidates[c]));
  std::vector<double> result;
  for (std::vector<double>& each : times) {
    std::ranges::sort(each);
    result.push_back(each[each.size() / 2]);
  }
  return result;
}

std::function<void()> with_own_memory(std::function<void()> work) {
  return [work = std::move(work)] {
    c10::Allocator* const pool = c10::GetCPUAllocator();
    constexpr std::uint8_t same_as_the_pool = 1;
    c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), same_as_the_pool);
    work();
    c10::SetCPUAllocator(pool, same_as_the_pool);
  };
}

void validate(bool good, const std::string& what) {
  if (!good) throw std::runtime_error("not what it claims to be: " + what);
}

namespace {

struct Section {
  const char* name;
  Lines (*run)(const Options&);
};
constexpr Section sections[] = {{"sweep", gibbs_sweep},       {"annealing", annealing}, {"updates", updates},
                                {"growth", growth},           {"nets", nets},           {"directed", directed},
                                {"load", updates_under_load}, {"pcd", pcd_updates},     {"real", real_values}};

int run(int count, char** arguments) {
  Options options;
  std::vector<std::string_view> wanted;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const auto number = [&] {
      if (i + 1 >= count || std::atoi(arguments[i + 1]) < 1)
        throw std::runtime_error(std::string(argument) + " needs a number of at least 1");
      return std::atoi(arguments[++i]);
    };
    if (argument == "--smoke")
      options.smoke = true;
    else if (argument == "--threads")
      options.threads = number();
    else if (argument == "--turns")
      options.turns = number();
    else if (std::ranges::any_of(sections, [&](const Section& each) { return each.name == argument; }))
      wanted.push_back(argument);
    else
      throw std::runtime_error(
          "unknown: " + std::string(argument) +
          "; there are --smoke, --threads N, --turns N, sweep, annealing, updates, growth, nets, directed, load, pcd, "
          "real");
  }
  at::set_num_threads(thread_count(options));
  use_fast_arithmetic();
  use_tensor_pool();
  for (const Section& section : sections) {
    if (!wanted.empty() && std::ranges::find(wanted, section.name) == wanted.end()) continue;
    for (const Line& line : section.run(options)) {
      std::printf("{\"section\": \"%s\", \"what\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"bound\": \"%s\"}\n",
                  section.name, line.what.c_str(), line.value, line.unit.c_str(), line.bound.c_str());
      std::fflush(stdout);
    }
  }
  return 0;
}

}  // namespace

}  // namespace harmonium::bench

int main(int count, char** arguments) {
  try {
    return harmonium::bench::run(count, arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "harmonium_bench: %s\n", error.what());
    return 1;
  }
}
