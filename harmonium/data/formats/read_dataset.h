// Reads a data set from a file or folder, recognised by its content and never by its name alone:
// IDX, NPY, NPZ, CSV, .amat, MATLAB version 5 (each of them gzipped or not) and folders of PNG pictures.
// What the values mean is decided in make_dataset.h.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "harmonium/data/dataset.h"
#include "harmonium/data/reading.h"

namespace harmonium {

struct ReadOptions {
  // Which array of an NPZ file or variable of a MATLAB file. Empty: that of the part where the file has arrays for
  // training and testing (choose_array.h); else the only matrix there is, or the one with an obvious name (x, data,
  // images, …). Labels are found beside it (y…, labels, …) where they are integers, one a row.
  std::string array = {};
  // train, valid or test, or nothing (train). Where the file has no arrays for parts, all its rows are read, and
  // Dataset::own_parts is empty: whoever asked has to divide them.
  std::string part = {};
  Reading reading = {};
};

// The name of the Dataset is the file's own.
[[nodiscard]] Dataset read_dataset(const std::filesystem::path& path, const ReadOptions& options = {});
// The same from a file's bytes; `where` names it in messages.
[[nodiscard]] Dataset parse_dataset(std::string_view bytes, const std::string& where, const ReadOptions& options = {});

}  // namespace harmonium
