// Evaluations as JSON, and those that a run folder keeps.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harmonium/likelihood/evaluation.h"

namespace harmonium {

[[nodiscard]] nlohmann::ordered_json to_json(const Evaluation& evaluation);
[[nodiscard]] Evaluation evaluation_from_json(const nlohmann::ordered_json& json);

// evaluations.jsonl of a run folder, one line per evaluation; the same question asked again of the same model (the same
// updates) replaces the old answer. Several are written at once or not at all.
void record_evaluations(const std::filesystem::path& folder, const std::vector<Evaluation>& evaluations);
void record_evaluation(const std::filesystem::path& folder, const Evaluation& evaluation);
[[nodiscard]] std::vector<Evaluation> read_evaluations(const std::filesystem::path& folder);

}  // namespace harmonium
