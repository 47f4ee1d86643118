#include "watch.h"

#include <ATen/ATen.h>

#include <ATen/Parallel.h>
#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <thread>

namespace harmonium::python {

namespace {

std::atomic<int> chosen_threads = 0;

int all_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

int environment_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

}  // namespace

void set_num_threads(int threads) { chosen_threads = threads; }

int get_num_threads() {
  if (const int chosen = chosen_threads; chosen > 0) return chosen;
  if (const int given = environment_threads(); given > 0) return given;
  return all_threads();
}

ThreadScope::ThreadScope(int threads, double products) : before_(at::get_num_threads()) {
  constexpr double worth_sharing = 1e7;  // as in the tool (cli/command.cpp)
  if (threads <= 0) threads = products < worth_sharing ? 1 : get_num_threads();
  // LibTorch asks OpenMP, whose number belongs to the calling thread; LibTorch's own setter would also change what
  // threads get that others start.
  omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() { omp_set_num_threads(before_); }

}  // namespace harmonium::python
