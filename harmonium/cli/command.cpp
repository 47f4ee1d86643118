#include "harmonium/cli/command.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/rbm_chains.h"

namespace harmonium::cli {

namespace {

std::atomic<bool> interrupt_flag = false;  // lock-free, so a signal handler may set it

void on_interrupt(int signal) {
  interrupt_flag = true;
  std::signal(signal, SIG_DFL);  // the second time is final
}

const char* device_help(const CommonOptions& common) {
  return common.devices == CommonOptions::Devices::any
             ? "where to compute: cpu, cuda (what enumerates states or moves one unit at a time stays on the CPU)"
             : "where to compute: cpu";
}

}  // namespace

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples, CommonOptions& common, std::function<int()> run) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  if (common.devices != CommonOptions::Devices::in_config)
    command->add_option("--device", common.device, device_help(common))->capture_default_str()->group("Common");
  if (common.devices == CommonOptions::Devices::any)
    command
        ->add_option("--precision", common.precision,
                     "with --device cuda: fast (weights rounded to fp16 in products of binary states), exact (fp32)")
        ->capture_default_str()
        ->group("Common");
  command->add_option("--threads", common.threads, "processor threads (0: all)")
      ->capture_default_str()
      ->group("Common");
  command->add_flag("--json", common.json, "print one JSON object instead of text")->group("Common");
  command->callback([&common, run = std::move(run)] {
    apply(common);
    if (const int code = run(); code != 0) throw CLI::RuntimeError(code);
  });
  return command;
}

void apply(const CommonOptions& common) {
  require(
      common.devices != CommonOptions::Devices::cpu || common.device != "cuda",
      "--device cuda: this command computes on the CPU; train, resume, evaluate, sample and fisher can use a device");
  (void)find_device(common.device);  // before anything else is done
  set_device_precision(parse_precision(common.precision));
  require(common.threads >= 0, "--threads {}: give a number of threads, or 0 for all", common.threads);
  // LibTorch's own default is one thread on some builds. OMP_NUM_THREADS, where set, is somebody's decision.
  if (common.threads > 0)
    at::set_num_threads(common.threads);
  else if (std::getenv("OMP_NUM_THREADS") == nullptr)
    at::set_num_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

void limit_threads(const CommonOptions& common, double products) {
  constexpr double worth_sharing = 1e7;
  if (common.threads == 0 && products < worth_sharing) at::set_num_threads(1);
}

void print_json(const nlohmann::ordered_json& object) { fmt::print("{}\n", object.dump(2)); }

void watch_interrupts() {
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
}

bool interrupted() { return interrupt_flag; }

}  // namespace harmonium::cli
