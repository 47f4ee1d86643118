// The options of commands that show rows to a model: `encode`, `reconstruct`, `retrieve`.
#pragma once

#include <CLI/CLI.hpp>

#include "harmonium/sessions/shown_data.h"

namespace harmonium::cli {

void declare_shown_data(CLI::App& command, ShownDataOptions& options);
// For commands that say what rows are.
void declare_refine(CLI::App& command, std::int64_t& steps);

}  // namespace harmonium::cli
