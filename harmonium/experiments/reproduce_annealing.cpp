// kind = "annealing"; annealing_experiment.h lists its keys. What is measured is kept line by line in measured.jsonl.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/number_text.h"
#include "harmonium/experiments/annealing_subject.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/likelihood/moment_averaging.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/samplers/exact_sample.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/progress.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// Answers by question, on disk from the moment they are known.
class Measured {
 public:
  explicit Measured(fs::path path) : path_(std::move(path)) {
    if (!fs::exists(path_)) return;
    std::istringstream lines(read_file(path_));
    for (std::string line; std::getline(lines, line);) lines_.push_back(nlohmann::ordered_json::parse(line));
  }
  [[nodiscard]] std::optional<Estimate> find(const std::string& question) const {
    for (const nlohmann::ordered_json& line : lines_)
      if (line.at("question") == question) return *evaluation_from_json(line).log_z;
    return std::nullopt;
  }
  void add(const std::string& question, const Estimate& log_z) {
    Evaluation evaluation;
    evaluation.log_z = log_z;
    nlohmann::ordered_json line = to_json(evaluation);
    line["question"] = question;
    lines_.push_back(std::move(line));
    std::string text;
    for (const nlohmann::ordered_json& each : lines_) text += each.dump() + "\n";
    fs::create_directories(path_.parent_path());
    write_file_atomically(path_, text);
  }

 private:
  fs::path path_;
  std::vector<nlohmann::ordered_json> lines_;
};

// The estimators on one model. Ctrl-C throws Interrupted.
class Estimators {
 public:
  Estimators(const AnnealingExperiment& experiment, const AnnealingSubject& subject, const fs::path& out)
      : experiment_(experiment),
        subject_(subject),
        base_(subject.base(experiment)),
        knots_(out / "knots" /
                   question_digest(machine().parameters(), format("{} {} {} {}", experiment.knots, experiment.seed,
                                                                  subject.data, base_.description())),
               std::chrono::seconds(0)) {}

  [[nodiscard]] const BaseModel& base() const { return base_; }
  // What the answer depends on.
  [[nodiscard]] std::string question(const std::string& method, std::int64_t betas) const {
    const AnnealingExperiment& e = experiment_;
    const std::string all = format("{} {} {} {} {} {} {} {} {}", e.raise_from, base_.description(), subject_.data,
                                   e.chains, e.knots, e.raise_rows, e.raise_chains, e.seed, betas);
    return format("{}, {} β, {}", method, betas, question_digest(machine().parameters(), all));
  }
  [[nodiscard]] Estimate exact() {
    const Progress progress = begin("enumerating");
    return exact_log_z(machine(), enumeration_bits, progress);
  }
  [[nodiscard]] Estimate measure(const std::string& method, std::int64_t betas, const std::string& which) {
    const AnnealingPath path =
        method == "ma-ais" ? moment_averaged(betas, which) : AnnealingPath(base_, {machine()}, linear_schedule(betas));
    const AnnealingOptions options{.seed = experiment_.seed,
                                   .progress = begin(format("{}, {} β, {}:", method, betas, which))};
    if (method == "raise") return raise(path, raise_rows(), experiment_.raise_chains, options).upper_log_z;
    if (method == "reverse") {
      Estimate upper = reverse_ais(path, draws(experiment_.chains), options).log_z;
      upper.method += " from exact draws";
      return upper;
    }
    Estimate log_z = ais(path, experiment_.chains, options).log_z;
    log_z.method = method;
    return log_z;
  }
  void finish() {
    bar_.reset();
    knots_.finish();
    std::error_code ignored;
    fs::remove(knots_.folder().parent_path(), ignored);  // where nothing else is in it
  }

 private:
  [[nodiscard]] const BoltzmannMachine& machine() const { return subject_.model.machine; }

  [[nodiscard]] Progress begin(const std::string& what) {
    bar_.reset();
    bar_ = std::make_unique<ProgressBar>(what);
    return [this](std::int64_t done, std::int64_t total) {
      if (interrupted()) {
        bar_.reset();
        throw Interrupted("interrupted");
      }
      bar_->show(done, total, 0, "");
    };
  }

  // Chosen at random, since many sets are in order of class; the same rows that `evaluate` takes.
  [[nodiscard]] State some_rows() const {
    State rows = subject_.rows;
    const at::Tensor chosen = permutation(Key(experiment_.seed).fold_in(0x4015), rows.rows())
                                  .narrow(0, 0, std::min(experiment_.raise_rows, rows.rows()));
    for (at::Tensor& layer : rows.layers)
      if (layer.defined()) layer = layer.index_select(0, chosen);
    return rows;
  }

  [[nodiscard]] State draws(std::int64_t count) const {
    return exact_sample(machine(), Key(experiment_.seed).fold_in(0x5A3F), count);
  }

  [[nodiscard]] State raise_rows() const {
    if (experiment_.raise_from == "data") return some_rows();
    const State drawn = draws(experiment_.raise_rows);
    std::vector<at::Tensor> values;
    for (const std::size_t layer : machine().observed()) values.push_back(drawn.layers[layer]);
    return machine().observe(values);
  }

  [[nodiscard]] AnnealingPath moment_averaged(std::int64_t betas, const std::string& which) {
    return moment_averaged_path(base_, machine(), some_rows(), betas,
                                {.knots = experiment_.knots,
                                 .seed = experiment_.seed,
                                 .progress = begin(format("fitting knots, {}:", which)),
                                 .journal = &knots_});
  }

  const AnnealingExperiment& experiment_;
  const AnnealingSubject& subject_;
  BaseModel base_;
  FolderJournal knots_;  // the same for every number of β
  std::unique_ptr<ProgressBar> bar_;
};

AnnealingStudy measure_all(const AnnealingExperiment& experiment, const AnnealingSubject& subject,
                           const fs::path& out) {
  Measured measured(out / "measured.jsonl");
  Estimators estimators(experiment, subject, out);
  const auto answer = [&](const std::string& method, std::int64_t betas, const auto& find) {
    const std::string question = estimators.question(method, betas);
    if (const std::optional<Estimate> known = measured.find(question)) return *known;
    const Estimate found = find();
    measured.add(question, found);
    return found;
  };
  AnnealingStudy study{
      .model = subject.description,
      .data = subject.data,
      .base = estimators.base().description(),
      .exact = answer("exact", 0, [&] { return estimators.exact(); }),
      .mean_log_unnormalized = log_unnormalized(subject.model.machine, subject.rows).mean().template item<double>(),
      .acceptable = experiment.gap,
      .betas = experiment.betas,
      .methods = experiment.methods};
  const std::size_t all = experiment.betas.size() * experiment.methods.size();
  for (const std::int64_t betas : experiment.betas)
    for (const std::string& method : experiment.methods) {
      const std::string which = format("{} of {}", study.measurements.size() + 1, all);
      study.measurements.push_back(
          {method, betas, answer(method, betas, [&] { return estimators.measure(method, betas, which); })});
    }
  estimators.finish();
  return study;
}

nlohmann::ordered_json annealing_row(const std::string& what, const Estimate& value) {
  return {{"what", what},
          {"value", value.value},
          {"low", value.low},
          {"high", value.high},
          {"kind", to_string(value.kind)}};
}

// Expected and source of a row; a method and a number of β may be asked several things.
void add_expected(nlohmann::ordered_json& row, const std::vector<JudgedAnnealing>& judged, const std::string& method,
                  std::int64_t betas) {
  std::string words, source;
  for (const JudgedAnnealing& each : judged)
    if (each.expected.method == method && each.expected.betas == betas) {
      words += (words.empty() ? "" : "; ") + each.expected.in_words() + ": " + each.outcome();
      source = each.expected.source;
    }
  row["expected"] = words.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(words);
  row["source"] = source.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(source);
}

nlohmann::ordered_json annealing_rows(const AnnealingStudy& study, const std::vector<JudgedAnnealing>& judged) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  rows.push_back(annealing_row("log Z, exact", study.exact));
  rows.push_back(annealing_row(format("log-likelihood of {}, exact", study.data), study.likelihood(study.exact)));
  for (ordered_json& row : rows) add_expected(row, judged, "exact", 0);
  for (const std::int64_t betas : study.betas) {
    for (const std::string& method : study.methods) {
      const Estimate& log_z = *study.find(method, betas);
      const double error = study.error(log_z);
      ordered_json row = annealing_row(format("{}, {} β: log-likelihood (error {}{})", annealing_method_name(method),
                                              betas, error > 0 ? "+" : "", fixed_number(error, 2)),
                                       study.likelihood(log_z));
      add_expected(row, judged, method, betas);
      row["method"] = method;
      row["betas"] = betas;
      row["error"] = error;
      row["log_z"] = log_z.value;
      row["effective_samples"] =
          log_z.effective_samples ? ordered_json(*log_z.effective_samples) : ordered_json(nullptr);
      row["pareto_k"] = log_z.pareto_k ? ordered_json(*log_z.pareto_k) : ordered_json(nullptr);
      rows.push_back(std::move(row));
    }
    const std::optional<Sandwich> both = study.sandwich(betas);
    if (!both) continue;
    ordered_json row = {{"what", format("gap at {} β: {}", betas, study.verdict(*both))},
                        {"value", both->gap()},
                        {"low", nullptr},
                        {"high", nullptr},
                        {"kind", "gap"}};
    add_expected(row, judged, "", betas);
    row["betas"] = betas;
    row["verdict"] = study.verdict(*both);
    rows.push_back(std::move(row));
  }
  return rows;
}

Table expectations_table(const std::vector<JudgedAnnealing>& judged) {
  Table table{.id = "expected",
              .title = "Comparison with expected values",
              .caption = "",
              .header = {"what", "measured", "expected", ""},
              .rows = {}};
  for (const JudgedAnnealing& each : judged)
    table.rows.push_back(
        {format("{}, {} β", each.expected.method.empty() ? "gap" : annealing_method_name(each.expected.method),
                each.expected.betas),
         each.measured ? fixed_number(*each.measured, 2) : "–", each.expected.in_words(), each.outcome()});
  return table;
}

void print_study(const AnnealingStudy& study) {
  fmt::print("exact log-likelihood {:.4f} nats, log Z {:.4f}\n{:>9}", study.likelihood(study.exact).value,
             study.exact.value, "β");
  for (const std::string& method : study.methods) fmt::print("  {:>9}", method);
  fmt::print("  {:>8}   (errors of the log-likelihood, nats)\n", "gap");
  for (const std::int64_t betas : study.betas) {
    fmt::print("{:>8}", betas);
    for (const std::string& method : study.methods) fmt::print("  {:>+9.3f}", study.error(*study.find(method, betas)));
    const std::optional<Sandwich> both = study.sandwich(betas);
    fmt::print("  {:>8}   {}\n", both ? fmt::format("{:.3f}", both->gap()) : "", both ? study.verdict(*both) : "");
  }
}

}  // namespace

int reproduce_annealing(const ExperimentFile& file, const ReproduceOptions& options) {
  const AnnealingExperiment experiment = parse_annealing_experiment(file, options.quick);
  watch_interrupts();
  if (!options.common.json)
    fmt::print(stderr, "{}{}\n{}\n", file.title, options.quick ? " (quick)" : "", file.question);
  const std::optional<AnnealingSubject> subject = open_subject(experiment, options);
  if (!subject) return stopped_experiment(options);
  limit_threads(options.common,
                static_cast<double>(std::max(experiment.chains, experiment.raise_rows * experiment.raise_chains) *
                                    subject->model.machine.parameters().dimension()));
  AnnealingStudy study;
  try {
    study = measure_all(experiment, *subject, options.out);
  } catch (const Interrupted&) {
    return stopped_experiment(options);
  }

  const std::vector<JudgedAnnealing> judged = judge_expectations(study, experiment.expected);
  ReportContent page = annealing_report(study);
  if (!judged.empty()) page.tables.push_back(expectations_table(judged));
  const auto found = experiment_results(file, options, annealing_rows(study, judged), experiment.seed);
  return publish_experiment(file, options, found, std::move(page), [&] {
    print_study(study);
    for (const JudgedAnnealing& each : judged) fmt::print("{}\n", each.sentence());
    const auto met = std::ranges::count_if(judged, &JudgedAnnealing::met);
    const auto unmeasured = std::ranges::count_if(judged, [](const JudgedAnnealing& each) { return !each.measured; });
    if (!judged.empty())
      fmt::print("of {} expectations {} were met, {} missed, {} not measured\n", judged.size(), met,
                 static_cast<std::ptrdiff_t>(judged.size()) - met - unmeasured, unmeasured);
  });
}

}  // namespace harmonium
