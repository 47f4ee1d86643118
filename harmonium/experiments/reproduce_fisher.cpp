// kind = "fisher": a look at the Fisher information of a model, held against expected numbers.
//
//   model = "reference/rbm_196x20.npz"   path, or below the folders in which data sets are looked for
//   measure = "approximations"           or "spectrum": what the expected numbers are about
//   random_draws, eigenvectors, seed     as the flags of `fisher`
//   [[expected]] what = "fang", value = 548.1, tolerance = 0.5, source = "…";  what = "eigenvalue 1" for a spectrum
#include <fmt/core.h>

#include "harmonium/experiments/experiment_file.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/sessions/fisher_session.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

struct ExpectedNumber {
  std::string what, source;
  double value = 0, tolerance = 0;
};

struct FisherExperiment {
  std::string model, measure = "approximations";
  FisherOptions options;
  std::vector<ExpectedNumber> expected = {};
};

struct MeasuredNumber {
  std::string what, text;
  double value = 0, low = 0, high = 0;
  const ExpectedNumber* expected = nullptr;

  [[nodiscard]] bool met() const { return std::abs(value - expected->value) <= expected->tolerance; }
};

ExpectedNumber parse_expected(const toml::table& table, const std::string& source) {
  ExpectedNumber expected;
  for (const auto& [key, node] : table) {
    const std::string where = place_in(source, key.str(), node);
    if (key == "what") {
      assign_toml(expected.what, node, where);
    } else if (key == "value") {
      assign_toml(expected.value, node, where);
    } else if (key == "tolerance") {
      assign_toml(expected.tolerance, node, where);
    } else if (key == "source") {
      assign_toml(expected.source, node, where);
    } else {
      fail("{}: there are what, value, tolerance and source", where);
    }
  }
  return expected;
}

void assign_fisher(FisherExperiment& experiment, const toml::table& table, const ExperimentFile& file, bool quick) {
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    if (key == "kind" || key == "title" || key == "question") continue;
    if (key == "model") {
      assign_toml(experiment.model, node, where);
    } else if (key == "measure") {
      assign_toml(experiment.measure, node, where);
    } else if (key == "random_draws") {
      assign_toml(experiment.options.random_draws, node, where);
    } else if (key == "eigenvectors") {
      assign_toml(experiment.options.eigenvectors, node, where);
    } else if (key == "seed") {
      assign_toml(experiment.options.seed, node, where);
    } else if (key == "quick" && node.is_table()) {
      continue;  // below, so that it comes last
    } else if (key == "expected" && node.is_array_of_tables()) {
      for (const toml::node& each : *node.as_array())
        experiment.expected.push_back(parse_expected(*each.as_table(), file.source));
    } else {
      fail(
          "{}: an experiment of kind fisher has model, measure, random_draws, eigenvectors, seed, [quick] and "
          "[[expected]]",
          where);
    }
  }
  if (const toml::table* shorter = table["quick"].as_table(); quick && shorter != nullptr)
    assign_fisher(experiment, *shorter, file, false);
}

std::vector<MeasuredNumber> measure(const FisherResult& result, const FisherExperiment& experiment) {
  std::vector<MeasuredNumber> numbers;
  if (experiment.measure == "approximations")
    for (const Approximation& one : result.approximations)
      numbers.push_back({one.name, format("KL of {}, {} parameters", describe_approximation(one.name), one.parameters),
                         one.divergence, one.low, one.high});
  else
    for (std::int64_t k = 0; k < std::min<std::int64_t>(20, result.eigenvalues.size(0)); ++k) {
      const double value = result.eigenvalues[k].item<double>();
      numbers.push_back({format("eigenvalue {}", k + 1),
                         format("eigenvalue {} ({:.3f} of its change is in covariances)", k + 1,
                                result.covariance_fractions[k].item<double>()),
                         value, value, value});
    }
  for (const ExpectedNumber& expected : experiment.expected) {
    const auto found = std::ranges::find(numbers, expected.what, &MeasuredNumber::what);
    require(found != numbers.end(), "[[expected]] what = \"{}\": there is no such number", expected.what);
    found->expected = &expected;
  }
  return numbers;
}

nlohmann::ordered_json results_json(const ExperimentFile& file, const ReproduceOptions& options,
                                    const FisherExperiment& experiment, const std::vector<MeasuredNumber>& numbers) {
  using nlohmann::ordered_json;
  ordered_json measured = ordered_json::array();
  for (const MeasuredNumber& one : numbers)
    measured.push_back(
        {{"what", one.text},
         {"value", one.value},
         {"low", one.low},
         {"high", one.high},
         {"kind", one.low == one.high ? "exact" : "mean of draws, least and greatest"},
         {"expected", one.expected != nullptr ? ordered_json(one.expected->value) : ordered_json(nullptr)},
         {"source", one.expected != nullptr ? ordered_json(one.expected->source) : ordered_json(nullptr)}});
  return experiment_results(file, options, std::move(measured), experiment.options.seed);
}

}  // namespace

int reproduce_fisher(const ExperimentFile& file, const ReproduceOptions& options) {
  FisherExperiment experiment;
  assign_fisher(experiment, file.table, file, options.quick);
  require(experiment.measure == "approximations" || experiment.measure == "spectrum",
          "{}: measure = \"{}\": there are approximations and spectrum", file.source, experiment.measure);
  experiment.options.approximations = experiment.measure == "approximations";
  const fs::path path = find_experiment_model(experiment.model);
  watch_interrupts();
  if (!options.common.json) fmt::print(stderr, "{}\n{}\n", file.title, file.question);
  const FisherResult result =
      look_at_fisher(path.filename().string(), read_machine(path), experiment.options, options.common);
  const std::vector<MeasuredNumber> numbers = measure(result, experiment);

  write_fisher(options.out, result);
  ReportContent page = fisher_report(result);
  Table verdicts{.id = "expected",
                 .title = "Comparison with expected values",
                 .caption = "",
                 .header = {"number", "measured", "expected", "difference", "allowed", ""},
                 .rows = {}};
  std::int64_t met = 0, asked = 0;
  for (const MeasuredNumber& one : numbers) {
    if (one.expected == nullptr) continue;
    ++asked;
    met += one.met() ? 1 : 0;
    verdicts.rows.push_back({one.what, format("{:.2f}", one.value), format("{:.2f}", one.expected->value),
                             format("{:+.2f}", one.value - one.expected->value),
                             format("{:.2f}", one.expected->tolerance), one.met() ? "met" : "MISSED"});
  }
  if (asked > 0) page.tables.insert(page.tables.begin(), verdicts);
  return publish_experiment(file, options, results_json(file, options, experiment, numbers), std::move(page), [&] {
    print_fisher(result);
    for (const auto& row : verdicts.rows)
      fmt::print("{:<16} {:>10}  expected {:>10} ± {:<6} {}\n", row[0], row[1], row[2], row[4], row[5]);
    fmt::print("of {} expected values {} were met\n", asked, met);
  });
}

}  // namespace harmonium
