// What all commands share: their registration, common flags, exit codes and how they speak.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace harmonium::cli {

// Flags that every command takes.
struct CommonOptions {
  // Whether a command can use a device; one whose --device is part of a run's configuration declares it there.
  enum class Devices { cpu, any, in_config } devices = Devices::cpu;
  std::string device = "cpu", precision = "fast";
  int threads = 0;
  bool json = false;
};

// Adds a subcommand: its flags are declared on the returned app; `run` is called after parsing and returns an exit
// code.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples, CommonOptions& common, std::function<int()> run);

// Sets threads and precision, and checks the device.
void apply(const CommonOptions& common);

// Falls back to one thread for small work, where waiting for each other costs threads more than they save — many times
// more on a busy machine — unless the user has said how many. `products` is multiplications per step.
void limit_threads(const CommonOptions& common, double products);

// One JSON object on standard output.
void print_json(const nlohmann::ordered_json& object);

// True after Ctrl-C or SIGTERM, once watch_interrupts() was called; a second Ctrl-C ends the program at once.
void watch_interrupts();
[[nodiscard]] bool interrupted();

// The commands, one file each.
void add_train(CLI::App& app);
void add_resume(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_classify(CLI::App& app);
void add_finetune(CLI::App& app);
void add_encode(CLI::App& app);
void add_reconstruct(CLI::App& app);
void add_retrieve(CLI::App& app);
void add_sample(CLI::App& app);
void add_fisher(CLI::App& app);
void add_compare(CLI::App& app);
void add_search(CLI::App& app);
void add_trial(CLI::App& app);  // for `search` alone: not shown
void add_reproduce(CLI::App& app);
void add_report(CLI::App& app);
void add_data(CLI::App& app);
void add_models(CLI::App& app);

}  // namespace harmonium::cli
