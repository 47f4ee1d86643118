#include "harmonium/cli/command.h"

#include <cstdlib>

namespace harmonium::cli {

namespace {

const char* device_help(const SessionOptions& common) {
  return common.devices == SessionOptions::Devices::any
             ? "where to compute: cpu, cuda (what enumerates states or moves one unit at a time stays on the CPU)"
             : "where to compute: cpu";
}

// A number that `fits`; what is no number at all is refused where the option is read.
CLI::Validator number_that(bool (*fits)(double), const std::string& words, const std::string& name) {
  return {[fits, words](const std::string& text) {
            char* end = nullptr;
            const double value = std::strtod(text.c_str(), &end);
            const bool number = end != text.c_str() && *end == '\0';
            return number && fits(value) ? std::string() : "'" + text + "' is not " + words;
          },
          name};
}

}  // namespace

CLI::Validator not_negative() {
  return number_that([](double value) { return value >= 0; }, "a number from 0 up", "NONNEGATIVE");
}

CLI::Validator positive() {
  return number_that([](double value) { return value > 0; }, "a number above 0", "POSITIVE");
}

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
