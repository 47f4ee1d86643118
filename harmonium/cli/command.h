// What all commands share: their registration and common flags.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "harmonium/sessions/session.h"  // IWYU pragma: export

namespace harmonium::cli {

// Adds a subcommand: its flags are declared on the returned app; `run` is called after parsing and returns an exit
// code.
CLI::App* add_command(CLI::App& parent, const std::string& name, const std::string& description,
                      const std::string& examples, SessionOptions& common, std::function<int()> run);

// Checks of options, whose complaints are sentences (CLI11's own write out the largest number there is).
[[nodiscard]] CLI::Validator not_negative();
[[nodiscard]] CLI::Validator positive();

// The commands, one file each.
void add_train(CLI::App& app);
void add_resume(CLI::App& app);
void add_evaluate(CLI::App& app);
void add_classify(CLI::App& app);
void add_cluster(CLI::App& app);
void add_finetune(CLI::App& app);
void add_encode(CLI::App& app);
void add_reconstruct(CLI::App& app);
void add_retrieve(CLI::App& app);
void add_sample(CLI::App& app);
void add_fisher(CLI::App& app);
void add_gradients(CLI::App& app);
void add_compare(CLI::App& app);
void add_search(CLI::App& app);
void add_trial(CLI::App& app);  // for `search` alone: not shown
void add_reproduce(CLI::App& app);
void add_report(CLI::App& app);
void add_data(CLI::App& app);
void add_models(CLI::App& app);

}  // namespace harmonium::cli
