#include "harmonium/cli/evaluate_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/training/files/metrics_log.h"

namespace harmonium::cli {

namespace {

// A snapshot says it itself; the final model of a run has the same bytes however often the run was resumed, so its
// time stands in the metrics.
double seconds_of(const Model& model, const std::filesystem::path& path) {
  if (const auto note = model.notes.find("seconds"); note != model.notes.end()) return std::atof(note->second.c_str());
  double seconds = 0;
  if (std::filesystem::is_directory(path))
    for (const MetricsRow& row : MetricsLog(path / "metrics.jsonl").read())
      if (row.update <= updates_of(model)) seconds = row.seconds;
  return seconds;
}

HiddenLayers hidden_layers(const LogMarginal& how) {
  return {
      .method = how.method, .exact = how.exact, .sweeps = how.sweeps, .change = how.change, .converged = how.converged};
}

// With n − 1: draws are a sample of all that could be.
double sample_deviation(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

std::int64_t updates_of(const Model& model) {
  const auto note = model.notes.find("updates");
  return note == model.notes.end() ? 0 : std::atoll(note->second.c_str());
}

Evaluation evaluate_model(const std::string& path, const Model& model, const TestData* test, const Findings& findings,
                          double gap) {
  Evaluation evaluation;
  evaluation.model = path;
  evaluation.updates = updates_of(model);
  evaluation.seconds = seconds_of(model, path);
  evaluation.log_z = findings.log_z;
  if (!model.machine.device().is_cpu() && findings.log_z.kind != EstimateKind::exact)
    evaluation.device = format("cuda, precision {}", device_precision() == Precision::fast ? "fast" : "exact");
  evaluation.upper_log_z = findings.upper(gap);
  std::optional<double> mean;
  if (test != nullptr) {
    evaluation.data = test->spec;
    evaluation.n = test->rows;
    evaluation.binarization = test->binarization;
    evaluation.draws = test->draws;
    const MeanMarginal marginal = mean_log_marginal(model.machine, *test);
    const std::vector<double>& draws = marginal.draws;
    if (model.machine.hidden_joined()) evaluation.hidden = hidden_layers(marginal.how);
    mean = std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
    evaluation.log_likelihood = log_likelihood(*mean, findings.log_z, marginal.how.exact);
    if (draws.size() > 1) evaluation.draw_spread = sample_deviation(draws, *mean);
    if (findings.raise_rows > 0) {
      evaluation.raise = log_likelihood(*mean, *findings.raise, marginal.how.exact);
      evaluation.raise_rows = findings.raise_rows;
    }
  }
  if (evaluation.upper_log_z && findings.log_z.kind == EstimateKind::unbiased_estimate) {
    const Sandwich both{findings.log_z, *evaluation.upper_log_z};
    const bool bound = evaluation.hidden && !evaluation.hidden->exact;
    // What can be trusted is then log Z, and the log-likelihood is somewhere above.
    const std::optional<double> shown = bound ? std::nullopt : mean;
    evaluation.gap = both.gap();
    evaluation.verdict = findings.raise && findings.reverse
                             ? verdict(findings.log_z, *findings.raise, *findings.reverse, shown, gap)
                             : verdict(both, shown, gap);
    if (bound)
      evaluation.verdict += fmt::format(". With the larger log Z the log-likelihood is at least {:.2f}",
                                        *mean - std::max(evaluation.upper_log_z->value, findings.log_z.value));
  } else {
    evaluation.verdict = warning(findings.log_z);
  }
  if (evaluation.hidden && !evaluation.hidden->converged)
    evaluation.verdict +=
        fmt::format("{}Mean field has not settled after {} sweeps: its bound holds, and could be tighter",
                    evaluation.verdict.empty() ? "" : ". ", evaluation.hidden->sweeps);
  return evaluation;
}

}  // namespace harmonium::cli
