#include <fmt/core.h>

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/number_text.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/experiments/samples_experiment.h"
#include "harmonium/experiments/training_experiment.h"
#include "harmonium/sessions/compared_runs.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// Samples of one run from one start: numbers, and the pictures beside.
struct Seen {
  std::string run, start;
  ordered_json diagnosis;
  at::Tensor visible;
  std::optional<ImageShape> image;

  [[nodiscard]] std::optional<double> number(const char* name) const {
    if (!diagnosis.contains("classes") || !diagnosis["classes"][name].is_number()) return std::nullopt;
    return diagnosis["classes"][name].get<double>();
  }
};

ordered_json question_of(const DrawPlan& plan, const std::string& labels) {
  return {{"sampler", plan.sampler.name},
          {"start", plan.start},
          {"count", plan.chains},
          {"sweeps", plan.sweeps},
          {"trace", plan.trace},
          {"rungs", plan.sampler.rungs},
          {"fast_rate", plan.sampler.fast_rate},
          {"fast_decay", plan.sampler.fast_decay},
          {"seed", plan.seed},
          {"labels", labels},
          {"measures", 2}};  // counted up when they change, so that earlier ones are not taken for these
}

// What was drawn in an earlier sitting is found again by its files.
Seen see(const ComparedRun& run, const SamplesPlan& plan, const std::string& start, const SessionOptions& common) {
  DrawPlan draw_plan = plan.draw;
  draw_plan.start = start;
  draw_plan.means = true;
  const fs::path folder = run.folder, numbers = folder / format("samples-{}.json", start),
                 pictures = folder / format("samples-{}.npy", start);
  const TrainedMachine model = read_machine(folder);
  const auto source = find_data("", run.folder);
  const DataSource labels =
      plan.labels.empty() ? *source : DataSource{.spec = plan.labels, .binarize = source->binarize};
  Seen seen{.run = run.name, .start = start, .diagnosis = {}, .visible = {}, .image = model.image};
  const ordered_json question = question_of(draw_plan, labels.spec);
  if (fs::exists(numbers) && fs::exists(pictures)) {
    const ordered_json before = ordered_json::parse(read_file(numbers), nullptr, false);
    if (before.is_object() && before.value("question", ordered_json()) == question) {
      seen.diagnosis = before["diagnosis"];
      seen.visible = parse_npy(read_file(pictures), pictures.string());
      return seen;
    }
  }
  apply(common);  // threads, which smaller work may have limited
  limit_threads(common, static_cast<double>(draw_plan.chains * model.machine.parameters().dimension()));
  std::optional<SteeringData> data;
  if (needs_data(draw_plan)) data = open_steering_data(*source, model.machine);
  const ClassAssigner classes = [&] {
    if (const auto layer = find_label_layer(model.machine); layer && plan.labels.empty())
      return ClassAssigner(model.machine, *layer);
    return ClassAssigner(model.machine, labels);
  }();
  const Drawn drawn = draw(model, draw_plan, data ? &data->state : nullptr, &classes, {},
                           format("sampling {} from {}", run.name, start), common.json);
  seen.diagnosis = drawn.diagnosis->to_json();
  seen.visible = drawn.visible;
  write_file_atomically(pictures, encode_npy(drawn.visible));
  write_file_atomically(numbers, ordered_json{{"question", question}, {"diagnosis", seen.diagnosis}}.dump(1) + "\n");
  return seen;
}

// A number for each run, the smaller or the larger the better, against the order that was expected.
struct Ordering {
  std::string what;
  std::vector<std::pair<std::string, double>> values;  // by the expected order
  bool larger_is_better = true;

  [[nodiscard]] bool held() const {
    return std::ranges::is_sorted(
        values, [&](double a, double b) { return larger_is_better ? a > b : a < b; },
        &std::pair<std::string, double>::second);
  }
  [[nodiscard]] std::string in_words() const {
    std::string text;
    for (const auto& [name, value] : values)
      text += (text.empty() ? "" : larger_is_better ? " > " : " < ") + format("{} ({})", name, short_number(value));
    return text;
  }
};

std::vector<Ordering> orderings(const SamplesPlan& plan, const std::vector<ComparedRun>& runs,
                                const std::vector<Seen>& all) {
  std::vector<Ordering> result;
  if (plan.order.size() < 2) return result;
  Ordering likelihood{.what = "log-likelihood", .values = {}};
  for (const std::string& name : plan.order) {
    const ComparedRun& run = *std::ranges::find(runs, name, &ComparedRun::name);
    if (!run.evaluations.empty()) likelihood.values.emplace_back(name, run.evaluations.back().log_likelihood->value);
  }
  result.push_back(likelihood);
  for (const std::string& start : plan.starts) {
    if (start == "data") continue;  // chains that do not move are as spread as data whatever the model is
    Ordering distance{
        .what = "distance of data to the nearest sample from " + start, .values = {}, .larger_is_better = false};
    for (const std::string& name : plan.order)
      for (const Seen& seen : all)
        if (seen.run == name && seen.start == start)
          if (const auto value = seen.number("mean_distance_of_rows_to_nearest_chain"))
            distance.values.emplace_back(name, *value);
    if (distance.values.size() == plan.order.size()) result.push_back(distance);
  }
  return result;
}

std::string sentence(const Ordering& ordering) {
  return format("expected order by {}: {}: {}", ordering.what, ordering.in_words(),
                ordering.held() ? "held" : "NOT HELD");
}

ordered_json sample_rows(const SamplesPlan& plan, const std::vector<Seen>& all) {
  ordered_json rows = ordered_json::array();
  const auto add = [&](const std::string& what, const ordered_json& value) {
    if (value.is_number())
      rows.push_back({{"what", what},
                      {"value", value},
                      {"low", nullptr},
                      {"high", nullptr},
                      {"kind", "diagnostic"},
                      {"expected", nullptr},
                      {"source", nullptr}});
  };
  const ordered_json none = nullptr;
  for (const Seen& seen : all) {
    const std::string who = format("{}, {} chains of {} from {}, {} sweeps: ", seen.run, plan.draw.chains,
                                   find_sampler(plan.draw.sampler.name).name, seen.start, plan.draw.sweeps);
    const ordered_json classes = seen.diagnosis.value("classes", ordered_json::object());
    add(who + "mean distance to the nearest labelled row", classes.value("mean_distance_to_nearest_row", none));
    add(who + "mean distance of labelled rows to the nearest sample",
        classes.value("mean_distance_of_rows_to_nearest_chain", none));
    add(who + "changes of class per chain and 100 sweeps", classes.value("jumps_per_100_steps", none));
    add(who + "classes visited", classes.value("visited", none));
    add(who + "slowest autocorrelation time, in sweeps", seen.diagnosis["slowest_autocorrelation_time"]);
  }
  if (!all.empty())
    add(format("labelled rows: mean distance to the nearest of {} others", plan.draw.chains),
        all.front()
            .diagnosis.value("classes", ordered_json::object())
            .value("mean_distance_of_rows_to_as_many_rows", none));
  if (!all.empty())
    add("labelled rows: mean distance to the nearest other one",
        all.front()
            .diagnosis.value("classes", ordered_json::object())
            .value("mean_distance_of_rows_to_each_other", none));
  return rows;
}

std::string cell(const std::optional<double>& value, int decimals) {
  return value ? fixed_number(*value, decimals) : "";
}

ReportContent page_of(const SamplesPlan& plan, const TrainingExperiment& experiment,
                      const std::vector<ComparedRun>& runs, const std::vector<Seen>& all,
                      const std::vector<Ordering>& orders) {
  ReportContent page = comparison_report(runs, experiment.expected);
  Table table;
  table.id = "samples";
  table.title = format("Samples by {}, after {} sweeps", find_sampler(plan.draw.sampler.name).name, plan.draw.sweeps);
  table.header = {"run",
                  "start",
                  "distance to data",
                  "of data to samples",
                  "changes of class / 100 sweeps",
                  "classes",
                  "slowest time, sweeps"};
  table.caption = format(
      "Watched for {} sweeps of {} chains. Class and distance: {}. These rows are {} from each other "
      "on average, and independent states would change class {} times in 100 sweeps.",
      plan.draw.trace, plan.draw.chains, all.front().diagnosis["classes"]["assigned_by"].get<std::string>(),
      cell(all.front().number("mean_distance_of_rows_to_each_other"), 2),
      cell(all.front().number("jumps_per_100_if_independent"), 0));
  for (const Seen& seen : all) {
    table.rows.push_back({seen.run, seen.start, cell(seen.number("mean_distance_to_nearest_row"), 2),
                          cell(seen.number("mean_distance_of_rows_to_nearest_chain"), 2),
                          cell(seen.number("jumps_per_100_steps"), 2),
                          cell(seen.number("visited"), 0) + " of " + cell(seen.number("classes"), 0),
                          fixed_number(seen.diagnosis["slowest_autocorrelation_time"].get<double>(), 1)});
    const ComparedRun& run = *std::ranges::find(runs, seen.run, &ComparedRun::name);
    Gallery gallery;
    gallery.id = seen.run + "-" + seen.start;
    gallery.title = format("{}, from {}", seen.run, seen.start);
    if (!run.evaluations.empty())
      gallery.caption =
          format("Log-likelihood of {}: {}. ", run.evaluations.back().data, headline(run.evaluations.back()));
    if (const auto distance = seen.number("mean_distance_to_nearest_row"))
      gallery.caption +=
          format("Nearest labelled row {} away; labelled rows {} from the nearest sample. ", fixed_number(*distance, 2),
                 cell(seen.number("mean_distance_of_rows_to_nearest_chain"), 2));
    gallery.caption += format("{} changes of class per chain and 100 sweeps. Shown is E[v | h].",
                              cell(seen.number("jumps_per_100_steps"), 2));
    TileOptions tiles;
    tiles.columns = 8;  // narrow enough for two to stand side by side
    gallery.picture = tile_images(seen.visible, seen.image.value_or(near_square_shape(seen.visible.size(1))), tiles);
    page.galleries.push_back(std::move(gallery));
  }
  page.tables.insert(page.tables.begin(), std::move(table));
  if (!orders.empty()) {
    Table held;
    held.id = "order";
    held.title = "Expected order";
    held.header = {"by", "measured, best expected first", ""};
    for (const Ordering& each : orders)
      held.rows.push_back({each.what, each.in_words(), each.held() ? "held" : "NOT HELD"});
    page.tables.insert(page.tables.begin(), std::move(held));
  }
  page.order = {ReportSection::galleries, ReportSection::tables,        ReportSection::estimates,
                ReportSection::charts,    ReportSection::configuration, ReportSection::reproduce};
  return page;
}

}  // namespace

int reproduce_samples(const ExperimentFile& file, const ReproduceOptions& options) {
  const SamplesPlan plan = parse_samples(file, options.quick);
  ExperimentFile training = file;
  training.table.erase("samples");
  TrainingExperiment experiment = parse_training_experiment(training, options.quick);
  place_runs(experiment.runs, options.common);
  for (const std::string& name : plan.order)
    require(std::ranges::find(experiment.runs, name, &PlannedRun::name) != experiment.runs.end(),
            "{}: order names '{}', and there is no such run", file.source, name);
  const std::optional<std::vector<ComparedRun>> runs = train_and_judge(file, experiment, options);
  if (!runs) return stopped_experiment(options);
  std::vector<Seen> all;
  try {
    for (const std::string& start : plan.starts)
      for (const ComparedRun& run : *runs) all.push_back(see(run, plan, start, options.common));
  } catch (const RunFailure&) {
    if (!interrupted()) throw;
    return stopped_experiment(options);
  }
  const std::vector<Ordering> orders = orderings(plan, *runs, all);
  ordered_json rows = measured_rows(*runs, experiment.expected);
  for (const ordered_json& row : sample_rows(plan, all)) rows.push_back(row);
  for (const Ordering& each : orders)
    rows.push_back({{"what", "order by " + each.what},
                    {"value", each.in_words()},
                    {"low", nullptr},
                    {"high", nullptr},
                    {"kind", "order"},
                    {"expected", each.held() ? "held" : "not held"},
                    {"source", nullptr}});
  const auto found = experiment_results(file, options, rows, experiment.runs.front().config.seed);
  return publish_experiment(file, options, found, page_of(plan, experiment, *runs, all, orders), [&] {
    fmt::print("{}", likelihood_table(*runs));
    for (const Seen& seen : all)
      fmt::print(
          "{} from {}: nearest labelled row {} away, labelled rows {} from the nearest sample, {} changes of class per "
          "chain and 100 sweeps\n",
          seen.run, seen.start, cell(seen.number("mean_distance_to_nearest_row"), 2),
          cell(seen.number("mean_distance_of_rows_to_nearest_chain"), 2), cell(seen.number("jumps_per_100_steps"), 2));
    for (const Ordering& each : orders) fmt::print("{}\n", sentence(each));
  });
}

}  // namespace harmonium
