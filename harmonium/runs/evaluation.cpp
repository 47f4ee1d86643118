#include "harmonium/runs/evaluation.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/likelihood/judgement.h"
#include "harmonium/runs/json_lines.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

namespace {

using nlohmann::ordered_json;

EstimateKind parse_kind(const std::string& name) {
  for (const EstimateKind kind : {EstimateKind::exact, EstimateKind::unbiased_estimate, EstimateKind::lower_bound,
                                  EstimateKind::upper_bound, EstimateKind::estimated_lower_bound})
    if (to_string(kind) == name) return kind;
  return EstimateKind::estimate;
}

Estimate estimate_from_json(const ordered_json& from) {
  // Older versions have written numbers that were not finite, as null.
  const auto number = [&](const char* key) {
    return from.at(key).is_null() ? std::numeric_limits<double>::quiet_NaN() : from.at(key).get<double>();
  };
  Estimate estimate{.value = number("value"),
                    .low = number("low"),
                    .high = number("high"),
                    .kind = parse_kind(from.at("kind")),
                    .method = from.value("method", "")};
  const auto read = [&](const char* key, auto& target) {
    if (from.contains(key) && from.at(key).is_number())
      target = from.at(key).template get<std::remove_reference_t<decltype(target)>>();
  };
  const auto read_optional = [&](const char* key, std::optional<double>& target) {
    if (from.contains(key) && from.at(key).is_number()) target = from.at(key).get<double>();
  };
  read("chains", estimate.chains);
  read("betas", estimate.betas);
  read_optional("effective_samples", estimate.effective_samples);
  read_optional("largest_weight", estimate.largest_weight);
  read_optional("pareto_k", estimate.pareto_k);
  return estimate;
}

ordered_json or_null(bool known, const ordered_json& value) { return known ? value : ordered_json(nullptr); }

ordered_json or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

// `coverage` is that of the interval from low to high; null: too few effective samples to claim any.
ordered_json brief_json(const Estimate& estimate) {
  return {{"value", estimate.value},
          {"low", estimate.low},
          {"high", estimate.high},
          {"coverage", has_interval(estimate) ? ordered_json(0.95) : ordered_json(nullptr)},
          {"kind", to_string(estimate.kind)}};
}

ordered_json judgement_json(const Evaluation& evaluation) {
  const Judgement found = judgement(evaluation);
  return {{"trusted", found.trusted},
          {"lower", or_null(found.lower)},
          {"upper", or_null(found.upper)},
          {"acceptable_gap", evaluation.acceptable},
          {"sentence", in_words(found)}};
}

ordered_json whole_json(const Estimate& estimate) {
  ordered_json result = brief_json(estimate);
  result["method"] = estimate.method;
  result["chains"] = or_null(estimate.chains > 0, estimate.chains);
  result["betas"] = or_null(estimate.betas > 0, estimate.betas);
  result["effective_samples"] = or_null(estimate.effective_samples);
  result["largest_weight"] = or_null(estimate.largest_weight);
  result["pareto_k"] = or_null(estimate.pareto_k);
  return result;
}

ordered_json sequences_json(const JudgedSequences& sequences) {
  ordered_json result = {{"count", sequences.count}, {"mean", sequences.mean}};
  if (const auto& i = sequences.intervals)
    result.update({{"low", i->low}, {"high", i->high}, {"frame_low", i->frame_low}, {"frame_high", i->frame_high}});
  return result;
}

JudgedSequences sequences_from_json(const ordered_json& from) {
  JudgedSequences result{.count = whole_number(from.at("count")), .mean = from.at("mean")};
  if (from.contains("low"))
    result.intervals = {.low = from.at("low"),
                        .high = from.at("high"),
                        .frame_low = from.at("frame_low"),
                        .frame_high = from.at("frame_high")};
  return result;
}

}  // namespace

ordered_json to_json(const Evaluation& evaluation) {
  ordered_json result;
  result["model"] = evaluation.model;
  result["updates"] = or_null(evaluation.updates > 0, evaluation.updates);
  result["seconds"] = or_null(evaluation.seconds > 0, evaluation.seconds);
  if (!evaluation.unfinished.empty()) result["unfinished"] = evaluation.unfinished;
  result["data"] = or_null(!evaluation.data.empty(), evaluation.data);
  result["n"] = evaluation.n;
  result["binarization"] = or_null(!evaluation.binarization.empty(), evaluation.binarization);
  result["device"] = evaluation.device;
  result["draws"] = or_null(!evaluation.data.empty(), evaluation.draws);
  result["draw_spread"] = or_null(evaluation.draw_spread);
  result["log_z"] = nullptr;
  if (evaluation.log_z) result["log_z"] = whole_json(*evaluation.log_z);
  result["hidden"] = nullptr;
  if (const auto& hidden = evaluation.hidden)
    result["hidden"] = {{"method", hidden->method},
                        {"exact", hidden->exact},
                        {"sweeps", or_null(!hidden->exact, hidden->sweeps)},
                        {"change", or_null(!hidden->exact, hidden->change)},
                        {"converged", or_null(!hidden->exact, hidden->converged)},
                        {"chains", or_null(hidden->chains > 0, hidden->chains)},
                        {"betas", or_null(hidden->betas > 0, hidden->betas)},
                        {"gap", or_null(hidden->gap)}};
  result["log_likelihood"] = nullptr;
  if (const auto& found = evaluation.log_likelihood)
    result["log_likelihood"] = evaluation.log_z ? brief_json(*found) : whole_json(*found);
  if (evaluation.sequences) result["sequences"] = sequences_json(*evaluation.sequences);
  if (evaluation.log_likelihood && importance_draws(*evaluation.log_likelihood) > 0)
    result["importance"] = importance_draws(*evaluation.log_likelihood);
  result["raise"] = nullptr;
  if (const auto& bound = evaluation.raise) {
    result["raise"] = brief_json(*bound);
    result["raise"]["rows"] = evaluation.raise_rows;
    result["raise"]["chains"] = bound->chains;
    result["raise"]["betas"] = bound->betas;
  }
  result["upper_log_z"] = nullptr;
  if (evaluation.upper_log_z) result["upper_log_z"] = whole_json(*evaluation.upper_log_z);
  if (evaluation.bennett) result["bennett"] = whole_json(*evaluation.bennett);
  if (!evaluation.bounds.empty()) {
    result["bounds"] = ordered_json::array();
    for (const BoundWithDraws& each : evaluation.bounds)
      result["bounds"].push_back({{"draws", each.draws}, {"value", each.value}});
    result["heavy_rows"] = or_null(evaluation.heavy_rows);
  }
  result["gap"] = or_null(evaluation.gap);
  result["verdict"] = or_null(!evaluation.verdict.empty(), evaluation.verdict);
  result["trained_rows"] = nullptr;
  if (evaluation.trained_rows) result["trained_rows"] = *evaluation.trained_rows;
  result["trained_rows_note"] = or_null(!evaluation.trained_rows_note.empty(), evaluation.trained_rows_note);
  result["judgement"] = judgement_json(evaluation);
  return result;
}

Evaluation evaluation_from_json(const ordered_json& from) {
  // Older files do not know all of them.
  const auto number = [&](const char* key, int otherwise = 0) {
    return from.contains(key) && from.at(key).is_number() ? from.at(key) : ordered_json(otherwise);
  };
  Evaluation evaluation{
      .model = from.at("model"),
      .updates = whole_number(number("updates")),
      .seconds = number("seconds"),
      .data = from.at("data").is_null() ? "" : from.at("data").get<std::string>(),
      .n = whole_number(from.at("n")),
      .binarization = from.at("binarization").is_null() ? "" : from.at("binarization").get<std::string>(),
      .device = from.value("device", "cpu"),
      .draws = whole_number<int>(number("draws", 1)),
      .log_z = std::nullopt,
      .unfinished = from.value("unfinished", "")};
  if (!from.at("log_z").is_null()) evaluation.log_z = estimate_from_json(from.at("log_z"));
  if (const ordered_json spread = number("draw_spread", -1); spread >= 0) evaluation.draw_spread = spread;
  if (!from.at("log_likelihood").is_null()) {
    evaluation.log_likelihood = estimate_from_json(from.at("log_likelihood"));
    if (evaluation.log_z) {
      evaluation.log_likelihood->method = evaluation.log_z->method;
      evaluation.log_likelihood->effective_samples = evaluation.log_z->effective_samples;
    }
    if (evaluation.log_z && from.contains("importance")) {
      evaluation.log_likelihood->method = importance_method(*evaluation.log_z);
      evaluation.log_likelihood->chains = whole_number(from.at("importance"));
    }
  }
  const auto object = [&](const char* key) { return from.contains(key) && from.at(key).is_object(); };
  if (object("hidden")) {
    const ordered_json& hidden = from.at("hidden");
    evaluation.hidden = HiddenLayers{.method = hidden.at("method"), .exact = hidden.at("exact")};
    if (!evaluation.hidden->exact) {
      evaluation.hidden->sweeps = whole_number(hidden.at("sweeps"));
      evaluation.hidden->change = hidden.at("change");
      evaluation.hidden->converged = hidden.at("converged");
      if (hidden.contains("gap") && hidden.at("gap").is_number()) {
        evaluation.hidden->gap = hidden.at("gap").get<double>();
        evaluation.hidden->chains = whole_number(hidden.at("chains"));
        evaluation.hidden->betas = whole_number(hidden.at("betas"));
      }
      if (evaluation.log_likelihood && evaluation.log_z)
        evaluation.log_likelihood->method =
            (evaluation.hidden->gap ? "rows by annealing, " : "mean field, ") + evaluation.log_z->method;
    }
  }
  if (object("sequences")) evaluation.sequences = sequences_from_json(from.at("sequences"));
  if (object("raise")) {
    evaluation.raise = estimate_from_json(from.at("raise"));
    evaluation.raise->method = "raise";
    evaluation.raise_rows = from.at("raise").contains("rows") ? whole_number(from.at("raise").at("rows")) : 0;
  }
  if (object("upper_log_z")) evaluation.upper_log_z = estimate_from_json(from.at("upper_log_z"));
  if (object("bennett")) evaluation.bennett = estimate_from_json(from.at("bennett"));
  if (from.contains("bounds") && from.at("bounds").is_array())
    for (const ordered_json& each : from.at("bounds"))
      evaluation.bounds.push_back({.draws = whole_number(each.at("draws")), .value = each.at("value")});
  if (from.contains("heavy_rows") && from.at("heavy_rows").is_number()) evaluation.heavy_rows = from.at("heavy_rows");
  if (from.contains("gap") && from.at("gap").is_number()) evaluation.gap = from.at("gap").get<double>();
  if (object("judgement")) evaluation.acceptable = from.at("judgement").value("acceptable_gap", evaluation.acceptable);
  if (from.contains("verdict") && from.at("verdict").is_string()) evaluation.verdict = from.at("verdict");
  if (from.contains("trained_rows") && from.at("trained_rows").is_number())
    evaluation.trained_rows = whole_number(from.at("trained_rows"));
  if (from.contains("trained_rows_note") && from.at("trained_rows_note").is_string())
    evaluation.trained_rows_note = from.at("trained_rows_note");
  return evaluation;
}

std::vector<Evaluation> read_evaluations(const std::filesystem::path& folder) {
  return read_json_lines(RunFolder(folder).evaluations(), evaluation_from_json).values;
}

void record_evaluations(const std::filesystem::path& folder, const std::vector<Evaluation>& evaluations) {
  for (const Evaluation& evaluation : evaluations) require_finite(evaluation);
  change_json_lines(RunFolder(folder).evaluations(), evaluation_from_json, [&](std::vector<Evaluation>& all) {
    for (const Evaluation& evaluation : evaluations) {
      std::erase_if(all, [&](const Evaluation& old) {
        const bool same_model =
            old.updates == evaluation.updates || (old.updates == 0 && old.model == evaluation.model);
        return same_model && same_question(old, evaluation);
      });
      all.push_back(evaluation);
    }
  });
}

void record_evaluation(const std::filesystem::path& folder, const Evaluation& evaluation) {
  record_evaluations(folder, {evaluation});
}

}  // namespace harmonium
