// Data to judge by that a model has learnt from: counted, said, and refused where they call themselves test data.
#pragma once

#include <optional>
#include <string>

#include "harmonium/data/row_digests.h"

namespace harmonium {

// Rows of `data` (before binarization) that the model at `path` (a run folder, its model or a snapshot in it) has
// learnt from; nothing where no run folder says it.
[[nodiscard]] std::optional<RowsSeen> rows_trained_on(const std::string& path, const Dataset& data);

// "300 of 300 rows were trained on"; empty where there is nothing to say.
[[nodiscard]] std::string in_words(const RowsSeen& seen);

// Throws Error where data whose name ends in test or valid were mostly trained on. Sets that are generated are spared:
// all their patterns may have been learnt, and be drawn again.
void require_unseen(const RowsSeen& seen, const std::string& spec);

}  // namespace harmonium
