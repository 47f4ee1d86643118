#include "harmonium/families/machine_density.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/likelihood/log_marginal.h"
#include "harmonium/likelihood/missing_values.h"
#include "harmonium/likelihood/usual_chains.h"

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
  LogMarginal how;            // without its numbers
  at::Tensor of_rows;         // log f of each row, the mean over draws
  std::optional<double> gap;  // of annealed rows: upper less lower side, the mean over draws
};

MeanMarginal mean_log_marginal(const BoltzmannMachine& machine, const TestData& test,
                               const std::optional<RowAnnealingOptions>& annealing, std::uint64_t seed) {
  // Minutes for who asks for one number; mean field to where it settles, which training does not wait for.
  MarginalOptions options{.most_work = 1e11, .mean_field = {.most_sweeps = 1000, .tolerance = 1e-5}};
  options.annealing = annealing;
  MeanMarginal result;
  if (test.rows.missing > 0) {
    result.of_rows = log_unnormalized_of_known(machine, test.rows.to_float());
    result.draws = {result.of_rows.mean().item<double>()};
    result.how.exact = true;
    return result;
  }
  for (int draw = 0; draw < test.draws; ++draw) {
    options.key = Key(seed).fold_in(0x4A11).fold_in(static_cast<std::uint64_t>(draw));
    LogMarginal one = log_marginal(machine, observed_state(machine, test.draw(draw), test.spec), options);
    result.draws.push_back(one.log_f.mean().item<double>());
    const at::Tensor share = on_cpu(one.log_f).to(at::kDouble) / static_cast<double>(test.draws);
    result.of_rows = draw == 0 ? share : result.of_rows + share;
    if (one.at_most.defined())
      result.gap = result.gap.value_or(0) + (one.at_most - one.log_f).mean().item<double>() / test.draws;
    one.log_f.reset();
    one.at_most.reset();
    one.sweeps = std::max(one.sweeps, result.how.sweeps);
    one.change = std::max(one.change, result.how.change);
    one.converged = one.converged && result.how.converged;
    result.how = std::move(one);
  }
  return result;
}

}  // namespace

bool sums_out_missing(const BoltzmannMachine& machine) {
  return machine.observed().size() == 1 && !machine.hidden_joined() && machine.device().is_cpu() &&
         machine.unit(machine.observed().front()).support() == Unit::Support::bits;
}

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
  // Annealing from rows of the data needs all of their values.
  if (!tests.empty() && tests.front()->rows.missing == 0)
    rows = observed_state(model_.machine, tests.front()->rows, tests.front()->spec);
  const Findings findings = find_log_z(model_, rows ? &*rows : nullptr, options, watcher, journal);
  if (tests.empty()) return {evaluate(nullptr, findings, options, watcher)};
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) answers.push_back(evaluate(test, findings, options, watcher));
  return answers;
}

bool MachineDensity::enumerates(const EstimationOptions& options) const {
  return method_for(options, model_.machine) == "exact";
}

double MachineDensity::products(const EstimationOptions& options, bool with_data) const {
  const std::int64_t rows = std::max(chains_of(options), with_data ? options.raise_rows * options.raise_chains : 0);
  return static_cast<double>(rows * model_.machine.parameters().dimension());
}

bool MachineDensity::same_way(const Evaluation& old, const EstimationOptions& options) const {
  if (old.hidden && !old.hidden->exact && old.hidden->gap.has_value() != anneals_rows(options)) return false;
  return found_the_same_way(old, options, model_.machine);
}

bool MachineDensity::anneals_rows(const EstimationOptions& options) const {
  if (!model_.machine.hidden_joined() || options.rows_by == "mean_field") return false;
  return options.rows_by == "ais" || model_.notes.contains("inference");
}

Evaluation MachineDensity::evaluate(const TestData* test, const Findings& findings, const EstimationOptions& options,
                                    Watcher& watcher) const {
  const double gap = options.gap;
  Evaluation evaluation;
  evaluation.log_z = findings.log_z;
  if (!model_.machine.device().is_cpu() && findings.log_z.kind != EstimateKind::exact)
    evaluation.device = format("cuda, precision {}", device_precision() == Precision::fast ? "fast" : "exact");
  evaluation.upper_log_z = findings.upper(gap);
  evaluation.bennett = findings.bennett;
  std::optional<double> mean;
  if (test != nullptr) {
    evaluation.data = test->spec;
    evaluation.n = test->rows.rows();
    evaluation.binarization = test->binarization;
    evaluation.draws = test->draws;
    // Where many models are judged, a tenth of the steps must do.
    std::optional<RowAnnealingOptions> annealing;
    if (anneals_rows(options))
      annealing = RowAnnealingOptions{
          .chains = options.row_chains,
          .betas = options.thorough ? options.row_betas : std::max<std::int64_t>(1, options.row_betas / 10),
          .progress = watcher.begin(format("annealing {} rows", test->rows.rows()))};
    const MeanMarginal marginal = mean_log_marginal(model_.machine, *test, annealing, options.seed);
    const std::vector<double>& draws = marginal.draws;
    evaluation.of_rows = marginal.of_rows - findings.log_z.value;
    if (model_.machine.hidden_joined()) evaluation.hidden = hidden_layers(marginal.how);
    if (marginal.gap) {
      evaluation.hidden->chains = annealing->chains;
      evaluation.hidden->betas = annealing->betas;
      evaluation.hidden->gap = marginal.gap;
    }
    const bool bounded = evaluation.hidden && evaluation.hidden->bounds();
    mean = std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
    evaluation.log_likelihood = log_likelihood(*mean, findings.log_z, !bounded);
    if (marginal.gap) {
      // Rows are bounded from below in expectation, and by the gap from above.
      evaluation.log_likelihood->high += std::max(0.0, *marginal.gap);
      evaluation.log_likelihood->method = "rows by annealing, " + findings.log_z.method;
      if (findings.log_z.kind == EstimateKind::exact) evaluation.log_likelihood->kind = EstimateKind::lower_bound;
    }
    if (draws.size() > 1) evaluation.draw_spread = sample_deviation(draws, *mean);
    if (findings.raise_rows > 0) {
      evaluation.raise = log_likelihood(*mean, *findings.raise, !bounded);
      evaluation.raise_rows = findings.raise_rows;
    }
  }
  if (evaluation.upper_log_z && findings.log_z.kind == EstimateKind::unbiased_estimate) {
    const Sandwich both{findings.log_z, *evaluation.upper_log_z};
    const bool bound = evaluation.hidden && evaluation.hidden->bounds();
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
