// The rows that a run has learnt from, in its folder: trained_rows.safetensors (data/row_digests.h says what is kept).
#pragma once

#include <filesystem>
#include <optional>

#include "harmonium/data/row_digests.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

void write_trained_rows(const RunFolder& folder, const Dataset& train);
// Nothing where the folder has no such file, as runs of older versions.
[[nodiscard]] std::optional<RowDigests> read_trained_rows(const RunFolder& folder);

}  // namespace harmonium
