#include "harmonium/report/run_report.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/families/open_model.h"
#include "harmonium/kernels/random.h"
#include "harmonium/report/comparison.h"
#include "harmonium/report/confusion.h"
#include "harmonium/report/evaluate_flags.h"
#include "harmonium/report/monitor_curves.h"
#include "harmonium/report/retrieval.h"
#include "harmonium/runs/checkpoint.h"
#include "harmonium/runs/evaluation.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/runs/open_run.h"
#include "harmonium/runs/run.h"
#include "harmonium/runs/snapshots.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

using Range = std::pair<double, double>;  // values shown as black and white

Gallery to_gallery(const Exhibit& exhibit, ImageShape shape, const Range& range) {
  return {.id = exhibit.id,
          .title = exhibit.title,
          .caption = exhibit.caption,
          .picture = tile_images(exhibit.rows, shape,
                                 {.colouring = exhibit.colours   ? Colouring::colours
                                               : exhibit.weights ? Colouring::diverging
                                                                 : Colouring::gray,
                                  .columns = exhibit.columns,
                                  .scale = exhibit.full_colour,
                                  .black = range.first,
                                  .white = range.second})};
}

// Pairs of rows: samples above the training rows nearest to them.
Gallery nearest(const at::Tensor& samples, const Dataset& train, ImageShape shape, const Range& range) {
  constexpr std::int64_t searched = 20'000;
  const at::Tensor data = train.first(searched).to_float();
  const at::Tensor distance = at::cdist(samples, data);
  const at::Tensor closest = std::get<1>(distance.min(1));
  return {.id = "nearest",
          .title = "Samples and the data nearest to them",
          .caption = format("Above: samples (probabilities). Below each: the closest of {} training rows. A model that "
                            "only memorizes would show the same picture twice.",
                            data.size(0)),
          .picture = tile_images(at::cat({samples, data.index_select(0, closest)}), shape,
                                 {.columns = samples.size(0), .black = range.first, .white = range.second})};
}

// What the model shows of itself, and data beside it.
void add_pictures(ReportContent& content, const Model& model, const fs::path& folder, const Dataset& train) {
  const ImageShape shape = model.info().image.value_or(near_square_shape(model.visible().width()));
  const auto loaded = read_checkpoint(RunFolder(folder).checkpoints());
  const NamedTensors nothing;
  const Range range = model.shown_range();
  const std::vector<Exhibit> exhibits =
      model.exhibits({.checkpoint = loaded ? loaded->checkpoint.tensors : nothing, .train = train});
  const Exhibit* samples = nullptr;
  for (const Exhibit& each : exhibits) {
    content.galleries.push_back(to_gallery(each, each.shape.value_or(shape), range));
    if (each.samples) samples = &each;
  }
  // A layer of a stack has learnt what the layers below make of the data.
  if (samples == nullptr || train.rows() == 0 || train.columns() != model.visible().width()) return;
  const at::Tensor chosen = permutation(Key(3), train.rows()).narrow(0, 0, std::min<std::int64_t>(60, train.rows()));
  content.galleries.push_back(
      {.id = "data",
       .title = "Data",
       .caption = format("Rows of {}.", train.name),
       .picture = tile_images(train.gather(chosen), shape, {.black = range.first, .white = range.second})});
  content.galleries.push_back(
      nearest(samples->rows.narrow(0, 0, std::min<std::int64_t>(15, samples->rows.size(0))), train, shape, range));
}

void add_evaluations(ReportContent& content, const std::vector<Evaluation>& evaluations, std::int64_t last_update) {
  for (const Evaluation& evaluation : evaluations) {
    if (evaluation.updates != 0 && evaluation.updates != last_update) continue;  // snapshots have a chart
    if (evaluation.log_likelihood) {
      const std::string what = "log-likelihood, " + evaluation.data;
      std::string note = format("{} rows, binarization {}", evaluation.n, evaluation.binarization);
      if (evaluation.draw_spread)
        note += format(", {} draws, spread {} nats", evaluation.draws, short_number(*evaluation.draw_spread));
      if (evaluation.hidden) note += "; " + in_words(*evaluation.hidden);
      if (!evaluation.verdict.empty()) note += "; " + evaluation.verdict;
      const bool best = std::ranges::all_of(evaluations, [&](const Evaluation& other) {
        return !other.log_likelihood || other.updates != evaluation.updates || other.data != evaluation.data ||
               other.n != evaluation.n || other.binarization != evaluation.binarization ||
               at_least_as_good(evaluation, other);
      });
      if (best) content.headline.emplace_back(what, headline(evaluation));
      content.estimates.push_back({what, *evaluation.log_likelihood, note, judgement(evaluation)});
      if (evaluation.raise && evaluation.gap)
        content.estimates.push_back(
            {what + ", from below", *evaluation.raise, format("RAISE with {} of the rows", evaluation.raise_rows)});
    }
    if (!evaluation.log_z) continue;
    content.estimates.push_back({"log Z", *evaluation.log_z, evaluation.log_likelihood ? "" : evaluation.verdict});
    if (evaluation.upper_log_z && evaluation.gap)
      content.estimates.push_back({"log Z, from above", *evaluation.upper_log_z, ""});
    if (evaluation.bennett) content.estimates.push_back({"log Z, both ways", *evaluation.bennett, ""});
  }
}

// Figures of validation rows at the update whose model was kept.
void add_watched(ReportContent& content, const ModelInfo& info, const MetricsRow& row) {
  const std::string chosen_by = info.note("chosen_by");
  const std::string of = chosen_by.empty() ? "watched rows" : chosen_by;
  const std::string remark = chosen_by.empty() ? "" : "  used to choose the model";
  const auto add = [&](const char* metric, const std::string& title, double factor, int decimals, const char* unit) {
    if (const auto value = row.values.find(metric); value != row.values.end())
      content.headline.emplace_back(title + ", " + of, fixed_number(factor * value->second, decimals) + unit + remark);
  };
  add("classification_error", "classification error", 100, 2, " %");
  add("perplexity", "perplexity", 1, 1, "");
  if (!row.values.contains("perplexity") && row.values.contains("loss"))
    add("reconstruction_error", "squared error per row", 1, 4, "");
}

// Curves of the run; of a run of stages, those of every stage in one chart.
void add_curves(ReportContent& content, const fs::path& folder, const std::vector<MetricsRow>& rows) {
  for (Chart& chart : likelihood_charts({compared_run(folder, "")}))
    // A single point is no curve: it stands among the estimates.
    if (std::ranges::any_of(chart.series, [](const Series& series) { return series.x.size() > 1; }))
      content.charts.push_back(std::move(chart));
  std::vector<std::vector<MetricsRow>> stages;
  if (rows.empty())
    for (const RunFolder& stage : RunFolder(folder).stages()) stages.push_back(MetricsLog(stage.metrics()).read());
  for (Chart& chart : monitor_charts(rows)) content.charts.push_back(std::move(chart));
  for (const MonitorCurve& curve : monitor_curves()) {
    Chart chart = monitor_chart(curve);
    for (std::size_t i = 0; i < stages.size(); ++i)
      if (Series series = monitor_series(curve, format("layer {}", i + 1), stages[i]); !series.x.empty())
        chart.series.push_back(std::move(series));
    if (!chart.series.empty()) content.charts.push_back(std::move(chart));
  }
}

}  // namespace

ReportContent run_report(const fs::path& folder, const Dataset& train, const Model* known) {
  const std::unique_ptr<Model> opened = known == nullptr ? open_run(folder).model : nullptr;
  const Model* model = known == nullptr ? opened.get() : known;
  const ModelInfo& info = model->info();
  const std::vector<MetricsRow> rows = MetricsLog(RunFolder(folder).metrics()).read();
  // The model may be that of an earlier update than the last, chosen by validation data.
  const std::int64_t last_update = info.updates() > 0 ? info.updates() : rows.empty() ? 0 : rows.back().update;

  ReportContent content;
  content.title = format("{} on {}", model->title(), info.note("data").empty() ? "data" : info.note("data"));
  content.subtitle = model->subtitle();
  if (const std::string progress = info.note("unfinished"); !progress.empty())
    content.headline.emplace_back("unfinished", progress + "  the run has not ended");
  const std::vector<Evaluation> evaluations = read_evaluations(folder);
  add_evaluations(content, evaluations, last_update);
  std::vector<ClassificationResult> classifications = read_classifications(folder);
  std::erase_if(classifications, [&](const ClassificationResult& each) { return each.updates != last_update; });
  add_classifications(content, classifications, read_mistakes(folder));
  std::vector<RetrievalResult> retrievals = read_retrievals(folder);
  std::erase_if(retrievals, [&](const RetrievalResult& each) { return each.updates != last_update; });
  add_retrievals(content, retrievals);
  for (const MetricsRow& row : rows)
    if (row.update == last_update && row.values.contains("loss")) add_watched(content, info, row);
  const std::int64_t done = rows.empty() ? last_update : rows.back().update;
  content.headline.emplace_back(
      "updates", format("{}", done) + (done != last_update ? format("  model of update {}", last_update) : ""));
  content.headline.emplace_back("training time",
                                format("{:.1f} s", rows.empty() ? seconds_of_run(folder) : rows.back().seconds));
  if (!rows.empty())
    if (const auto value = rows.back().values.find("pseudo_log_likelihood"); value != rows.back().values.end())
      content.headline.emplace_back("pseudo-log-likelihood",
                                    fixed_number(value->second, 3) + " nats  not a likelihood");
  add_curves(content, folder, rows);
  add_pictures(content, *model, folder, train);
  content.configuration = read_file(RunFolder(folder).config());
  content.reproduce = {format("harmonium train {} --out again", RunFolder(folder).config().string())};
  for (const Evaluation& evaluation : evaluations) {
    if (evaluation.data.empty()) continue;
    const std::string line =
        format("harmonium evaluate again{} --data {} {}", list_snapshots(folder).empty() ? "" : " --snapshots",
               evaluation.data, evaluate_flags(evaluation));
    if (std::ranges::find(content.reproduce, line) == content.reproduce.end()) content.reproduce.push_back(line);
  }
  for (const ClassificationResult& each : classifications)
    content.reproduce.push_back(format("harmonium classify again --data {} --binarize {}", each.data,
                                       each.binarization.substr(0, each.binarization.find(' '))));
  for (const RetrievalResult& each : retrievals)
    content.reproduce.push_back(format("harmonium retrieve again --data {}{}", each.data,
                                       each.against == each.data ? std::string() : " --against " + each.against));
  content.footer = model->remark();
  return content;
}

}  // namespace harmonium
