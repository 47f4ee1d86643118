#include "harmonium/runs/classification_result.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/runs/json_lines.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

namespace {

bool same_classification(const ClassificationResult& a, const ClassificationResult& b) {
  return a.data == b.data && a.n == b.n && a.binarization == b.binarization && a.updates == b.updates;
}

}  // namespace

Proportion wilson_interval(std::int64_t hits, std::int64_t n) {
  require(n > 0 && hits >= 0 && hits <= n, "a share of {} in {} rows is none", hits, n);
  constexpr double z = 1.959963984540054;
  const double count = static_cast<double>(n), p = static_cast<double>(hits) / count, z2 = z * z / count;
  const double middle = (p + z2 / 2) / (1 + z2);
  const double half = z / (1 + z2) * std::sqrt(p * (1 - p) / count + z2 / (4 * count));
  // At the ends the formula gives 0 and 1 up to rounding.
  return {p, hits == 0 ? 0 : middle - half, hits == n ? 1 : middle + half};
}

Proportion ClassificationResult::class_error(std::size_t truth) const {
  std::int64_t rows = 0;
  for (const std::int64_t count : confusion[truth]) rows += count;
  return rows == 0 ? Proportion{0, 0, 1} : wilson_interval(rows - confusion[truth][truth], rows);
}

ClassificationResult classification_result(const at::Tensor& log_probabilities, const at::Tensor& labels,
                                           std::int64_t most_mistakes) {
  const std::int64_t n = labels.size(0), classes = log_probabilities.size(1);
  require(n > 0 && log_probabilities.size(0) == n, "classify: {} rows of probabilities for {} labels",
          log_probabilities.size(0), n);
  const at::Tensor predicted = log_probabilities.argmax(1);
  const at::Tensor of_truth = log_probabilities.gather(1, labels.unsqueeze(1)).squeeze(1);
  ClassificationResult result;
  result.n = n;
  result.mean_log_probability = of_truth.mean().item<double>();
  const at::Tensor counts = at::bincount(labels * classes + predicted, {}, classes * classes);
  for (std::int64_t truth = 0; truth < classes; ++truth) {
    std::vector<std::int64_t> line;
    for (std::int64_t c = 0; c < classes; ++c) line.push_back(counts[truth * classes + c].item<std::int64_t>());
    result.confusion.push_back(std::move(line));
  }
  const at::Tensor rows = predicted.ne(labels).nonzero().squeeze(1);
  result.wrong = rows.size(0);
  const at::Tensor surest =
      of_truth.index_select(0, rows).argsort(0, false).narrow(0, 0, std::min(result.wrong, most_mistakes));
  for (std::int64_t i = 0; i < surest.size(0); ++i) {
    const auto row = rows[surest[i].item<std::int64_t>()].item<std::int64_t>();
    result.mistakes.push_back({.row = row,
                               .truth = labels[row].item<std::int64_t>(),
                               .predicted = predicted[row].item<std::int64_t>(),
                               .log_probability = of_truth[row].item<double>()});
  }
  return result;
}

nlohmann::ordered_json to_json(const ClassificationResult& result) {
  nlohmann::ordered_json classes = nlohmann::ordered_json::array(), mistakes = nlohmann::ordered_json::array();
  for (std::size_t c = 0; c < result.confusion.size(); ++c) {
    const Proportion error = result.class_error(c);
    std::int64_t rows = 0;
    for (const std::int64_t count : result.confusion[c]) rows += count;
    classes.push_back({{"class", c}, {"n", rows}, {"error", error.value}, {"low", error.low}, {"high", error.high}});
  }
  for (const Mistake& each : result.mistakes)
    mistakes.push_back({{"row", each.row},
                        {"truth", each.truth},
                        {"predicted", each.predicted},
                        {"log_probability", each.log_probability}});
  const Proportion error = result.error();
  nlohmann::ordered_json json = {
      {"model", result.model},
      {"updates", result.updates},
      {"data", result.data},
      {"n", result.n},
      {"binarization", result.binarization},
      {"error", error.value},
      {"low", error.low},
      {"high", error.high},
      {"wrong", result.wrong},
      {"mean_log_probability", result.mean_log_probability},
      {"trained_rows", result.trained_rows ? nlohmann::ordered_json(*result.trained_rows) : nullptr},
      {"trained_rows_note", result.trained_rows_note},
      {"confusion", result.confusion},
      {"classes", classes},
      {"mistakes", mistakes}};
  if (!result.unfinished.empty()) json["unfinished"] = result.unfinished;
  return json;
}

ClassificationResult classification_from_json(const nlohmann::ordered_json& json) {
  ClassificationResult result{.model = json.at("model"),
                              .updates = whole_number(json.at("updates")),
                              .data = json.at("data"),
                              .n = whole_number(json.at("n")),
                              .wrong = whole_number(json.at("wrong")),
                              .binarization = json.at("binarization"),
                              .mean_log_probability = json.at("mean_log_probability"),
                              .confusion = {},
                              .mistakes = {},
                              .unfinished = json.value("unfinished", "")};
  for (const auto& row : json.at("confusion")) result.confusion.push_back(whole_numbers(row));
  if (json.contains("trained_rows") && json.at("trained_rows").is_number())
    result.trained_rows = whole_number(json.at("trained_rows"));
  if (json.contains("trained_rows_note")) result.trained_rows_note = json.at("trained_rows_note");
  for (const auto& each : json.at("mistakes"))
    result.mistakes.push_back({.row = whole_number(each.at("row")),
                               .truth = whole_number(each.at("truth")),
                               .predicted = whole_number(each.at("predicted")),
                               .log_probability = each.at("log_probability")});
  for (const auto& line : result.confusion)
    require(line.size() == result.confusion.size(), "a confusion matrix is square, and one of its lines has {} of {}",
            line.size(), result.confusion.size());
  return result;
}

void record_classification(const std::filesystem::path& folder, const ClassificationResult& result) {
  change_json_lines(
      RunFolder(folder).classifications(), classification_from_json, [&](std::vector<ClassificationResult>& all) {
        std::erase_if(all, [&](const ClassificationResult& each) { return same_classification(each, result); });
        all.push_back(result);
      });
}

std::vector<ClassificationResult> read_classifications(const std::filesystem::path& folder) {
  return read_json_lines(RunFolder(folder).classifications(), classification_from_json).values;
}

}  // namespace harmonium
