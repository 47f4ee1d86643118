#include "harmonium/families/machine_density.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/core/error.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/likelihood/log_marginal.h"

namespace harmonium {

namespace {

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

// Mean log f over the rows of each draw, and how it was found: of all draws, the worst. One draw is in memory at a
// time.
struct MeanMarginal {
  std::vector<double> draws;
  LogMarginal how;  // without its numbers
};

MeanMarginal mean_log_marginal(const BoltzmannMachine& machine, const TestData& test) {
  // Minutes for who asks for one number; mean field to where it settles, which training does not wait for.
  constexpr MarginalOptions options{.most_work = 1e11, .mean_field = {.most_sweeps = 1000, .tolerance = 1e-5}};
  MeanMarginal result;
  for (int draw = 0; draw < test.draws; ++draw) {
    LogMarginal one = log_marginal(machine, observed_state(machine, test.draw(draw), test.spec), options);
    result.draws.push_back(one.log_f.mean().item<double>());
    one.log_f.reset();
    one.sweeps = std::max(one.sweeps, result.how.sweeps);
    one.change = std::max(one.change, result.how.change);
    one.converged = one.converged && result.how.converged;
    result.how = std::move(one);
  }
  return result;
}

}  // namespace

State observed_state(const BoltzmannMachine& machine, const Dataset& rows, const std::string& spec) {
  std::vector<at::Tensor> values = {rows.to_float()};
  if (machine.observed().size() == 2) {
    require(rows.labels.defined(), "the model has a label layer, and {} has no labels", spec);
    values.push_back(at::one_hot(rows.labels, machine.unit(machine.observed()[1]).width()).to(at::kFloat));
  }
  const std::string complaint = machine.unit(0).complaint(values[0]);
  require(complaint.empty(), "{}: {}", spec, complaint);
  return machine.observe(values);
}

Findings find_log_z(const TrainedMachine& model, const State* rows, const EstimationOptions& options, Watcher& watcher,
                    Journal* journal) {
  std::optional<TrainedMachine> base;
  if (options.base != "data" && options.base != "uniform") base = read_machine(options.base);
  return find_log_z(
      {.machine = model.machine, .data_moments = model.data_moments, .base = base ? &base->machine : nullptr}, rows,
      options, watcher, journal);
}

std::vector<Evaluation> MachineDensity::judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const {
  std::optional<State> rows;
  if (!tests.empty()) rows = observed_state(model_.machine, tests.front()->rows, tests.front()->spec);
  const Findings findings = find_log_z(model_, rows ? &*rows : nullptr, options, watcher, journal);
  if (tests.empty()) return {evaluate(nullptr, findings, options.gap)};
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) answers.push_back(evaluate(test, findings, options.gap));
  return answers;
}

bool MachineDensity::enumerates(const EstimationOptions& options) const {
  return method_for(options, model_.machine) == "exact";
}

double MachineDensity::products(const EstimationOptions& options, bool with_data) const {
  const std::int64_t rows = std::max(options.chains, with_data ? options.raise_rows * options.raise_chains : 0);
  return static_cast<double>(rows * model_.machine.parameters().dimension());
}

bool MachineDensity::same_way(const Evaluation& old, const EstimationOptions& options) const {
  return found_the_same_way(old, options, model_.machine);
}

Evaluation MachineDensity::evaluate(const TestData* test, const Findings& findings, double gap) const {
  Evaluation evaluation;
  evaluation.log_z = findings.log_z;
  if (!model_.machine.device().is_cpu() && findings.log_z.kind != EstimateKind::exact)
    evaluation.device = format("cuda, precision {}", device_precision() == Precision::fast ? "fast" : "exact");
  evaluation.upper_log_z = findings.upper(gap);
  std::optional<double> mean;
  if (test != nullptr) {
    evaluation.data = test->spec;
    evaluation.n = test->rows.rows();
    evaluation.binarization = test->binarization;
    evaluation.draws = test->draws;
    const MeanMarginal marginal = mean_log_marginal(model_.machine, *test);
    const std::vector<double>& draws = marginal.draws;
    if (model_.machine.hidden_joined()) evaluation.hidden = hidden_layers(marginal.how);
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
    evaluation.acceptable = gap;
    evaluation.verdict = findings.raise && findings.reverse
                             ? verdict(findings.log_z, *findings.raise, *findings.reverse, shown, gap)
                             : verdict(both, shown, gap);
    if (bound)
      evaluation.verdict += format(". With the larger log Z the log-likelihood is at least {:.2f}",
                                   *mean - std::max(evaluation.upper_log_z->value, findings.log_z.value));
  } else {
    evaluation.verdict = warning(findings.log_z);
  }
  if (evaluation.hidden && !evaluation.hidden->converged)
    evaluation.verdict += format("{}Mean field has not settled after {} sweeps: its bound holds, and could be tighter",
                                 evaluation.verdict.empty() ? "" : ". ", evaluation.hidden->sweeps);
  return evaluation;
}

}  // namespace harmonium
