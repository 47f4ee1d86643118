// kind = "class_samples": models with labels, seen by what they draw for every class and by what a classifier that was
// trained by itself takes the draws for.
//
// All keys of judged_runs.h; `at_most` is the per cent of a run's draws that the classifier takes for another class.
// And
//   judge = "classifier"   the [[run]] of --model mlp that tells classes apart
//   [samples]  of_each, sweeps, shown (columns of the picture), seed
//   [samples.quick]  any of these, for --quick
// A model that draws one good picture of each class again and again would satisfy the judge, so how far draws of a
// class lie apart is held against how far data of a class do.
#include <fmt/core.h>

#include <algorithm>

#include "harmonium/data/catalog/catalog.h"
#include "harmonium/experiments/judged_runs.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/families/net_file.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/report/confusion.h"
#include "harmonium/runs/classification_result.h"
#include "harmonium/sessions/class_samples.h"

namespace harmonium {

namespace {

// A classifier that draws nothing: the one that judges what the others draw.
bool is_net_classifier(const RunConfig& config) {
  const Family& family = find_family(config.model);
  return family.has("loss") && family.knows_classes(config);
}

using nlohmann::ordered_json;

struct ClassSamplesExperiment {
  JudgedRuns runs;
  std::string judge;
  ClassSamplesPlan plan{.of_each = 100, .sweeps = 1000};
  std::int64_t shown = 10;
};

void assign_class_samples(ClassSamplesExperiment& experiment, const toml::table& table, const ExperimentFile& file) {
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    const auto take = [&, &found = key, &value = node](std::string_view name, auto& field) {
      if (found.str() == name) assign_toml(field, value, where);
      return found.str() == name;
    };
    require(key.str() == "quick" || take("of_each", experiment.plan.of_each) ||
                take("sweeps", experiment.plan.sweeps) || take("shown", experiment.shown) ||
                take("seed", experiment.plan.seed),
            "{}: no such entry of [samples]; there are: of_each, sweeps, shown, seed, quick", where);
  }
}

ClassSamplesExperiment parse_class_samples(const ExperimentFile& file, bool quick) {
  ClassSamplesExperiment experiment;
  const toml::node* judge = file.table.get("judge");
  require(judge != nullptr, "{}: `judge = \"…\"` must name the run that classifies", file.source);
  assign_toml(experiment.judge, *judge, place_in(file.source, "judge", *judge));
  if (const toml::node* samples = file.table.get("samples")) {
    const toml::table& table = as_table(*samples, place_in(file.source, "samples", *samples));
    assign_class_samples(experiment, table, file);
    if (const toml::node* shorter = table.get("quick")) {
      ClassSamplesExperiment ignored;  // wrong keys show without --quick too
      assign_class_samples(quick ? experiment : ignored, as_table(*shorter, place_in(file.source, "quick", *shorter)),
                           file);
    }
  }
  ExperimentFile rest = file;
  rest.table.erase("judge");
  rest.table.erase("samples");
  experiment.runs = parse_judged_runs(rest, quick, RunConfig());
  const auto found = std::ranges::find(experiment.runs.runs, experiment.judge, &PlannedRun::name);
  require(found != experiment.runs.runs.end() && is_net_classifier(found->config),
          "{}: judge = \"{}\" is not a [[run]] with model = \"mlp\"", file.source, experiment.judge);
  require(experiment.runs.runs.size() >= 2, "{}: there is no [[run]] besides the judge", file.source);
  require(experiment.plan.of_each >= 2, "{}: of_each must be at least 2", file.source);
  return experiment;
}

// Mean distance between two different rows of the same class; rows come class by class.
double spread(const at::Tensor& values, const at::Tensor& labels, std::int64_t classes) {
  double sum = 0, pairs = 0;
  for (std::int64_t c = 0; c < classes; ++c) {
    const at::Tensor rows = values.index_select(0, labels.eq(c).nonzero().view(-1)).to(at::kDouble);
    const auto n = static_cast<double>(rows.size(0));
    sum += at::cdist(rows, rows).sum().item<double>();
    pairs += n * (n - 1);
  }
  return sum / pairs;
}

struct SeenRun : ExperimentRun {
  ClassSamples samples = {};
  ClassificationResult judged = {};
  double apart = 0;

  [[nodiscard]] std::string verdict() const { return verdict_of(100 * judged.error().value); }
};

ordered_json rows_of(const ClassSamplesExperiment& experiment, const std::vector<SeenRun>& runs,
                     const ClassificationResult& own, double data_apart) {
  ordered_json rows = ordered_json::array();
  const auto add = [&](const std::string& what, double value, ordered_json low, ordered_json high, const char* kind,
                       const SeenRun* run) {
    const bool expects = run != nullptr && run->expected != nullptr;
    rows.push_back({{"what", what},
                    {"value", value},
                    {"low", std::move(low)},
                    {"high", std::move(high)},
                    {"kind", kind},
                    {"expected", expects ? ordered_json(run->verdict()) : ordered_json(nullptr)},
                    {"source", expects ? ordered_json(run->expected->source) : ordered_json(nullptr)}});
  };
  for (const SeenRun& run : runs) {
    const Proportion error = run.judged.error();
    add(format("{} ({}, {} hidden; {:.0f} s of training): draws that the classifier assigns to another class than the "
               "one held ({} of each, {} sweeps), %",
               run.name, run.config.model, run.layers(), run.seconds, experiment.plan.of_each, experiment.plan.sweeps),
        100 * error.value, 100 * error.low, 100 * error.high, "count", &run);
    add(format("{}: mean distance between two draws of a class", run.name), run.apart, nullptr, nullptr, "mean",
        nullptr);
  }
  add(format("{}: mean distance between two rows of a class, {} of each", experiment.runs.test,
             experiment.plan.of_each),
      data_apart, nullptr, nullptr, "mean", nullptr);
  const Proportion error = own.error();
  add(format("{}: errors of the classifier itself ({} rows), %", experiment.runs.test, own.n), 100 * error.value,
      100 * error.low, 100 * error.high, "count", nullptr);
  return rows;
}

ReportContent class_samples_page(const ExperimentFile& file, const ClassSamplesExperiment& experiment,
                                 const std::vector<SeenRun>& runs, const ClassificationResult& own, double data_apart,
                                 Gallery data) {
  ReportContent page;
  Table table{.id = "judged",
              .title = "Samples of each class, judged by a classifier",
              .caption = format("Draws are E[v | hidden] after {} Gibbs sweeps with the label held, {} of each class; "
                                "intervals are 95 % (Wilson). The classifier errs on {} of {}. Data of a class lie "
                                "{:.2f} apart on average; draws that lie much nearer repeat themselves.",
                                experiment.plan.sweeps, experiment.plan.of_each, percent(own.error()),
                                experiment.runs.test, data_apart),
              .header = {"run", "model", "hidden", "taken for another class", "apart", "expected", "training"},
              .rows = {}};
  for (const SeenRun& run : runs) {
    table.rows.push_back({run.name, run.config.model, run.layers(), percent(run.judged.error()),
                          format("{:.2f}", run.apart), run.verdict(), format("{:.0f} s", run.seconds)});
    page.headline.emplace_back(run.name + ", assigned to another class",
                               format("{:.1f} %", 100 * run.judged.error().value));
    page.galleries.push_back({.id = "classes-" + run.name,
                              .title = run.name,
                              .caption = format("One row for each class from 0: {} of {} draws of each. {} of all are "
                                                "taken for another class.",
                                                std::min(experiment.shown, experiment.plan.of_each),
                                                experiment.plan.of_each, percent(run.judged.error())),
                              .picture = run.samples.picture(experiment.shown)});
  }
  page.galleries.push_back(std::move(data));
  for (const SeenRun& run : runs)
    page.galleries.push_back({.id = "confusion-" + run.name,
                              .title = run.name + ": classes of the draws",
                              .caption = "Rows: the class held; columns: the class given by the classifier.",
                              .picture = confusion_picture(run.judged)});
  page.tables.push_back(std::move(table));
  page.configuration = file.text;
  page.order = {ReportSection::galleries, ReportSection::tables, ReportSection::configuration,
                ReportSection::reproduce};
  return page;
}

// The first rows of each class, class by class.
Dataset first_of_each(const Dataset& data, std::int64_t classes, std::int64_t of_each) {
  std::vector<at::Tensor> chosen;
  for (std::int64_t c = 0; c < classes; ++c) {
    const at::Tensor rows = data.labels.eq(c).nonzero().view(-1);
    require(rows.size(0) >= of_each, "{} has {} rows of class {}, and of_each asks for {}", data.name, rows.size(0), c,
            of_each);
    chosen.push_back(rows.narrow(0, 0, of_each));
  }
  return data.select(at::cat(chosen));
}

}  // namespace

int reproduce_class_samples(const ExperimentFile& file, const ReproduceOptions& options) {
  const ClassSamplesExperiment experiment = parse_class_samples(file, options.quick);
  std::vector<SeenRun> runs = prepare_runs<SeenRun>(experiment.runs, options.out);
  for (const SeenRun& run : runs) {
    const Family& family = find_family(run.config.model);
    require(family.knows_classes(run.config), "{}: run '{}' is a {}, which cannot classify", file.source, run.name,
            run.config.model);
    require(!is_net_classifier(run.config) || run.name == experiment.judge,
            "{}: run '{}' is a net; only the judge may be a net", file.source, run.name);
  }
  const Dataset test = open_dataset(experiment.runs.test);
  require(test.labels.defined(), "{}: {} has no labels", file.source, experiment.runs.test);
  begin_experiment(file, options, experiment.runs.time);
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (!train_if_needed(runs[i], i, runs.size(), options.common)) return stopped_experiment(options);
  const TrainedNet judge = read_net(options.out / experiment.judge);
  const auto judged = [&](const at::Tensor& values, const at::Tensor& labels) {
    return classification_result(judge.net.logits(values.to(at::kFloat)).to(at::kDouble).log_softmax(1), labels, 0);
  };
  const ClassificationResult own = judged(test.to_float(), test.labels);
  std::erase_if(runs, [&](const SeenRun& run) { return run.name == experiment.judge; });
  try {
    for (SeenRun& run : runs) {
      apply(options.common);
      ClassSamplesPlan plan = experiment.plan;
      plan.common = options.common;
      run.samples = draw_class_samples(*open_model(run.folder), run.folder.string(), plan);
      run.judged = judged(run.samples.visible, run.samples.labels());
      run.apart = spread(run.samples.visible, run.samples.labels(), run.samples.classes);
    }
  } catch (const RunFailure&) {
    if (!interrupted()) throw;
    return stopped_experiment(options);
  }
  const std::int64_t classes = runs.front().samples.classes;
  const Dataset shown = first_of_each(test, classes, experiment.plan.of_each);
  const double data_apart = spread(shown.to_float(), shown.labels, classes);
  const ClassSamples as_data{.classes = classes,
                             .visible = shown.to_float(),
                             .image = shown.image.value_or(near_square_shape(shown.columns()))};
  Gallery data{.id = "classes-data",
               .title = "Data",
               .caption = format("Rows of {} of each class.", experiment.runs.test),
               .picture = as_data.picture(experiment.shown)};
  for (const SeenRun& run : runs)  // beside the run, for who wants the picture alone
    write_png(run.folder / "class_samples.png", run.samples.picture(experiment.shown));
  const auto found = experiment_results(file, options, rows_of(experiment, runs, own, data_apart),
                                        experiment.runs.runs.front().config.seed);
  return publish_experiment(
      file, options, found, class_samples_page(file, experiment, runs, own, data_apart, std::move(data)), [&] {
        for (const SeenRun& run : runs)
          fmt::print("{:<16} assigned to another class {:<22} draws {:.2f} apart (data {:.2f}) {}\n", run.name,
                     percent(run.judged.error()), run.apart, data_apart, run.verdict());
      });
}

}  // namespace harmonium
