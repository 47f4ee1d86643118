// kind = "clusters": models that sort rows without labels, each trained with several seeds, and judged by the errors
// on test data once a few labels have been asked for (measures/asked_labels.h). judged_runs.h has the keys of its file,
// and there are
//
//   labels = 25      asked for each run
//   seeds = 11       every [[run]] is trained so many times, from its seed on; folders NAME-1, NAME-2, …
//   refine = 30      judged once more with descriptions made better by so many steps (0: not)
//
// also in [quick]. The seed of a run is chosen by the squared error on its validation data, which no label enters.
// What is explained of these data is the share of their variance about their mean picture that is no error.
// `at_most` is the mean error of a run over its seeds, in per cent.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "harmonium/data/catalog/catalog.h"
#include "harmonium/experiments/judged_runs.h"
#include "harmonium/experiments/repeated_runs.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/report/confusion.h"
#include "harmonium/sessions/clustering.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/reconstruction_error.h"

namespace harmonium {

namespace {

struct ClusterExperiment {
  std::int64_t labels = 25, seeds = 1, refine = 0;
  JudgedRuns judged;  // a run for each seed
};

// What is left of validation rows: their squared error per pixel, and the share of their variance that is explained.
struct HeldOut {
  ReconstructionError error;
  double explained = 0;
};

struct ClusteredRun : ExperimentRun {
  std::string group = {};  // the [[run]] that it is a seed of
  LabelledByFew found = {};
  std::optional<HeldOut> held_out = {};  // nothing without validation rows

  [[nodiscard]] double error() const { return 100 * found.result.error().value; }
};

ClusterExperiment parse_clusters(const ExperimentFile& file, bool quick) {
  ClusterExperiment experiment;
  ExperimentFile rest = file;
  const auto take = [&](toml::table& table, bool counts) {
    for (const auto& [name, field, least] :
         {std::tuple("labels", &experiment.labels, 1), std::tuple("seeds", &experiment.seeds, 1),
          std::tuple("refine", &experiment.refine, 0)}) {
      const toml::node* given = table.get(name);
      if (given == nullptr) continue;
      std::int64_t number = 0;
      assign_toml(number, *given, place_in(file.source, name, *given));
      require(number >= least && number <= 10'000, "{}: give a number, {} or more", place_in(file.source, name, *given),
              least);
      if (counts) *field = number;
      table.erase(name);
    }
  };
  take(rest.table, true);
  if (toml::table* shorter = rest.table["quick"].as_table(); shorter != nullptr) take(*shorter, quick);
  experiment.judged = parse_judged_runs(rest, quick, {});
  std::vector<PlannedRun> planned;
  for (const PlannedRun& run : experiment.judged.runs)
    for (std::int64_t i = 0; i < experiment.seeds; ++i) {
      planned.push_back(run);
      planned.back().name = format("{}-{}", run.name, i + 1);
      planned.back().config.seed += i;
    }
  experiment.judged.runs = std::move(planned);
  return experiment;
}

std::string group_of(const std::string& name) { return name.substr(0, name.rfind('-')); }

std::optional<HeldOut> held_out_of(const ClusteredRun& run, const Model& model) {
  if (run.config.valid == "none" || model.encoder() == nullptr || !model.encoder()->reconstructs()) return std::nullopt;
  const Dataset rows =
      open_dataset(run.config.valid, {.reading = reading_for(run.config.valid, reading_of(run.config))});
  const std::string note = model.info().note("binarization");
  const auto error_of = [&](const std::function<at::Tensor(const at::Tensor&)>& rebuild) {
    return reconstruction_error(rows, note.empty() ? Binarization::none : parse_binarization(note), rebuild);
  };
  ReconstructionError error = error_of([&](const at::Tensor& piece) { return model.encoder()->reconstruct(piece); });
  const at::Tensor mean = rows.column_means().to(at::kFloat);
  const double explained =
      1 - error.mean / error_of([&](const at::Tensor& piece) { return mean.expand_as(piece); }).mean;
  const auto pixels = static_cast<double>(rows.columns());
  for (double* each : {&error.mean, &error.low, &error.high}) *each /= pixels;
  return HeldOut{.error = error, .explained = explained};
}

// What trained models say of test rows, and with `refine` what they say after so many steps of refinement. Models that
// have nothing to refine are left out then.
std::vector<ClusteredRun> judge_all(const std::vector<ClusteredRun>& trained, const ClusterExperiment& experiment,
                                    const SessionOptions& common, std::int64_t refine) {
  std::vector<ClusteredRun> runs;
  for (ClusteredRun run : trained) {
    std::unique_ptr<Model> model = open_for_use(run.folder);
    if (model->clusters() == nullptr)
      cannot(*model, run.folder.string(), "sorts rows into no clusters, and this experiment is about them");
    if (refine > 0) {
      model = model->refined_by(refine);
      if (!model) continue;
      run.group += format(", refined by {} steps", refine);
      run.name += ", refined";
    }
    run.held_out = held_out_of(run, *model);
    run.found = label_by_few(
        {.shown = {.common = common, .model = run.folder.string(), .data = experiment.judged.test, .refine = refine},
         .labels = experiment.labels});
    runs.push_back(std::move(run));
    if (interrupted()) break;
  }
  return runs;
}

// The seeds of one [[run]].
struct Seeds {
  std::string name;
  std::vector<const ClusteredRun*> runs;
  RunsSummary errors;
  const ClusteredRun* chosen = nullptr;  // by the held-out error
};

std::vector<Seeds> by_group(const std::vector<ClusteredRun>& runs) {
  std::vector<Seeds> groups;
  for (const ClusteredRun& run : runs) {
    if (groups.empty() || groups.back().name != run.group)
      groups.push_back({.name = run.group, .runs = {}, .errors = {}});
    groups.back().runs.push_back(&run);
  }
  for (Seeds& group : groups) {
    std::vector<double> errors;
    for (const ClusteredRun* run : group.runs) {
      errors.push_back(run->error());
      const bool less =
          run->held_out && (group.chosen == nullptr || run->held_out->error.mean < group.chosen->held_out->error.mean);
      if (less) group.chosen = run;
    }
    group.errors = summarize_runs(errors);
  }
  return groups;
}

nlohmann::ordered_json cluster_rows(const std::vector<ClusteredRun>& runs, const JudgedRuns& judged) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const Seeds& group : by_group(runs)) {
    const ErrorBound* bound = judged.bound_of(group.name);
    const std::string deviation =
        group.errors.deviation ? format(", standard deviation {:.2f}", *group.errors.deviation) : "";
    rows.push_back({{"what", format("{}: errors on {} by labels asked for, mean of {} seeds{}, %", group.name,
                                    judged.test, group.errors.n, deviation)},
                    {"value", group.errors.mean},
                    {"low", group.errors.low},
                    {"high", group.errors.high},
                    {"kind", "mean"},
                    {"expected", bound != nullptr ? ordered_json(bound->verdict(group.errors.mean)) : nullptr},
                    {"source", bound != nullptr ? ordered_json(bound->source) : nullptr},
                    {"run", group.name},
                    {"data", judged.test},
                    {"updates", group.runs.front()->config.updates}});
    for (const ClusteredRun* run : group.runs) {
      const Proportion error = run->found.result.error();
      const std::string why = run == group.chosen && group.runs.size() > 1 ? ", least held-out error of the seeds" : "";
      const auto add = [&](const std::string& what, double value, double low, double high, const char* kind,
                           const std::string& data) {
        rows.push_back({{"what", format("{} (seed {}), {:.0f} s of training: {}", run->name, run->config.seed,
                                        run->seconds, what)},
                        {"value", value},
                        {"low", low},
                        {"high", high},
                        {"kind", kind},
                        {"expected", nullptr},
                        {"source", nullptr},
                        {"run", run->name},
                        {"data", data},
                        {"updates", run->found.result.updates},
                        {"seconds", run->seconds}});
      };
      add(format("errors on {} by {} labels asked for{}, %", judged.test, run->found.asked.size(), why),
          100 * error.value, 100 * error.low, 100 * error.high, "count", judged.test);
      const Proportion& all = run->found.by_majority;
      add(format("errors on {} by majority labels of whole clusters (all labels, for comparison only), %", judged.test),
          100 * all.value, 100 * all.low, 100 * all.high, "count", judged.test);
      if (!run->held_out) continue;
      const auto& [left, explained] = *run->held_out;
      add(format("squared error per pixel on {}, {:.1f} % of the variance explained", run->config.valid,
                 100 * explained),
          left.mean, left.low, left.high, "mean", run->config.valid);
    }
  }
  return rows;
}

std::string mean_text(const RunsSummary& errors) {
  return errors.deviation ? format("{:.2f} ± {:.2f} %", errors.mean, *errors.deviation)
                          : format("{:.2f} %", errors.mean);
}

ReportContent clusters_report(const ExperimentFile& file, const std::vector<ClusteredRun>& runs,
                              const JudgedRuns& judged) {
  ReportContent content;
  Table means{.id = "means",
              .title = "Errors by a few labels, over seeds",
              .caption =
                  "Mean ± standard deviation over seeds. Chosen: the seed with the least squared error on "
                  "validation data, in which labels have no part.",
              .header = {"run", "seeds", "error", "chosen seed", "its error", "expected"},
              .rows = {}};
  Table each{.id = "errors",
             .title = "Every run",
             .caption =
                 "Errors with 95 % intervals (Wilson). Majority labels use the labels of all training rows and "
                 "are there for comparison only.",
             .header = {"run", "labels", "error", "by majority labels", "squared error per pixel", "variance explained",
                        "training"},
             .rows = {}};
  for (const Seeds& group : by_group(runs)) {
    const ErrorBound* bound = judged.bound_of(group.name);
    content.headline.emplace_back(group.name, mean_text(group.errors));
    means.rows.push_back({group.name, std::to_string(group.errors.n), mean_text(group.errors),
                          group.chosen != nullptr ? std::to_string(group.chosen->config.seed) : "",
                          group.chosen != nullptr ? percent(group.chosen->found.result.error()) : "",
                          bound != nullptr ? bound->verdict(group.errors.mean) : ""});
    for (const ClusteredRun* run : group.runs)
      each.rows.push_back(
          {run->name, std::to_string(run->found.asked.size()), percent(run->found.result.error()),
           percent(run->found.by_majority), run->held_out ? format("{:.5f}", run->held_out->error.mean) : "",
           run->held_out ? format("{:.1f} %", 100 * run->held_out->explained) : "", format("{:.0f} s", run->seconds)});
    const ClusteredRun& shown = group.chosen != nullptr ? *group.chosen : *group.runs.front();
    content.galleries.push_back(
        {.id = "asked-" + group.name,
         .title = shown.name + ": the rows asked about",
         .caption = format("Most surely in each {} ({} > label).", shown.found.group_name, shown.found.group_name),
         .picture = shown.found.questions});
    if (shown.found.mistakes.height > 0)
      content.galleries.push_back({.id = "mistakes-" + group.name,
                                   .title = shown.name + ": the surest mistakes",
                                   .caption = "True > predicted.",
                                   .picture = shown.found.mistakes});
  }
  content.tables = {means, each};
  content.configuration = file.text;
  return content;
}

}  // namespace

int reproduce_clusters(const ExperimentFile& file, const ReproduceOptions& options) {
  ClusterExperiment experiment = parse_clusters(file, options.quick);
  place_runs(experiment.judged.runs, options.common);
  std::vector<ClusteredRun> trained = prepare_runs<ClusteredRun>(experiment.judged, options.out);
  begin_experiment(file, options, experiment.judged.time);
  for (std::size_t i = 0; i < trained.size(); ++i) {
    ClusteredRun& run = trained[i];
    run.group = group_of(run.name);
    if (!train_if_needed(run, i, trained.size(), options.common)) return stopped_experiment(options);
  }
  std::vector<ClusteredRun> runs = judge_all(trained, experiment, options.common, 0);
  if (experiment.refine > 0)
    for (ClusteredRun& run : judge_all(trained, experiment, options.common, experiment.refine))
      runs.push_back(std::move(run));
  if (interrupted()) return stopped_experiment(options);
  const auto found = experiment_results(file, options, cluster_rows(runs, experiment.judged), runs.front().config.seed);
  return publish_experiment(file, options, found, clusters_report(file, runs, experiment.judged), [&] {
    for (const Seeds& group : by_group(runs))
      fmt::print("{:<16} {:<20} {}\n", group.name, mean_text(group.errors),
                 group.chosen != nullptr ? format("chosen without labels: {}, {}", group.chosen->name,
                                                  percent(group.chosen->found.result.error()))
                                         : "");
  });
}

}  // namespace harmonium
