#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "harmonium/data/catalog/catalog.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/experiments/training_experiment.h"
#include "harmonium/families/resolve.h"
#include "harmonium/families/snapshot_updates.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/snapshots.h"
#include "harmonium/sessions/compared_runs.h"
#include "harmonium/sessions/refresh_report.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// A run of the experiment with its folder, and how far it has come in earlier sittings.
struct Stage {
  std::string name;
  fs::path folder;
  RunConfig config;  // resolved, but for one that begins with the model of a run above
  bool judged = true;
  bool begins_above = false;
  bool trained = false;
  std::int64_t updates = 0;  // by the metrics
  double seconds = 0;
  std::int64_t models = 0;  // to judge
};

// Everything that can be wrong shows here, before the first update; with a model of a run above, when that is trained.
void check_stage(Stage& stage) {
  check_config(stage.config, resolve(stage.config));
  stage.models = static_cast<std::int64_t>(snapshot_updates(stage.config.snapshots, stage.config.updates).size());
  stage.trained = is_trained(stage.folder, stage.config);
}

Stage prepare_stage(const PlannedRun& run, const std::vector<std::string>& above, const fs::path& out) {
  Stage stage{.name = run.name, .folder = out / run.name, .config = run.config, .judged = run.judged};
  stage.begins_above = begin_with_run_above(stage.config, above, out);
  if (stage.begins_above)
    stage.models = 1;  // at least
  else
    check_stage(stage);
  if (!stage.judged) stage.models = 0;
  for (const MetricsRow& row : MetricsLog(RunFolder(stage.folder).metrics()).read()) {
    stage.updates = row.update;
    stage.seconds = row.seconds;
  }
  return stage;
}

std::string minutes_text(double seconds) {
  return seconds < 90 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

// How long work has taken so far, to say how long the rest will take.
class Pace {
 public:
  void trained(std::int64_t updates, double seconds) {
    updates_ += updates;
    training_ += seconds;
  }
  void judged(std::int64_t models, double seconds) {
    models_ += models;
    judging_ += seconds;
  }
  // Empty while there is nothing to go by.
  [[nodiscard]] std::string left(std::int64_t updates, std::int64_t models) const {
    if (updates_ == 0 || models_ == 0) return "";
    const double seconds = training_ / static_cast<double>(updates_) * static_cast<double>(updates) +
                           judging_ / static_cast<double>(models_) * static_cast<double>(models);
    return "; about " + minutes_text(seconds) + " left";
  }

 private:
  std::int64_t updates_ = 0, models_ = 0;
  double training_ = 0, judging_ = 0;
};

void print_plan(const ExperimentFile& file, const TrainingExperiment& experiment, const std::vector<Stage>& stages,
                const ReproduceOptions& options) {
  fmt::print(stderr, "{}{}\n{}\n", file.title, options.quick ? " (quick)" : "", file.question);
  for (const Stage& stage : stages)
    fmt::print(stderr, "  {:<16} {} updates of {} on {}, {}{}\n", stage.name, stage.config.updates,
               stage.config.optimizer, stage.config.data,
               stage.judged ? fmt::format("judged {} times", stage.models) : "for others to begin with",
               stage.trained       ? "; trained"
               : stage.updates > 0 ? fmt::format("; continues at update {} or a little before", stage.updates)
                                   : "");
  std::string data;
  for (const JudgingData& each : experiment.judging_data()) data += (data.empty() ? "" : " and ") + each.spec;
  fmt::print(stderr, "  judged by {}; AIS, where it is needed, with {} chains × {} β\n", data, experiment.chains,
             experiment.betas);
  experiment.time.say();
}

double elapsed(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Trains what is not trained and judges what is not judged; false where it was interrupted.
bool run_stages(std::vector<Stage>& stages, const TrainingExperiment& experiment, const SessionOptions& common,
                std::vector<std::vector<Evaluation>>& answers) {
  Pace pace;
  for (const Stage& stage : stages) pace.trained(stage.updates, stage.seconds);
  for (std::size_t i = 0; i < stages.size(); ++i) {
    Stage& stage = stages[i];
    apply(common);  // threads, which smaller work may have limited
    if (stage.begins_above) check_stage(stage);
    if (!stage.trained) {
      const RunData data = resolve(stage.config);
      const RunResult result = train_with_bar(stage.folder, stage.config, data, common,
                                              format("training {}, run {} of {}:", stage.name, i + 1, stages.size()));
      if (!result.finished) return false;
      pace.trained(result.updates - stage.updates, result.seconds - stage.seconds);
    }
    apply(common);
    const auto start = std::chrono::steady_clock::now();
    JudgedRun judged;
    try {
      if (stage.judged) judged = judge_run(stage.folder, experiment.judging_data(), experiment.judge_options(), common);
    } catch (const Interrupted&) {
      return false;
    }
    if (judged.asked > 0) pace.judged(judged.asked, elapsed(start));
    if (judged.asked > 0 || !stage.trained) refresh_report(stage.folder);
    answers.push_back(std::move(judged.evaluations));
    std::int64_t updates = 0, models = 0;
    for (std::size_t later = i + 1; later < stages.size(); ++later) {
      if (!stages[later].trained) updates += stages[later].config.updates - stages[later].updates;
      models += stages[later].models;
    }
    fmt::print(stderr, "{} is done, run {} of {}{}\n", stage.name, i + 1, stages.size(),
               models > 0 ? pace.left(updates, models) : "");
    if (interrupted()) return false;
  }
  return true;
}

nlohmann::ordered_json results_of(const ExperimentFile& file, const TrainingExperiment& experiment,
                                  const std::vector<ComparedRun>& runs, const ReproduceOptions& options) {
  nlohmann::ordered_json not_measured = nlohmann::ordered_json::array();
  for (const Verdict& verdict : verdicts(runs, experiment.expected))
    if (!verdict.measured) not_measured.push_back(verdict.sentence());
  nlohmann::ordered_json result =
      experiment_results(file, options, measured_rows(runs, experiment.expected), experiment.runs.front().config.seed);
  result["not_measured"] = not_measured;
  return result;
}

}  // namespace

std::optional<std::vector<ComparedRun>> train_and_judge(const ExperimentFile& file,
                                                        const TrainingExperiment& experiment,
                                                        const ReproduceOptions& options) {
  for (const JudgingData& each : experiment.judging_data()) (void)open_dataset(each.spec, {.limit = each.limit});
  std::vector<Stage> stages;
  std::vector<std::string> above;
  for (const PlannedRun& run : experiment.runs) {
    stages.push_back(prepare_stage(run, above, options.out));
    above.push_back(run.name);
  }
  if (!options.common.json) print_plan(file, experiment, stages, options);
  watch_interrupts();
  std::vector<std::vector<Evaluation>> answers;
  if (!run_stages(stages, experiment, options.common, answers)) return std::nullopt;
  std::vector<std::string> folders;
  for (const Stage& stage : stages) folders.push_back(stage.folder.string());
  std::vector<ComparedRun> runs = read_compared_runs(folders);
  // Only what this experiment asked, whatever else a person has judged these runs by.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].evaluations = answers[i];  // none of a run that is not judged
    std::ranges::stable_sort(runs[i].evaluations, {},
                             [&](const Evaluation& each) { return each.data != experiment.test; });
  }
  std::erase_if(runs, [](const ComparedRun& run) { return run.evaluations.empty(); });
  return runs;
}

int reproduce_training(const ExperimentFile& file, const ReproduceOptions& options) {
  TrainingExperiment experiment = parse_training_experiment(file, options.quick);
  place_runs(experiment.runs, options.common);
  const std::optional<std::vector<ComparedRun>> trained = train_and_judge(file, experiment, options);
  if (!trained) return stopped_experiment(options);
  const std::vector<ComparedRun>& runs = *trained;
  return publish_experiment(
      file, options, results_of(file, experiment, runs, options), comparison_report(runs, experiment.expected), [&] {
        fmt::print("{}", likelihood_table(runs));
        const std::vector<Verdict> all = verdicts(runs, experiment.expected);
        for (const Verdict& verdict : all) fmt::print("{}\n", verdict.sentence());
        const auto met = std::ranges::count_if(all, &Verdict::met);
        const auto measured = std::ranges::count_if(all, [](const Verdict& each) { return each.measured.has_value(); });
        if (!all.empty())
          fmt::print("of {} expected values {} were met, {} missed, {} not measured\n", all.size(), met, measured - met,
                     static_cast<std::ptrdiff_t>(all.size()) - measured);
      });
}

}  // namespace harmonium
