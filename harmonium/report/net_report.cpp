#include "harmonium/report/net_report.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/report/confusion.h"
#include "harmonium/report/html.h"
#include "harmonium/report/monitor_curves.h"
#include "harmonium/report/retrieval.h"
#include "harmonium/training/files/metrics_log.h"
#include "harmonium/training/files/net_file.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

std::string layers_in_words(const FeedForward& net) {
  std::string words = std::to_string(net.inputs());
  for (std::size_t i = 0; i < net.layers().size(); ++i)
    words += format(" – {} {}{}", net.layers()[i].outputs, to_string(net.layers()[i].activation),
                    net.code() == i ? " (code)" : "");
  return words;
}

std::string net_title(const NetModel& model) {
  if (model.kind == "autoencoder") return "Autoencoder";
  return model.net.layers().size() == 1 ? "Logistic regression" : "Feed-forward classifier";
}

Gallery first_layer(const FeedForward& net, ImageShape shape) {
  constexpr std::int64_t most = 96;
  const at::Tensor columns = net.weights(0).t();
  const at::Tensor order =
      columns.norm(2, 1).argsort(0, /*descending=*/true).narrow(0, 0, std::min(most, columns.size(0)));
  return {.id = "filters",
          .title = "Filters",
          .caption = format("Weights of {} of {} units of the first layer, largest first. Red adds, blue takes away; "
                            "each on its own scale.",
                            order.size(0), columns.size(0)),
          .picture =
              tile_images(columns.index_select(0, order), shape, {.colouring = Colouring::diverging, .columns = 12})};
}

}  // namespace

Picture reconstruction_picture(const at::Tensor& rows, const at::Tensor& rebuilt, ImageShape shape,
                               std::int64_t columns) {
  std::vector<at::Tensor> strips;
  const std::int64_t width = std::min(columns, rows.size(0));
  for (std::int64_t first = 0; first + width <= rows.size(0); first += width) {
    strips.push_back(rows.narrow(0, first, width));
    strips.push_back(rebuilt.narrow(0, first, width));
  }
  return tile_images(at::cat(strips), shape, {.columns = width});
}

ReportContent net_report(const std::filesystem::path& folder, const Dataset& train) {
  const NetModel model = read_net(folder);
  const std::vector<MetricsRow> rows = MetricsLog(folder / "metrics.jsonl").read();
  const ImageShape shape = model.image.value_or(near_square_shape(model.net.inputs()));
  const auto note = [&](const std::string& key) {
    const auto it = model.notes.find(key);
    return it == model.notes.end() ? std::string() : it->second;
  };

  ReportContent content;
  content.title = format("{} on {}", net_title(model), note("data"));
  content.subtitle = layers_in_words(model.net) + (note("start").empty() ? "" : "; " + note("start"));
  const std::int64_t kept = std::atoll(note("updates").c_str());
  std::vector<ClassificationResult> classifications = read_classifications(folder);
  std::erase_if(classifications, [&](const ClassificationResult& each) { return each.updates != kept; });
  add_classifications(content, classifications, read_mistakes(folder));
  std::vector<RetrievalResult> retrievals = read_retrievals(folder);
  std::erase_if(retrievals, [&](const RetrievalResult& each) { return each.updates != kept; });
  add_retrievals(content, retrievals);
  for (const MetricsRow& row : rows) {
    if (row.update != kept) continue;
    const bool chosen = !note("chosen_by").empty();
    const std::string of = chosen ? note("chosen_by") : "watched rows";
    const std::string remark = chosen ? "  the net was chosen by them" : "";
    if (const auto value = row.values.find("classification_error"); value != row.values.end())
      content.headline.emplace_back("classification error, " + of,
                                    fixed_number(100 * value->second, 2) + " %" + remark);
    if (const auto value = row.values.find("perplexity"); value != row.values.end())
      content.headline.emplace_back("perplexity, " + of, fixed_number(value->second, 1) + remark);
    if (const auto value = row.values.find("reconstruction_error"); value != row.values.end())
      content.headline.emplace_back("squared error per row, " + of, fixed_number(value->second, 4) + remark);
  }
  if (!rows.empty()) {
    content.headline.emplace_back(
        "updates", format("{}", rows.back().update) +
                       (kept != rows.back().update ? format("  model of update {}", kept) : std::string()));
    content.headline.emplace_back("training time", format("{:.1f} s", rows.back().seconds));
  }
  for (Chart& chart : monitor_charts(rows)) {
    if (chart.id == "gradient_norm") {
      chart.y_label = "norm";
      chart.caption = "Of the loss of one batch, penalties included.";
    } else if (chart.id == "reconstruction_error") {
      chart.caption = "Of what the net gives back, on the watched rows: validation rows where there are any.";
    }
    content.charts.push_back(std::move(chart));
  }
  if (model.net.inputs() >= 4 && model.net.input_form() == InputForm::as_given) {
    if (model.net.code() && train.rows() > 0) {
      const Dataset chosen =
          train.select(permutation(Key(3), train.rows()).narrow(0, 0, std::min<std::int64_t>(60, train.rows())));
      const at::Tensor values = shown_values(chosen, parse_binarization(note("binarization")));
      content.galleries.push_back({.id = "reconstructions",
                                   .title = "Reconstructions",
                                   .caption = format("Rows of {}, which the net was trained on; below each what it "
                                                     "makes of the code of {} numbers.",
                                                     train.name, model.net.layers()[*model.net.code()].outputs),
                                   .picture = reconstruction_picture(values, model.net.forward(values), shape)});
    }
    content.galleries.push_back(first_layer(model.net, shape));
  }
  content.configuration = read_file(folder / "config.toml");
  content.reproduce = {format("harmonium train {} --out again", (folder / "config.toml").string())};
  for (const ClassificationResult& each : classifications)
    content.reproduce.push_back(format("harmonium classify again --data {} --binarize {}", each.data,
                                       each.binarization.substr(0, each.binarization.find(' '))));
  for (const RetrievalResult& each : retrievals)
    content.reproduce.push_back(format("harmonium retrieve again --data {}{}", each.data,
                                       each.against == each.data ? std::string() : " --against " + each.against));
  content.footer = "Errors of validation data by which a model was chosen are optimistic; those of test data are not.";
  return content;
}

}  // namespace harmonium
