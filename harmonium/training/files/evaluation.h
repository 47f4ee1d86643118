// The result of judging a model, as the tool prints it (--json), keeps it in a run folder and shows it in a report.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/likelihood/estimate.h"

namespace harmonium {

struct Evaluation {
  std::string model;
  std::string data;          // empty where log Z alone was asked for
  std::int64_t n = 0;        // rows
  std::string binarization;  // "none", "threshold", "stochastic (seed 0)"
  Estimate log_z;
  std::optional<Estimate> log_likelihood;  // mean per row
};

[[nodiscard]] nlohmann::ordered_json to_json(const Evaluation& evaluation);
[[nodiscard]] Evaluation evaluation_from_json(const nlohmann::ordered_json& json);

// evaluations.jsonl of a run folder, one line per evaluation; the same question asked again replaces the old answer.
void record_evaluation(const std::filesystem::path& folder, const Evaluation& evaluation);
[[nodiscard]] std::vector<Evaluation> read_evaluations(const std::filesystem::path& folder);

}  // namespace harmonium
