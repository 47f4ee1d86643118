#include "harmonium/families/energy_family_model.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/families/implied_covariance.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/shown_range.h"
#include "harmonium/likelihood/free_energy_judging.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/likelihood/usual_chains.h"
#include "harmonium/samplers/hmc.h"

namespace harmonium {

namespace {

constexpr std::int64_t sampling_leapfrog = 10;

}  // namespace

EnergyFamilyModel::EnergyFamilyModel(ModelInfo info, std::shared_ptr<const FreeEnergyModel> energy, Moments theta,
                                     Whitening whitening)
    : Model(std::move(info)),
      energy_(std::move(energy)),
      theta_(std::move(theta)),
      whitening_(std::move(whitening)),
      visible_(make_unit(format("gaussian:{}", energy_->inputs()))) {}

std::string EnergyFamilyModel::title() const { return find_family(info_.family).title; }

std::vector<Model::LayerText> EnergyFamilyModel::layers() const {
  std::vector<LayerText> all = {{.name = "visible", .unit = visible_->spec(), .observed = true}};
  for (LayerText& each : hidden_layers()) all.push_back(std::move(each));
  return all;
}

std::vector<Exhibit> EnergyFamilyModel::exhibits(const ExhibitInput& input) const {
  constexpr std::int64_t most = 96, samples = 60;
  // Columns as they look in the data: a filter of whitened values is shown as the picture that it answers to most
  // among pictures of one probability under the Gaussian.
  std::vector<Exhibit> all;
  for (const Filters& each : filters()) {
    const at::Tensor columns = each.columns.to(at::kDouble).t();
    const at::Tensor order = columns.norm(2, 1).argsort(0, /*descending=*/true);
    const std::int64_t shown = std::min(most, columns.size(0));
    all.push_back({.id = each.id,
                   .title = each.title,
                   .caption = format("{} of {} {}, largest first, in the units of the data. Red adds, blue takes away; "
                                     "{}.",
                                     shown, columns.size(0), each.of, scale_of_filters()),
                   .rows = (whitening_.undo(columns.index_select(0, order.narrow(0, 0, shown))) - whitening_.mean)
                               .to(at::kFloat)
                               .contiguous(),
                   .weights = true,
                   .columns = 12});
  }
  double largest = 0;
  for (const Exhibit& each : all) largest = std::max(largest, each.rows.abs().max().item<double>());
  for (Exhibit& each : all) each.full_colour = largest;
  for (Exhibit& each : own_exhibits(input)) all.push_back(std::move(each));
  if (auto found = covariance_eigenvectors(*energy_, theta_, whitening_, input.train)) all.push_back(std::move(*found));
  if (!energy_->complaint(theta_).empty()) return all;
  all.push_back({.id = "samples",
                 .title = "Samples",
                 .caption = format("{}.", method()),
                 .rows = draw({.count = samples, .sweeps = 300, .seed = 1}),
                 .samples = true});
  return all;
}

std::pair<double, double> EnergyFamilyModel::shown_range() const {
  const at::Tensor deviation =
      whitening_.undo(whitening_.spread * at::eye(energy_->inputs(), at::kDouble)) - whitening_.mean;
  return range_of_values(whitening_.mean, deviation.square().sum(0).sqrt());
}

std::string EnergyFamilyModel::remark() const {
  return "Log-likelihoods are densities, in nats per row and in the units of the data. Numbers in other units are not "
         "comparable.";
}

std::string EnergyFamilyModel::encode_file() const {
  TensorFile file;
  for (const auto& [name, value] : theta_.entries()) file.tensors.emplace_back(name, value.to(at::kCPU, at::kFloat));
  file.tensors.emplace_back("input.mean", whitening_.mean.to(at::kFloat));
  file.tensors.emplace_back("input.whitening", whitening_.matrix.to(at::kFloat).contiguous());
  set_header(file, {.kind = info_.family, .structure = structure(), .image = info_.image, .notes = info_.notes});
  return encode_safetensors(file);
}

void EnergyFamilyModel::check(const EstimationOptions& options) const { check_for_energies(options); }

std::vector<Evaluation> EnergyFamilyModel::judge(const std::vector<const TestData*>& tests,
                                                 const EstimationOptions& options, Watcher& watcher,
                                                 Journal* journal) const {
  at::Tensor rows;
  if (!tests.empty()) rows = whitening_.apply(tests.front()->rows.to_float());
  const Findings findings = find_log_z(*energy_, theta_, rows, options, watcher, journal);
  if (tests.empty()) return {evaluate(nullptr, findings, options.gap)};
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) answers.push_back(evaluate(test, findings, options.gap));
  return answers;
}

Evaluation EnergyFamilyModel::evaluate(const TestData* test, const Findings& findings, double gap) const {
  Evaluation evaluation;
  evaluation.log_z = findings.log_z;
  evaluation.upper_log_z = findings.upper(gap);
  evaluation.bennett = findings.bennett;
  std::optional<double> mean;
  std::string beside;
  if (test != nullptr) {
    evaluation.data = test->spec;
    evaluation.n = test->rows.rows();
    evaluation.binarization = test->binarization;
    evaluation.draws = test->draws;
    const Moments theta = theta_.to(at::kDouble);
    const double volume = whitening_.log_determinant();
    std::vector<double> means;
    at::Tensor log_f;    // of each row, the mean over draws
    double squares = 0;  // of whitened values, the same
    for (int draw = 0; draw < test->draws; ++draw) {
      const at::Tensor values = test->draw(draw).to_float();
      const std::string complaint = visible_->complaint(values);
      require(complaint.empty(), "{}: {}", test->spec, complaint);
      const at::Tensor v = whitening_.apply(values), one = energy_->log_f(v, theta) + volume;
      means.push_back(one.mean().item<double>());
      log_f = draw == 0 ? one : log_f + one;
      squares += v.square().sum(1).mean().item<double>() / test->draws;
    }
    log_f = log_f / test->draws;
    mean = log_f.mean().item<double>();
    if (means.size() > 1) evaluation.draw_spread = at::tensor(means, at::kDouble).std().item<double>();
    evaluation.of_rows = log_f - findings.log_z.value;
    evaluation.log_likelihood = log_likelihood(*mean, findings.log_z);
    if (findings.raise_rows > 0) {
      evaluation.raise = log_likelihood(*mean, *findings.raise);
      evaluation.raise_rows = findings.raise_rows;
    }
    const auto D = static_cast<double>(energy_->inputs());
    const double spread = whitening_.spread;
    const double gaussian =
        volume - 0.5 * squares / (spread * spread) - D * (0.5 * std::log(2 * std::numbers::pi) + std::log(spread));
    if (info_.note("whiten") == "zca")
      beside = format("The Gaussian with the mean and covariance of the training data has {:.2f} nats", gaussian);
  }
  if (evaluation.upper_log_z && findings.log_z.kind == EstimateKind::unbiased_estimate) {
    const Sandwich both{findings.log_z, *evaluation.upper_log_z};
    evaluation.gap = both.gap();
    evaluation.acceptable = gap;
    evaluation.verdict = findings.raise && findings.reverse
                             ? verdict(findings.log_z, *findings.raise, *findings.reverse, mean, gap)
                             : verdict(both, mean, gap);
  } else {
    evaluation.verdict = warning(findings.log_z);
  }
  if (!beside.empty()) evaluation.verdict += (evaluation.verdict.empty() ? "" : ". ") + beside;
  return evaluation;
}

bool EnergyFamilyModel::same_way(const Evaluation& old, const EstimationOptions& options) const {
  return found_the_same_way(old, options, *energy_);
}

bool EnergyFamilyModel::enumerates(const EstimationOptions& options) const {
  return method_for(options, *energy_) == "exact";
}

double EnergyFamilyModel::products(const EstimationOptions& options, bool) const {
  return products(chains_of(options));
}

double EnergyFamilyModel::products(std::int64_t count) const {
  return 2 * static_cast<double>(count * theta_.dimension());
}

bool EnergyFamilyModel::draws_exactly() const {
  constexpr double most_work = 1e9;
  return energy_->has_exact_draws() && energy_->exact_work().value_or(2 * most_work) <= most_work;
}

std::string EnergyFamilyModel::method() const {
  if (draws_exactly()) return "exact draws: a state of all hidden units, then the values";
  return prefers_gibbs() ? "Gibbs sampling" : "Hamiltonian Monte Carlo";
}

at::Tensor EnergyFamilyModel::draw(const Request& request) const {
  const Key key(request.seed);
  const Moments theta = theta_.to(at::kDouble);
  const std::string complaint = energy_->complaint(theta);
  require(complaint.empty(), "this model cannot be sampled: {}", complaint);
  at::Tensor v;
  if (draws_exactly()) {
    v = energy_->exact_draws(theta, key, request.count);
  } else if (prefers_gibbs()) {
    v = energy_->base_draws(theta, key.fold_in(0), request.count);
    for (std::int64_t i = 0; i < request.sweeps; ++i) {
      energy_->gibbs_(v, theta, key.fold_in(2).fold_in(static_cast<std::uint64_t>(i)));
      request.progress(i + 1, request.sweeps);
    }
  } else {
    const HmcTarget target = hmc_target(*energy_, theta);
    v = energy_->base_draws(theta, key.fold_in(0), request.count);
    const double step = find_hmc_step(target, v, 0.1, sampling_leapfrog, key.fold_in(1));
    for (std::int64_t i = 0; i < request.sweeps; ++i) {
      (void)hmc(target, v, step, sampling_leapfrog, key.fold_in(2).fold_in(static_cast<std::uint64_t>(i)));
      request.progress(i + 1, request.sweeps);
    }
  }
  return whitening_.undo(v).to(at::kFloat).contiguous();
}

std::vector<std::string> EnergyFamilyModel::code_layers() const {
  std::vector<std::string> names;
  for (const LayerText& each : hidden_layers()) names.push_back(each.name);
  return names;
}

at::Tensor EnergyFamilyModel::encode(const at::Tensor& rows, std::size_t layer) const {
  return energy_->features(whitening_.apply(rows).to(at::kFloat), theta_.to(at::kFloat)).at(layer).second;
}

}  // namespace harmonium
