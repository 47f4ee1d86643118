#include "harmonium/cli/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/cli/progress.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/training/files/metrics_log.h"
#include "harmonium/training/files/snapshots.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

// Enumeration beyond this takes longer than most people would call automatic.
constexpr int automatic_bits = 22;

bool is_exact(const JudgeOptions& options, const BoltzmannMachine& machine) {
  const bool exact = options.method == "exact" || (options.method == "auto" && can_enumerate(machine, automatic_bits));
  require(exact || options.method == "ais" || options.method == "auto",
          "unknown method '{}'; there are: auto, exact, ais", options.method);
  return exact;
}

std::int64_t updates_of(const Model& model) {
  const auto note = model.notes.find("updates");
  return note == model.notes.end() ? 0 : std::atoll(note->second.c_str());
}

// A snapshot says it itself; the final model of a run has the same bytes however often the run was resumed, so its
// time stands in the metrics.
double seconds_of(const Model& model, const fs::path& path) {
  if (const auto note = model.notes.find("seconds"); note != model.notes.end()) return std::atof(note->second.c_str());
  double seconds = 0;
  if (fs::is_directory(path))
    for (const MetricsRow& row : MetricsLog(path / "metrics.jsonl").read())
      if (row.update <= updates_of(model)) seconds = row.seconds;
  return seconds;
}

// The snapshots and the final model, which may be the last snapshot over again.
std::vector<fs::path> models_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  const std::vector<SnapshotFile> snapshots = list_snapshots(folder);
  for (const SnapshotFile& snapshot : snapshots) paths.push_back(snapshot.path);
  if (!fs::exists(folder / "model.safetensors")) return paths;
  const std::int64_t last = updates_of(read_model(folder));
  if (!snapshots.empty() && snapshots.back().update == last) paths.pop_back();
  paths.push_back(folder);
  return paths;
}

// An answer to the same question about the same model, found the same way.
const Evaluation* known_answer(const std::vector<Evaluation>& known, const Model& model, const TestData& test,
                               bool exact, const AisOptions& ais) {
  const auto found = std::ranges::find_if(known, [&](const Evaluation& old) {
    const bool same_method =
        exact ? old.log_z.kind == EstimateKind::exact
              : old.log_z.method == "ais" && old.log_z.chains == ais.chains && old.log_z.betas == ais.betas;
    return same_method && old.updates == updates_of(model) && old.data == test.spec && old.n == test.rows &&
           old.binarization == test.binarization && old.log_likelihood.has_value();
  });
  return found == known.end() ? nullptr : &*found;
}

// The observed layers of a machine as the rows of a table set them.
State observed_state(const BoltzmannMachine& machine, const Dataset& data, const std::string& spec) {
  std::vector<at::Tensor> values = {data.to_float()};
  if (machine.observed().size() == 2) {
    require(data.labels.defined(), "evaluate: the model has a label layer, and {} has no labels", spec);
    values.push_back(at::one_hot(data.labels, machine.unit(machine.observed()[1]).width()).to(at::kFloat));
  }
  const std::string complaint = machine.unit(0).complaint(values[0]);
  require(complaint.empty(), "evaluate: {}: {}", spec, complaint);
  return machine.observe(values);
}

std::string protocol_text(Binarization binarization, std::uint64_t seed, int draws) {
  if (binarization != Binarization::stochastic) return to_string(binarization);
  if (draws == 1) return format("stochastic (seed {})", seed);
  return format("stochastic (seeds {}–{})", seed, seed + static_cast<std::uint64_t>(draws) - 1);
}

// With n − 1: draws are a sample of all that could be.
double sample_deviation(const std::vector<double>& values, double mean) {
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

TestData open_test_data(const JudgingData& from, const JudgeOptions& options, const BoltzmannMachine& machine) {
  require(options.draws >= 1, "--draws {}: give the number of draws to average over, 1 or more", options.draws);
  Dataset data = open_dataset(from.spec, {.limit = from.limit, .label_column = options.label_column});
  require(data.columns() == machine.unit(0).width(), "evaluate: {} has {} columns, the model has {} visible units",
          from.spec, data.columns(), machine.unit(0).width());
  const bool binary_units = machine.unit(0).spec().starts_with("bernoulli");
  Binarization binarization = Binarization::none;
  if (options.binarize != "auto")
    binarization = parse_binarization(options.binarize);
  else if (binary_units && !data.is_binary())
    binarization = Binarization::stochastic;
  if (binary_units && binarization == Binarization::none) require_binary(data);
  require(
      options.draws == 1 || binarization == Binarization::stochastic,
      "--draws {}: only stochastic binarization draws anything, and {} is judged with binarization {}; leave --draws "
      "out, or add --binarize stochastic",
      options.draws, from.spec, to_string(binarization));
  const std::uint64_t seed = options.ais.seed;
  TestData test{.spec = from.spec,
                .state = observed_state(machine, binarize(data, binarization, seed), from.spec),
                .rows = data.rows(),
                .binarization = protocol_text(binarization, seed, options.draws),
                .draws = options.draws,
                .seed = seed};
  if (options.draws > 1) test.gray = std::move(data);
  return test;
}

Estimate estimate_log_z(const Model& model, const TestData* test, const JudgeOptions& options,
                        const CommonOptions& common, const std::string& doing) {
  const BoltzmannMachine& machine = model.machine;
  const bool exact = is_exact(options, machine);
  ProgressBar bar((exact ? "enumerating" : "annealing") + doing);
  const Progress progress = [&](std::int64_t done, std::int64_t total) {
    if (interrupted()) throw Interrupted("interrupted; nothing was written");
    bar.show(done, total, 0, "");
  };
  if (exact) return exact_log_z(machine, 30, progress);
  limit_threads(common, static_cast<double>(std::min(options.ais.chains, options.ais.chains_at_once) *
                                            machine.parameters().dimension()));
  const Key key(options.ais.seed);
  Moments base;
  if (!model.data_moments.empty()) {
    base = base_rate_parameters(machine, model.data_moments);
  } else if (test != nullptr) {
    std::vector<std::vector<at::Tensor>> moments;
    for (const std::size_t layer : machine.observed())
      moments.push_back(machine.unit(layer).moments(test->state.layers[layer], {}));
    base = base_rate_parameters(machine, moments);
  } else {
    base = base_rate_parameters(machine, key.fold_in(0xBA5E));
  }
  return ais(machine, base, options.ais, progress).log_z;
}

std::vector<double> mean_log_unnormalized(const BoltzmannMachine& machine, const TestData& test) {
  std::vector<double> means = {log_unnormalized(machine, test.state).mean().item<double>()};
  for (int draw = 1; draw < test.draws; ++draw) {
    const Dataset bits = binarize(test.gray, Binarization::stochastic, test.seed + static_cast<std::uint64_t>(draw));
    means.push_back(log_unnormalized(machine, observed_state(machine, bits, test.spec)).mean().item<double>());
  }
  return means;
}

Evaluation evaluate_model(const std::string& path, const Model& model, const TestData* test, const Estimate& log_z) {
  Evaluation evaluation{.model = path,
                        .updates = updates_of(model),
                        .seconds = seconds_of(model, path),
                        .data = test != nullptr ? test->spec : "",
                        .n = test != nullptr ? test->rows : 0,
                        .binarization = test != nullptr ? test->binarization : "",
                        .draws = test != nullptr ? test->draws : 1,
                        .log_z = log_z,
                        .log_likelihood = std::nullopt};
  if (test != nullptr) {
    const std::vector<double> draws = mean_log_unnormalized(model.machine, *test);
    const double mean = std::accumulate(draws.begin(), draws.end(), 0.0) / static_cast<double>(draws.size());
    evaluation.log_likelihood = log_likelihood(mean, log_z);
    if (draws.size() > 1) evaluation.draw_spread = sample_deviation(draws, mean);
  }
  return evaluation;
}

JudgedRun judge_run(const fs::path& folder, const std::vector<JudgingData>& data, const JudgeOptions& options,
                    const CommonOptions& common) {
  JudgedRun result;
  std::vector<TestData> tests;
  const std::vector<fs::path> paths = models_of(folder);
  require(!paths.empty(), "{} has neither a snapshot nor a final model yet; `harmonium resume {}` goes on with the run",
          folder.string(), folder.string());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const Model model = read_model(paths[i]);
    if (tests.empty())
      for (const JudgingData& each : data) tests.push_back(open_test_data(each, options, model.machine));
    const std::vector<Evaluation> known = read_evaluations(folder);
    const bool exact = is_exact(options, model.machine);
    std::vector<Evaluation> answers;
    for (const TestData& test : tests)
      if (const Evaluation* old = known_answer(known, model, test, exact, options.ais)) answers.push_back(*old);
    if (answers.size() == tests.size()) {
      ++result.known;
    } else {
      const Estimate log_z = estimate_log_z(model, &tests.front(), options, common,
                                            format(" {} of {}, update {}", i + 1, paths.size(), updates_of(model)));
      answers.clear();
      for (const TestData& test : tests) answers.push_back(evaluate_model(paths[i].string(), model, &test, log_z));
      record_evaluations(folder, answers);
      ++result.asked;
    }
    result.evaluations.insert(result.evaluations.end(), answers.begin(), answers.end());
  }
  return result;
}

std::optional<Evaluation> recorded_answer(const fs::path& folder, const Model& model, const TestData& test,
                                          const JudgeOptions& options) {
  const std::vector<Evaluation> known = read_evaluations(folder);
  const Evaluation* old = known_answer(known, model, test, is_exact(options, model.machine), options.ais);
  return old == nullptr ? std::nullopt : std::optional(*old);
}

Evaluation judge_quietly(const fs::path& path, const Model& model, const TestData& test, const JudgeOptions& options,
                         const Progress& progress) {
  const BoltzmannMachine& machine = model.machine;
  const Estimate log_z =
      is_exact(options, machine)
          ? exact_log_z(machine, 30, progress)
          : ais(machine, base_rate_parameters(machine, model.data_moments), options.ais, progress).log_z;
  return evaluate_model(path.string(), model, &test, log_z);
}

std::string in_words(const Estimate& estimate) {
  if (estimate.kind == EstimateKind::exact) return fmt::format("{:.6f} nats  exact", estimate.value);
  return fmt::format("{:.3f} nats  [{:.3f}, {:.3f}]  {}", estimate.value, estimate.low, estimate.high,
                     to_string(estimate.kind));
}

std::string draws_in_words(const Evaluation& evaluation) {
  if (!evaluation.draw_spread) return "";
  return fmt::format(", averaged over {} draws, spread {:.2g} nats", evaluation.draws, *evaluation.draw_spread);
}

bool is_run_folder(const fs::path& folder) { return fs::is_directory(folder) && fs::exists(folder / "config.toml"); }

}  // namespace harmonium::cli
