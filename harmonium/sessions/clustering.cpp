#include "harmonium/sessions/clustering.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/test_data.h"
#include "harmonium/report/confusion.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/run_folder.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/seen_rows.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

constexpr std::size_t mistakes_shown = 40;

ShownData open_for_clusters(ShownDataOptions& options) {
  std::unique_ptr<Model> model = open_for_use(options.model);
  if (model->clusters() == nullptr)
    cannot(*model, options.model, "sorts rows into no clusters (capsules, mixture and factor_analyzers do)");
  return show_data_to(std::move(model), options);
}

at::Tensor log_weights_of(const ShownData& shown, const Dataset& data) {
  constexpr std::int64_t rows_at_once = 1000;
  std::vector<at::Tensor> pieces;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    if (interrupted()) throw RunFailure("interrupted; nothing was written");
    const Dataset piece = data.slice(first, std::min(first + rows_at_once, data.rows()));
    pieces.push_back(shown.model->clusters()->log_weights(shown_values(piece, shown.binarization)));
  }
  return at::cat(pieces);
}

// The rows to ask from, as the model sees them.
Dataset rows_asked_from(const ShownData& shown, AskedLabelsOptions& options) {
  const Model& model = *shown.model;
  CatalogOptions how{.reading = reading_for(options.ask, options.shown.reading)};
  if (options.ask.empty()) {
    if (const RunFolder folder(options.shown.model); folder.is_run()) {
      RunConfig config;
      read_toml(folder.config(), config);
      options.ask = config.data;
      how = {.limit = config.limit, .reading = reading_of(config)};
    } else {
      options.ask = model.info().note("data");
      require(!options.ask.empty(), "{} does not say what it was trained on; name labelled data by --ask",
              options.shown.model);
      how.reading = reading_for(options.ask, options.shown.reading);
    }
  }
  Dataset rows = as_shown_to(model.visible(), open_dataset(options.ask, how), options.shown.reading);
  if (shown.counts) rows = as_counts(rows);
  require(rows.columns() == model.visible().width(), "{} has {} columns, the model takes {}", options.ask,
          rows.columns(), model.visible().width());
  require(rows.rows() > 0, "{} has no rows to ask about", options.ask);
  require(rows.labels.defined(), "{} has no labels to ask for; name labelled data by --ask", options.ask);
  return rows;
}

void require_classes(const at::Tensor& labels, const std::string& data) {
  constexpr std::int64_t most_classes = 10'000;
  const auto least = labels.min().item<std::int64_t>(), largest = labels.max().item<std::int64_t>();
  require(least >= 0 && largest < most_classes, "{}: labels go from {} to {}; classes are numbers from 0 to {}", data,
          least, largest, most_classes - 1);
}

ImageShape shape_of_rows(const Model& model) {
  return model.info().image.value_or(near_square_shape(model.visible().width()));
}

// Errors of predictions; mistakes in order of their margins.
ClassificationResult result_of(const at::Tensor& predicted, const at::Tensor& labels, const at::Tensor& margins,
                               std::int64_t classes) {
  ClassificationResult result;
  result.n = labels.size(0);
  const at::Tensor counts = at::bincount(labels * classes + predicted, {}, classes * classes);
  for (std::int64_t truth = 0; truth < classes; ++truth) {
    const std::int64_t* line = counts.data_ptr<std::int64_t>() + truth * classes;
    result.confusion.emplace_back(line, line + classes);
  }
  const at::Tensor rows = predicted.ne(labels).nonzero().squeeze(1);
  result.wrong = rows.size(0);
  const at::Tensor order =
      std::get<1>(at::sort(margins.index_select(0, rows), /*stable=*/true, /*dim=*/0, /*descending=*/true));
  for (std::int64_t i = 0; i < std::min<std::int64_t>(result.wrong, mistakes_shown); ++i) {
    const auto row = rows[order[i].item<std::int64_t>()].item<std::int64_t>();
    result.mistakes.push_back(
        {.row = row, .truth = labels[row].item<std::int64_t>(), .predicted = predicted[row].item<std::int64_t>()});
  }
  return result;
}

// Of rows under captions "truth > predicted"; of questions the group takes the place of the truth.
Picture picture_of(const std::vector<Mistake>& captions, const Dataset& data, const Model& model,
                   Binarization binarization) {
  if (captions.empty()) return {};
  std::vector<std::int64_t> rows;
  for (const Mistake& each : captions) rows.push_back(each.row);
  ClassificationResult shown;
  shown.mistakes = captions;
  return mistakes_picture(shown, shown_values(data.select(at::tensor(rows, at::kLong)), binarization),
                          shape_of_rows(model));
}

}  // namespace

ClusteredRows cluster_data(ShownDataOptions options) {
  const ShownData shown = open_for_clusters(options);
  const Clusters& clusters = *shown.model->clusters();
  const at::Tensor groups = groups_of(log_weights_of(shown, shown.data));
  ClusteredRows found{.model = options.model,
                      .data = options.data,
                      .group_name = clusters.group_name(),
                      .unfinished = shown.model->info().note("unfinished"),
                      .rows = shown.data.rows(),
                      .sizes = {},
                      .seen = shown.seen};
  const at::Tensor sizes = at::bincount(groups, {}, clusters.groups());
  found.sizes.assign(sizes.data_ptr<std::int64_t>(), sizes.data_ptr<std::int64_t>() + sizes.numel());
  if (shown.data.labels.defined()) {
    require_classes(shown.data.labels, options.data);
    found.agreement = cluster_agreement(groups, shown.data.labels, clusters.groups());
  }
  return found;
}

LabelledByFew label_by_few(AskedLabelsOptions options) {
  require(options.labels >= 1, "--labels {}: give a number of labels to ask, 1 or more", options.labels);
  const ShownData shown = open_for_clusters(options.shown);
  const Model& model = *shown.model;
  require(shown.data.labels.defined(),
          "{} has no labels, so there is nothing to compare with; give labelled data (in a column: --label-column "
          "first or last)",
          options.shown.data);
  require_classes(shown.data.labels, options.shown.data);
  const Dataset from = rows_asked_from(shown, options);
  require_classes(from.labels, options.ask);

  LabelledByFew found{.group_name = model.clusters()->group_name(),
                      .asked_from = options.ask,
                      .groups = model.clusters()->groups(),
                      .budget = options.labels};
  const at::Tensor weights_from = log_weights_of(shown, from), weights = log_weights_of(shown, shown.data);
  found.asked = rows_to_ask(weights_from, options.labels);
  std::vector<Mistake> captions;
  for (const AskedRow& each : found.asked) {
    found.answers.push_back(from.labels[each.row].item<std::int64_t>());
    captions.push_back({.row = each.row, .truth = each.group, .predicted = found.answers.back()});
  }
  found.of_groups = labels_of_groups(found.asked, found.answers, found.groups);
  const std::int64_t classes =
      std::max(from.labels.max().item<std::int64_t>(), shown.data.labels.max().item<std::int64_t>()) + 1;
  found.result = result_of(labels_by_groups(weights, found.of_groups), shown.data.labels, margins_of(weights), classes);
  found.result.model = options.shown.model;
  found.result.updates = model.info().updates();
  found.result.data = options.shown.data;
  found.result.binarization = to_string(shown.binarization);
  found.result.unfinished = model.info().note("unfinished");
  if (shown.seen) {
    found.result.trained_rows = shown.seen->seen;
    found.result.trained_rows_note = in_words(*shown.seen);
  }
  const std::vector<std::int64_t> majority = majority_labels(groups_of(weights_from), from.labels, found.groups);
  found.by_majority = wilson_interval(
      labels_by_groups(weights, majority).ne(shown.data.labels).sum().item<std::int64_t>(), shown.data.rows());
  found.questions = picture_of(captions, from, model, shown.binarization);
  found.mistakes = picture_of(found.result.mistakes, shown.data, model, shown.binarization);
  return found;
}

nlohmann::ordered_json to_json(const ClusteredRows& found) {
  nlohmann::ordered_json json = {{"model", found.model},
                                 {"data", found.data},
                                 {"rows", found.rows},
                                 {"clusters", found.group_name},
                                 {"sizes", found.sizes}};
  if (found.agreement)
    json.update({{"judged_by", "labels"},
                 {"purity", found.agreement->purity},
                 {"normalized_information", found.agreement->normalized_information},
                 {"matched", found.agreement->matched},
                 {"matching", found.agreement->matching},
                 {"counts", found.agreement->counts}});
  json["trained_rows"] = found.seen ? nlohmann::ordered_json(found.seen->seen) : nullptr;
  if (!found.unfinished.empty()) json["unfinished"] = found.unfinished;
  return json;
}

nlohmann::ordered_json to_json(const LabelledByFew& found) {
  const ClassificationResult& result = found.result;
  nlohmann::ordered_json asked = nlohmann::ordered_json::array(), mistakes = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < found.asked.size(); ++i)
    asked.push_back({{"row", found.asked[i].row},
                     {"cluster", found.asked[i].group},
                     {"margin", found.asked[i].margin},
                     {"label", found.answers[i]}});
  for (const Mistake& each : result.mistakes)
    mistakes.push_back({{"row", each.row}, {"truth", each.truth}, {"predicted", each.predicted}});
  const Proportion error = result.error();
  nlohmann::ordered_json json = {
      {"model", result.model},
      {"updates", result.updates},
      {"data", result.data},
      {"n", result.n},
      {"error", error.value},
      {"low", error.low},
      {"high", error.high},
      {"wrong", result.wrong},
      {"budget", found.budget},
      {"labels_asked", found.asked.size()},
      {"asked_from", found.asked_from},
      {"clusters", found.group_name},
      {"label_of_cluster", found.of_groups},
      {"asked", asked},
      {"for_comparison_only",
       {{"majority_labels_of_all_rows", found.by_majority.value},
        {"low", found.by_majority.low},
        {"high", found.by_majority.high}}},
      {"trained_rows", result.trained_rows ? nlohmann::ordered_json(*result.trained_rows) : nullptr},
      {"confusion", result.confusion},
      {"mistakes", mistakes}};
  if (!result.unfinished.empty()) json["unfinished"] = result.unfinished;
  return json;
}

}  // namespace harmonium
