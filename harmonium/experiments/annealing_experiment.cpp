#include "harmonium/experiments/annealing_experiment.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/number_text.h"

namespace harmonium {

namespace {

bool assign_annealing_setting(AnnealingExperiment& experiment, std::string_view key, const toml::node& node,
                              const std::string& where) {
  const auto take = [&, &key = key, &node = node](std::string_view name, auto& field) {
    if (key != name) return false;
    assign_toml(field, node, where);
    return true;
  };
  return take("machine", experiment.machine) || take("model", experiment.model) || take("data", experiment.data) ||
         take("binarize", experiment.binarize) || take("base", experiment.base) ||
         take("raise_from", experiment.raise_from) || take("limit", experiment.limit) ||
         take("shrink_images", experiment.shrink_images) || take("rows", experiment.rows) ||
         take("betas", experiment.betas) || take("methods", experiment.methods) || take("chains", experiment.chains) ||
         take("knots", experiment.knots) || take("raise_rows", experiment.raise_rows) ||
         take("raise_chains", experiment.raise_chains) || take("gap", experiment.gap) || take("seed", experiment.seed);
}

constexpr const char* annealing_settings =
    "machine, model, data, limit, binarize, shrink_images, rows, betas, methods, chains, knots, raise_rows, "
    "raise_chains, raise_from, base, gap, seed";

AnnealingExpectation annealing_expectation(const ExperimentFile& file, const toml::table& table,
                                           const AnnealingExperiment& experiment) {
  AnnealingExpectation result;
  bool of_gap = false, of_error = false;
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    const auto take = [&, &key = key, &node = node](std::string_view name, auto& field) {
      if (key.str() == name) assign_toml(field, node, where);
      return key.str() == name;
    };
    const bool error = take("error_at_least", result.at_least) || take("error_at_most", result.at_most);
    const bool gap =
        take("gap_at_least", result.at_least) || take("gap_at_most", result.at_most) || take("verdict", result.verdict);
    of_error = of_error || error;
    of_gap = of_gap || gap;
    require(
        error || gap || take("method", result.method) || take("betas", result.betas) || take("source", result.source),
        "{}: no such entry; there are: method, betas, error_at_least, error_at_most, gap_at_least, gap_at_most, "
        "verdict, source",
        where);
  }
  const std::string where = format("{}, line {}", file.source, table.source().begin.line);
  require(of_gap != of_error && of_gap == result.method.empty(),
          "{}: an expectation is either about a method (method, and error_at_least or error_at_most) or about AIS and "
          "RAISE together (gap_at_least, gap_at_most or verdict, without method)",
          where);
  require(result.betas > 0, "{}: an expectation needs betas", where);
  require(result.verdict.empty() || result.verdict == "agree" || result.verdict == "differ",
          "{}: verdict = \"{}\": there are agree and differ", where, result.verdict);
  require(of_gap || std::ranges::count(experiment.methods, result.method) > 0,
          "{}: method '{}' is not among the methods of this experiment", where, result.method);
  return result;
}

void check_annealing(const AnnealingExperiment& experiment, const std::string& source) {
  const int models =
      (experiment.train ? 1 : 0) + (experiment.machine.empty() ? 0 : 1) + (experiment.model.empty() ? 0 : 1);
  require(models == 1, "{}: give one model: a table [train], machine = \"far_modes\", or model = \"PATH\"", source);
  require(experiment.machine.empty() || experiment.machine == "far_modes",
          "{}: there is no machine '{}'; there is: far_modes", source, experiment.machine);
  require(!experiment.betas.empty(), "{}: `betas = [10, 100]` must say how many β", source);
  require(std::ranges::is_sorted(experiment.betas, std::ranges::less_equal{}) && experiment.betas.front() >= 1,
          "{}: betas must increase from 1 or more", source);
  require(!experiment.methods.empty(), "{}: methods is empty; there are: ais, ma-ais, raise, reverse", source);
  for (const std::string& method : experiment.methods)
    require(method == "ais" || method == "ma-ais" || method == "raise" || method == "reverse",
            "{}: there is no method '{}'; there are: ais, ma-ais, raise, reverse", source, method);
  for (const std::string& method : experiment.methods)
    require(std::ranges::count(experiment.methods, method) == 1, "{}: method {} is given twice", source, method);
  require(experiment.base == "data" || experiment.base == "uniform", "{}: base = \"{}\": there are data and uniform",
          source, experiment.base);
  require(experiment.raise_from == "data" || experiment.raise_from == "model",
          "{}: raise_from = \"{}\": there are data and model", source, experiment.raise_from);
  require(std::ranges::count(experiment.methods, "ma-ais") == 0 || experiment.betas.front() > experiment.knots,
          "{}: ma-ais needs more β than its {} knots", source, experiment.knots);
  require(experiment.chains >= 1 && experiment.raise_rows >= 1 && experiment.raise_chains >= 1 && experiment.rows >= 1,
          "{}: chains, rows, raise_rows and raise_chains must be 1 or more", source);
}

}  // namespace

std::string AnnealingExpectation::in_words() const {
  const std::string what = method.empty() ? "gap" : "error";
  std::string words;
  if (std::isfinite(at_least) && std::isfinite(at_most))
    words = format("{} from {} to {}", what, short_number(at_least), short_number(at_most));
  else if (std::isfinite(at_least))
    words = format("{} at least {}", what, short_number(at_least));
  else if (std::isfinite(at_most))
    words = format("{} at most {}", what, short_number(at_most));
  if (!verdict.empty()) words += (words.empty() ? "" : ", ") + format("verdict {}", verdict);
  return words;
}

std::string JudgedAnnealing::outcome() const { return !measured ? "not measured" : met ? "met" : "MISSED"; }

std::string JudgedAnnealing::sentence() const {
  const std::string what = expected.method.empty() ? "gap of ais and raise" : expected.method;
  const std::string found = measured ? format("{} {}{}, ", expected.method.empty() ? "gap" : "error",
                                              *measured > 0 ? "+" : "", fixed_number(*measured, 2))
                                     : "";
  return format("{}, {} β: {}expected {}: {}", what, expected.betas, found, expected.in_words(), outcome());
}

std::vector<JudgedAnnealing> judge_expectations(const AnnealingStudy& study,
                                                const std::vector<AnnealingExpectation>& expected) {
  std::vector<JudgedAnnealing> all;
  for (const AnnealingExpectation& each : expected) {
    JudgedAnnealing judged{.expected = each, .measured = std::nullopt};
    bool says = true;
    if (each.method.empty()) {
      if (const std::optional<Sandwich> both = study.sandwich(each.betas)) {
        judged.measured = both->gap();
        // The two words of verdict(): "agree within", "they differ by".
        says = each.verdict.empty() || study.verdict(*both).find(each.verdict) != std::string::npos;
      }
    } else if (const Estimate* log_z = study.find(each.method, each.betas)) {
      judged.measured = study.error(*log_z);
    }
    judged.met = judged.measured && says && *judged.measured >= each.at_least && *judged.measured <= each.at_most;
    all.push_back(judged);
  }
  return all;
}

AnnealingExperiment parse_annealing_experiment(const ExperimentFile& file, bool quick) {
  AnnealingExperiment experiment;
  toml::table shorter;
  const std::vector<std::string_view> elsewhere = {"kind", "title", "question", "expected"};
  for (const auto& [key, node] : file.table) {
    const std::string where = place_in(file.source, key.str(), node);
    if (key.str() == "train")
      assign_config(experiment.train.emplace(), as_table(node, where), file.source);
    else if (key.str() == "quick")
      shorter = as_table(node, where);
    else
      require(std::ranges::find(elsewhere, key.str()) != elsewhere.end() ||
                  assign_annealing_setting(experiment, key.str(), node, where),
              "{}: no such entry of an annealing experiment; there are: {}, and the tables train, quick and expected",
              where, annealing_settings);
  }
  check_annealing(experiment, file.source);
  for (const toml::table* table : tables_of(file, "expected"))
    experiment.expected.push_back(annealing_expectation(file, *table, experiment));
  AnnealingExperiment short_version = experiment;
  for (const auto& [key, node] : shorter) {
    const std::string where = place_in(file.source, key.str(), node);
    require(assign_annealing_setting(short_version, key.str(), node, where),
            "{}: no such entry of [quick]; there are: {}", where, annealing_settings);
  }
  check_annealing(short_version, file.source + ", [quick]");
  return quick ? short_version : experiment;
}

}  // namespace harmonium
