// kind = "estimators": the laboratory of gradient estimators on a sigmoid belief net with random weights, all of whose
// latent states are enumerated, held against what theory says.
//
//   pixels = 8, latent = [6]    the net; between = [4] puts a deterministic layer between stochastic ones
//   weights = 1.0               standard deviation of all its parameters
//   rows = 4                    random rows of fair bits
//   draws = [2, 5, 10]          K
//   tuples, repetitions, seed   as the flags of `gradients`
//   [[expected]] what = "vimco:5, q: bias", value = 0, tolerance = 1e-9, source = "…"
//
// Numbers are "NAME, p: bias", "NAME, p: signal_to_noise", "NAME, q: …" (p generative, q recognition parameters), and
// "NAME, p: off_log_p", how far the target is from the gradient of log p(x), relative to that.
#include <fmt/core.h>

#include <cmath>

#include "harmonium/experiments/experiment_file.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"
#include "harmonium/sessions/estimator_session.h"

namespace harmonium {

namespace {

struct ExpectedOfEstimator {
  std::string what, source;
  double value = 0, tolerance = 0;
};

struct EstimatorsExperiment {
  std::int64_t pixels = 8, rows = 4;
  std::vector<std::int64_t> latent = {6}, between = {};
  double weights = 1;
  EstimatorStudyOptions study = {};
  std::vector<ExpectedOfEstimator> expected = {};
};

struct EstimatorNumber {
  std::string what;
  double value = 0, error = 0;
  bool exact = false;
};

ExpectedOfEstimator parse_estimator_expectation(const toml::table& table, const std::string& source) {
  ExpectedOfEstimator expected;
  for (const auto& [key, node] : table) {
    const std::string where = place_in(source, key.str(), node);
    if (key == "what")
      assign_toml(expected.what, node, where);
    else if (key == "value")
      assign_toml(expected.value, node, where);
    else if (key == "tolerance")
      assign_toml(expected.tolerance, node, where);
    else if (key == "source")
      assign_toml(expected.source, node, where);
    else
      fail("{}: there are what, value, tolerance and source", where);
  }
  return expected;
}

std::vector<std::int64_t> whole_numbers(const toml::node& node, const std::string& where) {
  std::vector<std::int64_t> numbers;
  require(node.is_array(), "{}: give a list of whole numbers", where);
  for (const toml::node& each : *node.as_array()) {
    require(each.is_integer(), "{}: give a list of whole numbers", where);
    numbers.push_back(each.as_integer()->get());
  }
  return numbers;
}

void assign_estimators(EstimatorsExperiment& experiment, const toml::table& table, const ExperimentFile& file,
                       bool quick) {
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    if (key == "kind" || key == "title" || key == "question") continue;
    if (key == "pixels")
      assign_toml(experiment.pixels, node, where);
    else if (key == "rows")
      assign_toml(experiment.rows, node, where);
    else if (key == "weights")
      assign_toml(experiment.weights, node, where);
    else if (key == "latent")
      experiment.latent = whole_numbers(node, where);
    else if (key == "between")
      experiment.between = whole_numbers(node, where);
    else if (key == "draws")
      experiment.study.draws = whole_numbers(node, where);
    else if (key == "tuples")
      assign_toml(experiment.study.tuples, node, where);
    else if (key == "repetitions")
      assign_toml(experiment.study.repetitions, node, where);
    else if (key == "seed")
      assign_toml(experiment.study.seed, node, where);
    else if (key == "expected" && node.is_array_of_tables())
      for (const toml::node& each : *node.as_array())
        experiment.expected.push_back(parse_estimator_expectation(*each.as_table(), file.source));
    else if (!(key == "quick" && node.is_table()))
      fail(
          "{}: an experiment of kind estimators has pixels, latent, between, weights, rows, draws, tuples, repetitions, "
          "seed, [quick] and [[expected]]",
          where);
  }
  if (const toml::table* shorter = table["quick"].as_table(); quick && shorter != nullptr)
    assign_estimators(experiment, *shorter, file, false);
}

EstimatorResult look_at_random_net(const EstimatorsExperiment& experiment, const SessionOptions& common) {
  const Key key(experiment.study.seed);
  SigmoidBeliefNet net({.visible = format("bernoulli:{}", experiment.pixels),
                        .latent = experiment.latent,
                        .between = experiment.between},
                       at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(experiment.weights * normal(key.fold_in(1).fold_in(i++), value.sizes(), at::kDouble));
  const at::Tensor rows =
      uniform(key.fold_in(2), {experiment.rows, experiment.pixels}, at::kDouble).lt(0.5).to(at::kDouble);
  std::string layers = format("{} pixels", experiment.pixels);
  for (const std::int64_t width : experiment.latent) layers += format(" – {}", width);
  return look_at_estimators(format("a random sigmoid belief net, {}", layers), studied(net), "random bits", rows,
                            experiment.study, common);
}

std::vector<EstimatorNumber> numbers_of(const EstimatorStudy& study) {
  std::vector<EstimatorNumber> all;
  for (const EstimatorFinding& one : study.findings)
    for (const bool recognition : {false, true}) {
      const EstimatorPart& part = recognition ? one.recognition : one.generation;
      if (!part.moved) continue;
      const std::string name = one.name + (recognition ? ", q: " : ", p: ");
      if (!part.target.empty()) all.push_back({name + "bias", part.bias, part.bias_error, part.exact});
      all.push_back({name + "signal_to_noise", part.signal_to_noise, 0, part.exact_noise});
      // Of the target, which is exact.
      if (!recognition && one.off_log_p >= 0) all.push_back({name + "off_log_p", one.off_log_p, 0, true});
    }
  return all;
}

}  // namespace

int reproduce_estimators(const ExperimentFile& file, const ReproduceOptions& options) {
  EstimatorsExperiment experiment;
  assign_estimators(experiment, file.table, file, options.quick);
  watch_interrupts();
  if (!options.common.json) fmt::print(stderr, "{}\n{}\n", file.title, file.question);
  const EstimatorResult result = look_at_random_net(experiment, options.common);
  const std::vector<EstimatorNumber> numbers = numbers_of(result.study);

  Table verdicts{.id = "expected",
                 .title = "What theory says",
                 .caption = "",
                 .header = {"number", "measured", "expected", "allowed", ""},
                 .rows = {}};
  std::size_t met = 0;
  for (const ExpectedOfEstimator& expected : experiment.expected) {
    const auto found = std::ranges::find(numbers, expected.what, &EstimatorNumber::what);
    require(found != numbers.end(), "[[expected]] what = \"{}\": there is no such number", expected.what);
    const bool holds = std::abs(found->value - expected.value) <= expected.tolerance;
    met += holds ? 1 : 0;
    verdicts.rows.push_back({expected.what, format("{:.3g}", found->value), format("{:.3g}", expected.value),
                             format("{:.2g}", expected.tolerance), holds ? "met" : "MISSED"});
  }
  nlohmann::ordered_json measured = nlohmann::ordered_json::array();
  for (const EstimatorNumber& one : numbers) {
    // Estimates of one bound have one mean for p: those of rws stand for all.
    const bool generation = one.what.find(", p: ") != std::string::npos;
    if (generation && !one.what.starts_with("rws") && !one.what.starts_with("bihm")) continue;
    const auto found = std::ranges::find(experiment.expected, one.what, &ExpectedOfEstimator::what);
    const bool asked = found != experiment.expected.end();
    measured.push_back({{"what", one.what},
                        {"value", one.value},
                        {"low", one.value - 1.96 * one.error},
                        {"high", one.value + 1.96 * one.error},
                        {"kind", one.exact ? "exact" : "by draws"},
                        {"expected", asked ? nlohmann::ordered_json(found->value) : nlohmann::ordered_json(nullptr)},
                        {"source", asked ? nlohmann::ordered_json(found->source) : nlohmann::ordered_json(nullptr)}});
  }
  write_estimators(options.out, result);
  ReportContent page = estimator_report(result);
  if (!verdicts.rows.empty()) page.tables.insert(page.tables.begin(), verdicts);
  const nlohmann::ordered_json found = experiment_results(file, options, std::move(measured), experiment.study.seed);
  return publish_experiment(file, options, found, std::move(page), [&] {
    print_estimators(result);
    fmt::print("of {} expected values {} were met\n", experiment.expected.size(), met);
  });
}

}  // namespace harmonium
