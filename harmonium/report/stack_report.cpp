#include "harmonium/report/stack_report.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/report/confusion.h"
#include "harmonium/report/html.h"
#include "harmonium/report/monitor_curves.h"
#include "harmonium/samplers/belief_net_samples.h"
#include "harmonium/training/files/evaluation.h"
#include "harmonium/training/files/metrics_log.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium {

namespace {

constexpr std::int64_t report_sweeps = 500;

// A chart for every metric that some stage has, with a line for each stage.
std::vector<Chart> stage_charts(const std::filesystem::path& folder, std::size_t stages, double& seconds) {
  std::vector<std::vector<MetricsRow>> rows;
  for (std::size_t i = 0; i < stages; ++i) {
    rows.push_back(MetricsLog(folder / format("layer-{}", i + 1) / "metrics.jsonl").read());
    if (!rows.back().empty()) seconds += rows.back().back().seconds;
  }
  std::vector<Chart> charts;
  for (const MonitorCurve& curve : monitor_curves()) {
    Chart chart = monitor_chart(curve);
    for (std::size_t i = 0; i < stages; ++i)
      if (Series series = monitor_series(curve, format("layer {}", i + 1), rows[i]); !series.x.empty())
        chart.series.push_back(std::move(series));
    if (!chart.series.empty()) charts.push_back(std::move(chart));
  }
  return charts;
}

// A stack that was trained on as a whole has its own metrics beside those of its layers.
std::vector<Chart> tuning_charts(const std::filesystem::path& folder, double& seconds) {
  const std::vector<MetricsRow> rows = MetricsLog(folder / "metrics.jsonl").read();
  if (!rows.empty()) seconds += rows.back().seconds;
  return monitor_charts(rows);
}

// What the units of a layer ask of the data through the layers below, as a linear map.
Gallery stage_filters(const MachineStack& stack, std::size_t stage, ImageShape shape) {
  constexpr std::int64_t most = 96;
  at::Tensor map = stack[0].parameters()["visible_hidden.weights"];
  for (std::size_t i = 1; i <= stage; ++i) map = map.matmul(stack[i].parameters()["visible_hidden.weights"]);
  const at::Tensor columns = map.t();
  const at::Tensor order =
      columns.norm(2, 1).argsort(0, /*descending=*/true).narrow(0, 0, std::min(most, columns.size(0)));
  return {.id = format("filters-{}", stage + 1),
          .title = format("Filters, layer {}", stage + 1),
          .caption = format("{} of {} hidden units, largest first{}. Red adds, blue takes away; each on its own scale.",
                            order.size(0), columns.size(0),
                            stage == 0 ? "" : ": products of the weights from the data up, as if layers were linear"),
          .picture =
              tile_images(columns.index_select(0, order), shape, {.colouring = Colouring::diverging, .columns = 12})};
}

}  // namespace

ReportContent stack_report(const std::filesystem::path& folder, const Dataset& train) {
  const StackModel model = read_stack_model(folder);
  const BeliefNet net = model.net();
  const MachineStack& stack = net.down;
  const ImageShape shape = model.image.value_or(near_square_shape(stack[0].unit(0).width()));
  ReportContent content;
  content.title = format("Deep belief net on {}", model.notes.contains("data") ? model.notes.at("data") : "data");
  content.subtitle = stack[0].unit(0).spec();
  for (const BoltzmannMachine& machine : stack)
    content.subtitle += format(" – {}", machine.unit(machine.hidden().front()).spec());
  if (model.kind == "classification_dbn") content.subtitle += "; the label beside the last but one";
  if (!net.tied) content.subtitle += "; ways up and down with weights of their own";
  for (const Evaluation& evaluation : read_evaluations(folder)) {
    if (evaluation.log_likelihood) {
      const std::string what = "log-likelihood bound, " + evaluation.data;
      content.headline.emplace_back(what, headline(*evaluation.log_likelihood));
      content.estimates.push_back(
          {what, *evaluation.log_likelihood,
           format("{} rows, binarization {}; {}", evaluation.n, evaluation.binarization, evaluation.verdict)});
      if (evaluation.raise) content.estimates.push_back({what + ", by log Z from above", *evaluation.raise, ""});
    }
    content.estimates.push_back({"log Z of the top machine", evaluation.log_z, ""});
  }
  const std::vector<ClassificationResult> classifications = read_classifications(folder);
  add_classifications(content, classifications, read_mistakes(folder));
  double seconds = 0;
  content.charts = net.tied ? stage_charts(folder, stack.size(), seconds) : tuning_charts(folder, seconds);
  content.headline.emplace_back("updates", model.notes.contains("updates") ? model.notes.at("updates") : "?");
  content.headline.emplace_back("training time", format("{:.1f} s", seconds));
  if (stack[0].unit(0).width() >= 4) {
    content.galleries.push_back(
        {.id = "samples",
         .title = "Samples",
         .caption = format("Probabilities of the data's units after {} Gibbs sweeps of the top machine from its biases "
                           "and a draw of every layer down.",
                           report_sweeps),
         .picture = tile_images(sample_belief_net(net, Key(1), 60, report_sweeps).means, shape)});
    if (model.kind == "classification_dbn") {
      constexpr std::int64_t of_each = 12, most_classes = 30;
      const std::int64_t classes = stack.back().unit(stack.back().observed()[1]).width();
      const at::Tensor labels = at::arange(std::min(classes, most_classes), at::kLong).repeat_interleave(of_each);
      const at::Tensor rows = sample_belief_net(net, Key(2), labels, report_sweeps).means;
      content.galleries.push_back({.id = "classes",
                                   .title = "Samples of each class",
                                   .caption = "One row for each class from 0: the same with the label held.",
                                   .picture = tile_images(rows, shape, {.columns = of_each})});
    }
    for (std::size_t i = 0; i < stack.size(); ++i) content.galleries.push_back(stage_filters(stack, i, shape));
    if (train.rows() > 0) {
      const at::Tensor chosen =
          permutation(Key(3), train.rows()).narrow(0, 0, std::min<std::int64_t>(60, train.rows()));
      content.galleries.push_back({.id = "data",
                                   .title = "Data",
                                   .caption = format("Rows of {}.", train.name),
                                   .picture = tile_images(train.gather(chosen), shape)});
    }
  }
  content.configuration = read_file(folder / "config.toml");
  content.reproduce = {format("harmonium train {} --out again", (folder / "config.toml").string())};
  content.footer = format(
      "Bounds are in nats per row, from below. Numbers under different binarizations are not comparable. {}",
      net.tied ? "Every layer-N of the folder is a run of its own, with its own metrics."
               : "The layers were trained together by up–down; filters are those of the way down, and updates and "
                 "training time do not count those of the layers by themselves.");
  return content;
}

}  // namespace harmonium
