// Who waits in Python for long work: Ctrl-C is looked for ten times a second, and the bar drawn.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <functional>

namespace harmonium::python {

namespace py = pybind11;

class Watch {
 public:
  // To be called often and without the interpreter; every 0.1 s it looks for signals and calls `show` with the
  // interpreter held. Throws what either raises.
  template <class Show>
  void tick(Show&& show) {
    const Clock::time_point now = Clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    const py::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    show();
  }
  void tick() {
    tick([] {});
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

// So many processor threads for the calling thread's work while this lives; those it had come back. 0: what
// OMP_NUM_THREADS says, else all processors that this process may use.
class ThreadScope {
 public:
  // `products` is multiplications per step: small work is done by one thread, as the tool does it.
  ThreadScope(int threads, double products);
  ~ThreadScope();
  ThreadScope(const ThreadScope&) = delete;
  ThreadScope& operator=(const ThreadScope&) = delete;

 private:
  int before_;
};

// For estimators that say nothing; 0 as above.
void set_num_threads(int threads);
[[nodiscard]] int get_num_threads();
// From now on a child of fork() computes with one thread, whatever is asked for.
void stay_single_after_fork();

}  // namespace harmonium::python
