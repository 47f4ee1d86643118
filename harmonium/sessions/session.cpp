#include "harmonium/sessions/session.h"

#include <ATen/Parallel.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/machine_limits.h"
#include "harmonium/kernels/rbm_chains.h"

namespace harmonium {

namespace {

std::atomic<bool> interrupt_flag = false;  // lock-free, so a signal handler may set it

std::array<bool, 3> on_terminal = {};

void on_interrupt(int signal) {
  interrupt_flag = true;
  std::signal(signal, SIG_DFL);  // the second time is final
}

// The terminal is gone: what would be said there fails from now on, and must not get in the way of saving.
void on_hangup(int) {
  interrupt_flag = true;
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream)
    if (nothing >= 0 && on_terminal[static_cast<std::size_t>(stream)]) ::dup2(nothing, stream);
}

}  // namespace

void apply(const SessionOptions& session) {
  require(
      session.devices != SessionOptions::Devices::cpu || session.device != "cuda",
      "--device cuda: this command computes on the CPU; train, resume, evaluate, sample and fisher can use a device");
  (void)find_device(session.device);  // before anything else is done
  set_device_precision(parse_precision(session.precision));
  // More threads than processors only wait for each other; a few more are harmless, thousands stop the machine.
  const int processors = usable_processors(), most = std::max(64, 4 * processors);
  require(session.threads >= 0 && session.threads <= most,
          "--threads {}: give a number from 1 to {}, or 0 for all {} processors that may be used", session.threads,
          most, processors);
  // LibTorch's own default is one thread on some builds. OMP_NUM_THREADS, where set, is somebody's decision.
  if (session.threads > 0)
    at::set_num_threads(session.threads);
  else if (std::getenv("OMP_NUM_THREADS") == nullptr)
    at::set_num_threads(processors);
}

void limit_threads(const SessionOptions& session, double products) {
  constexpr double worth_sharing = 1e7;
  if (session.threads == 0 && products < worth_sharing) at::set_num_threads(1);
}

std::string as_flags(const std::string& message) {
  return spell_options(message, [](std::string name) {
    std::ranges::replace(name, '_', '-');
    return "--" + name;
  });
}

void print_json(const nlohmann::ordered_json& object) {
  // A path that is not UTF-8 (of HARMONIUM_DATA, say) must not cost the answer.
  fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void watch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  for (int stream = 0; stream < 3; ++stream) on_terminal[static_cast<std::size_t>(stream)] = ::isatty(stream) == 1;
  // Under nohup the signal is ignored, and that is meant.
  if (std::signal(SIGHUP, on_hangup) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);
}

bool interrupted() { return interrupt_flag; }

}  // namespace harmonium
