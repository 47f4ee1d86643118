// Training on a machine that has other work: threads that spin while they wait take the processor from the one they
// wait for (cli/brief_waiting.cpp).
#include <ATen/Parallel.h>

#include <atomic>
#include <thread>

#include "bench/subject.h"
#include "harmonium/core/format.h"
#include "harmonium/core/machine_limits.h"

namespace harmonium::bench {

namespace {

// Busy loops, one for each processor, as long as it lives.
class BusyLoops {
 public:
  BusyLoops() {
    for (int i = 0; i < usable_processors(); ++i)
      loops_.emplace_back([this] {
        while (!stop_) {
        }
      });
  }
  ~BusyLoops() {
    stop_ = true;
    for (std::thread& each : loops_) each.join();
  }
  BusyLoops(const BusyLoops&) = delete;
  BusyLoops& operator=(const BusyLoops&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> loops_;
};

}  // namespace

Lines updates_under_load(const Options& options) {
  const Subject what = subject(options);
  const int block = options.smoke ? 1 : 50;
  Training training = training_of(what, "sgd", 100);
  const auto on = [&](int threads) {
    return [&training, threads, block] {
      at::set_num_threads(threads);
      for (int i = 0; i < block; ++i) training.step();
      training.check();
    };
  };
  std::vector<double> times;
  {
    const BusyLoops others;
    times = medians(options, {on(1), on(2)});
  }
  at::set_num_threads(thread_count(options));
  return {
      {format("PCD-1 updates, 784×{}, batch 100, two threads beside {} busy loops", what.hidden, usable_processors()),
       block / times[1], "/s"},
      {"… their time in that of one thread beside the same", times[1] / times[0], "×", "≤ 1.5"}};
}

}  // namespace harmonium::bench
