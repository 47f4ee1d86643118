// Models of all families on rows of eight columns, small enough to be trained while one waits.
#pragma once

#include <memory>

#include "harmonium/families/family.h"

namespace harmonium {

// Of bits, or of real values where the family wants them.
[[nodiscard]] RunData small_rows(const std::string& family = "rbm");
// Resolved for those rows.
[[nodiscard]] RunConfig small_run(const std::string& family, RunData& data);
// Before its first update, with its stages trained.
[[nodiscard]] std::unique_ptr<Model> small_model(const RunConfig& config, const RunData& data);

}  // namespace harmonium
