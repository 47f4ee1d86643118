#include "harmonium/training/files/evaluation.h"

#include <algorithm>
#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

using nlohmann::ordered_json;

EstimateKind parse_kind(const std::string& name) {
  for (const EstimateKind kind :
       {EstimateKind::exact, EstimateKind::unbiased_estimate, EstimateKind::lower_bound, EstimateKind::upper_bound})
    if (to_string(kind) == name) return kind;
  return EstimateKind::estimate;
}

Estimate estimate_from_json(const ordered_json& from) {
  Estimate estimate{.value = from.at("value"),
                    .low = from.at("low"),
                    .high = from.at("high"),
                    .kind = parse_kind(from.at("kind")),
                    .method = from.value("method", ""),
                    .effective_samples = std::nullopt};
  if (from.contains("chains") && from.at("chains").is_number()) estimate.chains = from.at("chains");
  if (from.contains("betas") && from.at("betas").is_number()) estimate.betas = from.at("betas");
  if (from.contains("effective_samples") && from.at("effective_samples").is_number())
    estimate.effective_samples = from.at("effective_samples");
  return estimate;
}

std::filesystem::path path_in(const std::filesystem::path& folder) { return folder / "evaluations.jsonl"; }

}  // namespace

ordered_json to_json(const Evaluation& evaluation) {
  const Estimate& z = evaluation.log_z;
  ordered_json result;
  result["model"] = evaluation.model;
  result["updates"] = evaluation.updates > 0 ? ordered_json(evaluation.updates) : ordered_json(nullptr);
  result["seconds"] = evaluation.seconds > 0 ? ordered_json(evaluation.seconds) : ordered_json(nullptr);
  result["data"] = evaluation.data.empty() ? ordered_json(nullptr) : ordered_json(evaluation.data);
  result["n"] = evaluation.n;
  result["binarization"] =
      evaluation.binarization.empty() ? ordered_json(nullptr) : ordered_json(evaluation.binarization);
  result["draws"] = evaluation.data.empty() ? ordered_json(nullptr) : ordered_json(evaluation.draws);
  result["draw_spread"] = evaluation.draw_spread ? ordered_json(*evaluation.draw_spread) : ordered_json(nullptr);
  result["log_z"] = {
      {"value", z.value},
      {"low", z.low},
      {"high", z.high},
      {"kind", to_string(z.kind)},
      {"method", z.method},
      {"chains", z.chains > 0 ? ordered_json(z.chains) : ordered_json(nullptr)},
      {"betas", z.betas > 0 ? ordered_json(z.betas) : ordered_json(nullptr)},
      {"effective_samples", z.effective_samples ? ordered_json(*z.effective_samples) : ordered_json(nullptr)}};
  if (const auto& l = evaluation.log_likelihood)
    result["log_likelihood"] = {{"value", l->value}, {"low", l->low}, {"high", l->high}, {"kind", to_string(l->kind)}};
  else
    result["log_likelihood"] = nullptr;
  return result;
}

Evaluation evaluation_from_json(const ordered_json& from) {
  // Older files do not know all of them.
  const auto number = [&](const char* key, int otherwise = 0) {
    return from.contains(key) && from.at(key).is_number() ? from.at(key) : ordered_json(otherwise);
  };
  Evaluation evaluation{
      .model = from.at("model"),
      .updates = number("updates"),
      .seconds = number("seconds"),
      .data = from.at("data").is_null() ? "" : from.at("data").get<std::string>(),
      .n = from.at("n"),
      .binarization = from.at("binarization").is_null() ? "" : from.at("binarization").get<std::string>(),
      .draws = number("draws", 1),
      .log_z = estimate_from_json(from.at("log_z")),
      .log_likelihood = std::nullopt};
  if (const ordered_json spread = number("draw_spread", -1); spread >= 0) evaluation.draw_spread = spread;
  if (!from.at("log_likelihood").is_null()) {
    evaluation.log_likelihood = estimate_from_json(from.at("log_likelihood"));
    evaluation.log_likelihood->method = evaluation.log_z.method;
  }
  return evaluation;
}

std::vector<Evaluation> read_evaluations(const std::filesystem::path& folder) {
  std::vector<Evaluation> evaluations;
  if (!std::filesystem::exists(path_in(folder))) return evaluations;
  std::istringstream lines(read_file(path_in(folder)));
  std::string line;
  for (std::int64_t number = 1; std::getline(lines, line); ++number) {
    try {
      evaluations.push_back(evaluation_from_json(ordered_json::parse(line)));
    } catch (const ordered_json::exception& error) {
      fail("{}, line {}: not an evaluation ({})", path_in(folder).string(), number, error.what());
    }
  }
  return evaluations;
}

bool same_question(const Evaluation& one, const Evaluation& other) {
  return one.data == other.data && one.n == other.n && one.binarization == other.binarization &&
         one.log_z.method == other.log_z.method;
}

void record_evaluations(const std::filesystem::path& folder, const std::vector<Evaluation>& evaluations) {
  std::vector<Evaluation> all = read_evaluations(folder);
  for (const Evaluation& evaluation : evaluations) {
    std::erase_if(all, [&](const Evaluation& old) {
      const bool same_model = old.updates == evaluation.updates || (old.updates == 0 && old.model == evaluation.model);
      return same_model && same_question(old, evaluation);
    });
    all.push_back(evaluation);
  }
  std::string text;
  for (const Evaluation& each : all) text += to_json(each).dump() + "\n";
  write_file_atomically(path_in(folder), text);
}

void record_evaluation(const std::filesystem::path& folder, const Evaluation& evaluation) {
  record_evaluations(folder, {evaluation});
}

}  // namespace harmonium
