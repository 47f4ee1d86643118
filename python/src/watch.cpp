#include "watch.h"

#include <ATen/ATen.h>

#include <ATen/Parallel.h>
#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "harmonium/core/machine_limits.h"

namespace harmonium::python {

namespace {

std::atomic<int> chosen_threads = 0;

// A child of fork() has none of the threads that OpenMP believes to have started, and would wait for them for ever.
std::atomic<bool> forked = false;

void after_fork() {
  forked = true;
  omp_set_num_threads(1);
}

int environment_threads() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 0 : std::max(0, std::atoi(text));
}

}  // namespace

void set_num_threads(int threads) { chosen_threads = threads; }

void stay_single_after_fork() { pthread_atfork(nullptr, nullptr, after_fork); }

int get_num_threads() {
  if (forked) return 1;
  if (const int chosen = chosen_threads; chosen > 0) return chosen;
  if (const int given = environment_threads(); given > 0) return given;
  return usable_processors();
}

ThreadScope::ThreadScope(int threads, double products) : before_(at::get_num_threads()) {
  constexpr double worth_sharing = 1e7;  // as in the tool (cli/command.cpp)
  if (forked) threads = 1;
  if (threads <= 0) threads = products < worth_sharing ? 1 : get_num_threads();
  // LibTorch asks OpenMP, whose number belongs to the calling thread; LibTorch's own setter would also change what
  // threads get that others start.
  omp_set_num_threads(threads);
}

ThreadScope::~ThreadScope() { omp_set_num_threads(before_); }

}  // namespace harmonium::python
