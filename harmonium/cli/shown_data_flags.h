// The options of commands that show rows to a model: `encode`, `reconstruct`, `retrieve`.
#pragma once

#include <CLI/CLI.hpp>

#include "harmonium/sessions/shown_data.h"

namespace harmonium::cli {

void declare_shown_data(CLI::App& command, ShownDataOptions& options);

}  // namespace harmonium::cli
