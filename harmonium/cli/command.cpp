#include "harmonium/cli/command.h"

namespace harmonium::cli {

namespace {

const char* device_help(const SessionOptions& common) {
  return common.devices == SessionOptions::Devices::any
             ? "where to compute: cpu, cuda (what enumerates states or moves one unit at a time stays on the CPU)"
             : "where to compute: cpu";
}

}  // namespace

CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples, SessionOptions& common, std::function<int()> run) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->footer("Examples:\n" + examples);
  if (common.devices != SessionOptions::Devices::in_config)
    command->add_option("--device", common.device, device_help(common))->capture_default_str()->group("Common");
  if (common.devices == SessionOptions::Devices::any)
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

}  // namespace harmonium::cli
