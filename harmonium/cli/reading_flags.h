// How files that are shown to a model are read: the options of `data info` and of every command that judges.
#pragma once

#include <CLI/CLI.hpp>

#include "harmonium/data/reading.h"

namespace harmonium::cli {

// Options that are not given are those of the run, where there is one.
void declare_reading(CLI::App& command, Reading& reading);
void declare_allow_trained_rows(CLI::App& command, bool& allow);

// --dequantize, another way to say --binarize dequantized.
void declare_dequantize(CLI::App& command, std::string& binarize);

}  // namespace harmonium::cli
