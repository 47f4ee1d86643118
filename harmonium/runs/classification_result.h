// How a model classified labelled rows, as `classify` prints it (--json), keeps it in a run folder and shows it.
#pragma once

#include <ATen/ATen.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace harmonium {

struct Proportion {
  double value = 0, low = 0, high = 0;
};

// The 95 % score interval of Wilson (1927), which holds near 0 and 1 where the textbook one fails.
[[nodiscard]] Proportion wilson_interval(std::int64_t hits, std::int64_t n);

struct Mistake {
  std::int64_t row = 0, truth = 0, predicted = 0;
  double log_probability = 0;  // log p(truth | row): how sure the model was of the wrong class
};

struct ClassificationResult {
  std::string model;
  std::int64_t updates = 0;  // that the model was trained, as it says itself; 0: not known
  std::string data;
  std::int64_t n = 0, wrong = 0;
  std::string binarization;
  double mean_log_probability = 0;                          // of the true class, nats per row
  std::vector<std::vector<std::int64_t>> confusion;         // [truth][predicted], rows counted
  std::vector<Mistake> mistakes;                            // the surest first; a few
  std::optional<std::int64_t> trained_rows = std::nullopt;  // rows that the model has learnt from; nothing: not known
  std::string trained_rows_note = {};                       // the same in words; empty where there is nothing to say
  std::string unfinished = {};  // "update 2871 of 10000" where the run had not ended; empty otherwise

  [[nodiscard]] Proportion error() const { return wilson_interval(wrong, n); }
  [[nodiscard]] Proportion class_error(std::size_t truth) const;
};

// `log_probabilities` is rows × classes (see log_label_probabilities), `labels` in 0 … classes − 1.
[[nodiscard]] ClassificationResult classification_result(const at::Tensor& log_probabilities, const at::Tensor& labels,
                                                         std::int64_t most_mistakes);

[[nodiscard]] nlohmann::ordered_json to_json(const ClassificationResult& result);
[[nodiscard]] ClassificationResult classification_from_json(const nlohmann::ordered_json& json);

// classifications.jsonl of a run folder, one line each; the same data under the same binarization asked again of the
// same model (the same updates) replace the old answer. The latest is last.
void record_classification(const std::filesystem::path& folder, const ClassificationResult& result);
[[nodiscard]] std::vector<ClassificationResult> read_classifications(const std::filesystem::path& folder);

}  // namespace harmonium
