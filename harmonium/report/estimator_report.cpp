#include "harmonium/report/estimator_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

// What float64 leaves of a bias that is zero, and more.
constexpr double rounding = 1e-9;

const EstimatorPart& part_of(const EstimatorFinding& one, bool recognition) {
  return recognition ? one.recognition : one.generation;
}

bool has_target(const EstimatorPart& part) { return part.moved && !part.target.empty(); }

std::string bias_text(const EstimatorPart& part) {
  if (!has_target(part)) return "–";
  if (part.exact) return part.bias < rounding ? "0" : format("{:.3g}", part.bias);
  return format("{:.2g} ± {:.2g}", part.bias, part.bias_error);
}

nlohmann::ordered_json part_json(const EstimatorPart& part) {
  if (!part.moved) return nullptr;
  nlohmann::ordered_json json;
  json["target"] = part.target.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(part.target);
  if (has_target(part)) {
    json["target_norm"] = part.target_norm;
    json["relative_bias"] = part.bias;
    json["relative_standard_error"] = part.bias_error;
    json["largest_deviation"] = part.worst;
    json["mean"] = part.exact ? "exact" : "drawn";
  }
  json["variance"] = part.variance;
  json["variance_is"] = part.exact_noise ? "exact" : "drawn";
  json["signal_to_noise"] = part.signal_to_noise;
  return json;
}

// "vimco" of "vimco:5".
std::string kind_of(const std::string& name) {
  const std::size_t colon = name.find(':'), comma = name.find(',');
  return name.substr(0, colon) + (comma == std::string::npos ? "" : name.substr(comma));
}

// A curve for every kind of estimator that has several numbers of draws.
template <class Value>
std::vector<Series> against_draws(const EstimatorResult& result, const Value& value) {
  std::vector<std::string> order;
  std::map<std::string, Series> curves;
  for (const EstimatorFinding& one : result.study.findings) {
    const double y = value(one);
    if (!std::isfinite(y) || one.name.find("baseline") != std::string::npos) continue;
    Series& curve = curves[kind_of(one.name)];
    if (curve.x.empty()) {
      curve.name = kind_of(one.name);
      order.push_back(curve.name);
    }
    curve.x.push_back(static_cast<double>(one.draws));
    curve.y.push_back(y);
  }
  std::vector<Series> drawn;
  for (const std::string& name : order)
    if (curves[name].x.size() > 1) drawn.push_back(curves[name]);
  return drawn;
}

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

Chart bias_chart(const EstimatorResult& result) {
  return {
      .id = "bias",
      .title = "Bias of recognition's gradient against the number of draws",
      .x_label = "draws K",
      .y_label = "‖mean − target‖ / ‖target‖",
      .log_x = true,
      .log_y = true,
      .series = against_draws(result,
                              [](const EstimatorFinding& one) {
                                const EstimatorPart& part = one.recognition;
                                return has_target(part) && part.bias > std::max(rounding, 5 * part.bias_error)
                                           ? part.bias
                                           : nothing;
                              }),
      .caption =
          "Estimates whose bias is not zero: exact, or above five standard errors. Unbiased ones have no place on a "
          "logarithmic axis."};
}

Chart likelihood_chart(const EstimatorResult& result) {
  return {.id = "off_log_p",
          .title = "Distance of the generative gradient from that of log p(x)",
          .x_label = "draws K",
          .y_label = "‖target − ∇ log p(x)‖ / ‖∇ log p(x)‖",
          .log_x = true,
          .log_y = true,
          .series = against_draws(
              result, [](const EstimatorFinding& one) { return one.off_log_p > 0 ? one.off_log_p : nothing; }),
          .caption =
              "An unbiased estimate of a bound's gradient is a biased one of the log-likelihood's, less so the "
              "tighter the bound is. iwae, vimco and rws share one curve."};
}

Chart noise_chart(const EstimatorResult& result, bool recognition) {
  return {.id = recognition ? "noise_q" : "noise_p",
          .title = format("Signal-to-noise, {} parameters", recognition ? "recognition" : "generative"),
          .x_label = "draws K",
          .y_label = "‖mean‖ / standard deviation",
          .log_x = true,
          .log_y = true,
          .series = against_draws(result,
                                  [&](const EstimatorFinding& one) {
                                    const double ratio = part_of(one, recognition).signal_to_noise;
                                    return ratio > rounding ? ratio : nothing;
                                  }),
          .caption = "Of an estimate for one row with K draws. A batch of n rows has √n times as much."};
}

}  // namespace

std::string how_measured(const EstimatorResult& result) {
  return result.study.enumerated ? format("all {} latent states enumerated", result.study.states)
                                 : format("{} estimates of each", result.repetitions);
}

nlohmann::ordered_json to_json(const EstimatorResult& result) {
  nlohmann::ordered_json json;
  json["model"] = result.model;
  json["data"] = result.data;
  json["rows"] = result.study.rows;
  json["method"] = result.study.enumerated ? "enumerated" : "drawn";
  json["states"] =
      result.study.enumerated ? nlohmann::ordered_json(result.study.states) : nlohmann::ordered_json(nullptr);
  json["seed"] = result.seed;
  json["estimators"] = nlohmann::ordered_json::array();
  for (const EstimatorFinding& one : result.study.findings)
    json["estimators"].push_back(
        {{"name", one.name},
         {"draws", one.draws},
         {"passes", one.passes},
         {"generation", part_json(one.generation)},
         {"recognition", part_json(one.recognition)},
         {"distance_to_log_likelihood",
          one.off_log_p < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(one.off_log_p)}});
  return json;
}

Table estimator_table(const EstimatorResult& result, bool recognition) {
  const bool known = result.study.enumerated && !recognition;
  Table table{
      .id = recognition ? "recognition" : "generation",
      .title = recognition ? "Recognition parameters" : "Generative parameters",
      .caption =
          "Bias is ‖mean − target‖/‖target‖. One number: exact, and 0 means below 1e-9. With ±: measured, and ± "
          "is what an unbiased estimate would show. Variance and signal-to-noise are of one estimate for one "
          "row, variances summed over parameters.",
      .header = {"estimator", "K", "target", "bias", "variance", "signal/noise", "passes"},
      .rows = {}};
  if (known) table.header.insert(table.header.begin() + 4, "off ∇log p");
  for (const EstimatorFinding& one : result.study.findings) {
    const EstimatorPart& part = part_of(one, recognition);
    if (!part.moved) continue;
    std::vector<std::string> row = {one.name,
                                    format("{}", one.draws),
                                    part.target.empty() ? "–" : part.target,
                                    bias_text(part),
                                    format("{:.3g}", part.variance),
                                    part.signal_to_noise < rounding ? "0" : format("{:.3g}", part.signal_to_noise),
                                    format("{:g}", one.passes)};
    if (known) row.insert(row.begin() + 4, one.off_log_p < 0 ? "–" : format("{:.3g}", one.off_log_p));
    table.rows.push_back(std::move(row));
  }
  return table;
}

ReportContent estimator_report(const EstimatorResult& result) {
  ReportContent content;
  content.title = "Gradient estimators of " + result.model;
  content.subtitle = format("{} rows of {}", result.study.rows, result.data);
  content.headline.emplace_back("method", how_measured(result));
  content.tables = {estimator_table(result, false), estimator_table(result, true)};
  for (Chart& chart : std::vector<Chart>{bias_chart(result), likelihood_chart(result), noise_chart(result, false),
                                         noise_chart(result, true)})
    if (!chart.series.empty()) content.charts.push_back(std::move(chart));
  content.footer =
      "L_K is the bound with K draws, L_1 the ELBO; B_K is that of the bidirectional Helmholtz machine. The baseline "
      "`net` is the best function of the layer below; running means and variances are those they converge to. Passes "
      "are through both nets, for one row.";
  return content;
}

}  // namespace harmonium
