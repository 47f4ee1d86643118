// kind = "classification": models with labels, chosen by validation data (or none: after a number of updates that was
// set in advance) and judged once by test data. A run that knows no classes is trained for others to start from.
// judged_runs.h has the keys of its file; `at_most` is per cent.
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "harmonium/experiments/judged_runs.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/registry.h"
#include "harmonium/report/confusion.h"
#include "harmonium/sessions/classifying.h"

namespace harmonium {

namespace {

JudgedRuns parse_classification(const ExperimentFile& file, bool quick) {
  RunConfig config;
  config.model = "classification_rbm";
  config.keep = "best";
  return parse_judged_runs(file, quick, config);
}

// One run of the experiment and what it has been found to be worth.
struct ClassifiedRun : ExperimentRun {
  ClassificationResult test = {};
  std::optional<ClassificationResult> valid = {};  // by which it was chosen
  bool judged = true;                              // false: it knows no classes, and others start from it

  [[nodiscard]] std::string verdict() const { return verdict_of(100 * test.error().value); }
  [[nodiscard]] std::string valid_error() const { return valid ? percent(valid->error()) : "none"; }
};

nlohmann::ordered_json error_rows(const std::vector<ClassifiedRun>& runs) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  const auto add = [&](const ClassifiedRun& run, const ClassificationResult& result, const std::string& why,
                       bool judged) {
    const Proportion error = result.error();
    rows.push_back(
        {{"what", format("{} ({} hidden), model of update {} of {}, {:.0f} s of training: errors on {} ({} "
                         "rows, binarization {}){}, %",
                         run.name, run.layers(), result.updates, run.config.updates, run.seconds, result.data, result.n,
                         result.binarization, why)},
         {"value", 100 * error.value},
         {"low", 100 * error.low},
         {"high", 100 * error.high},
         {"kind", judged ? "count" : "count, optimistic"},
         {"expected", judged && run.expected != nullptr ? ordered_json(run.verdict()) : ordered_json(nullptr)},
         {"source", judged && run.expected != nullptr ? ordered_json(run.expected->source) : ordered_json(nullptr)},
         {"run", run.name},
         {"data", result.data},
         {"updates", result.updates},
         {"seconds", run.seconds}});
  };
  for (const ClassifiedRun& run : runs) {
    add(run, run.test, "", true);
    if (run.valid) add(run, *run.valid, ", by which it was chosen", false);
  }
  return rows;
}

// Objective of a classification RBM, or how the layers of a net were learnt.
std::string how_taught(const ClassifiedRun& run) {
  const RunConfig& config = run.config;
  if (!run.begun_with.empty()) return format("{}, begun with {}", config.model, run.begun_with);
  if (find_family(config.model).has("objective")) return config.objective;
  return config.pretrain == "none" ? config.model : format("{}, pretrained: {}", config.model, config.pretrain);
}

ReportContent classification_report(const ExperimentFile& file, const std::vector<ClassifiedRun>& runs) {
  ReportContent content;
  Table table{.id = "errors",
              .title = "Classification errors",
              .caption =
                  "Per cent, with 95 % intervals (Wilson). Where there are validation data, the model of a run is the "
                  "one with the fewest errors on them, which are therefore optimistic; else the last. Test data had no "
                  "part in it.",
              .header = {"run", "model", "hidden", "test error", "validation error", "expected", "training"},
              .rows = {}};
  for (const ClassifiedRun& run : runs) {
    content.headline.emplace_back(run.name + ", test error", format("{:.2f} %", 100 * run.test.error().value));
    table.rows.push_back({run.name, how_taught(run), run.layers(), percent(run.test.error()), run.valid_error(),
                          run.verdict(), format("{:.0f} s", run.seconds)});
  }
  content.tables.push_back(std::move(table));
  for (const ClassifiedRun& run : runs) {
    content.galleries.push_back({.id = "confusion-" + run.name,
                                 .title = run.name + ": confusion matrix",
                                 .caption = "Rows: the true class; columns: the predicted class.",
                                 .picture = confusion_picture(run.test)});
    if (const Picture mistakes = read_mistakes(run.folder); mistakes.height > 0)
      content.galleries.push_back({.id = "mistakes-" + run.name,
                                   .title = run.name + ": the surest mistakes",
                                   .caption = "True > predicted.",
                                   .picture = mistakes});
  }
  content.configuration = file.text;
  return content;
}

// What the folder says already, or a new look at the data. The run must be trained.
ClassificationResult answer(const ClassifiedRun& run, const std::string& data, const SessionOptions& common) {
  const std::int64_t updates = std::atoll(read_header(run.folder).notes.at("updates").c_str());
  for (const ClassificationResult& each : read_classifications(run.folder))
    if (each.data == data && each.updates == updates && !each.binarization.starts_with("stochastic")) return each;
  const Classified done = classify_model({.common = common, .model = run.folder.string(), .data = data});
  record(done, run.folder);
  return done.result;
}

}  // namespace

int reproduce_classification(const ExperimentFile& file, const ReproduceOptions& options) {
  JudgedRuns experiment = parse_classification(file, options.quick);
  place_runs(experiment.runs, options.common);
  std::vector<ClassifiedRun> runs = prepare_runs<ClassifiedRun>(experiment, options.out);
  for (ClassifiedRun& run : runs) {
    run.judged = find_family(run.config.model).knows_classes(run.config);
    const bool needed = std::ranges::any_of(runs, [&](const auto& each) { return each.begun_with == run.name; });
    require(run.judged || needed, "{}: run '{}' is a {}, which cannot classify, and no run starts from it", file.source,
            run.name, run.config.model);
  }
  begin_experiment(file, options, experiment.time);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ClassifiedRun& run = runs[i];
    if (!train_if_needed(run, i, runs.size(), options.common)) return stopped_experiment(options);
    if (!run.judged) continue;
    if (run.config.keep == "best") run.valid = answer(run, run.config.valid, options.common);
    run.test = answer(run, experiment.test, options.common);
    if (interrupted()) return stopped_experiment(options);
  }

  std::erase_if(runs, [](const ClassifiedRun& run) { return !run.judged; });
  const auto found = experiment_results(file, options, error_rows(runs), runs.front().config.seed);
  return publish_experiment(file, options, found, classification_report(file, runs), [&] {
    for (const ClassifiedRun& run : runs)
      fmt::print("{:<16} test {:<22} validation {:<22} {}\n", run.name, percent(run.test.error()), run.valid_error(),
                 run.verdict());
  });
}

}  // namespace harmonium
