// Groups that a model finds without labels: how they agree with classes, and classes of rows by a few labels. What
// `cluster`, `classify --labels` and experiments have in common.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/measures/asked_labels.h"
#include "harmonium/measures/cluster_agreement.h"
#include "harmonium/report/picture.h"
#include "harmonium/runs/classification_result.h"
#include "harmonium/sessions/shown_data.h"

namespace harmonium {

struct ClusteredRows {
  std::string model, data, group_name, unfinished;
  std::int64_t rows = 0;
  std::vector<std::int64_t> sizes = {};                      // of all groups
  std::optional<ClusterAgreement> agreement = std::nullopt;  // where rows have labels
  std::optional<RowsSeen> seen = std::nullopt;
};

[[nodiscard]] ClusteredRows cluster_data(ShownDataOptions options);
[[nodiscard]] nlohmann::ordered_json to_json(const ClusteredRows& found);

struct AskedLabelsOptions {
  ShownDataOptions shown = {};
  std::int64_t labels = 25;
  std::string ask = {};  // labelled data to ask from; empty: what the model was trained on
};

// Rows told apart by a few labels.
struct LabelledByFew {
  std::string group_name, asked_from;
  std::int64_t groups = 0, budget = 0;
  std::vector<AskedRow> asked = {};          // in order
  std::vector<std::int64_t> answers = {};    // to them
  std::vector<std::int64_t> of_groups = {};  // labels; −1: none
  // Of the rows shown. Mistakes are those of the largest margin, and mean_log_probability is none.
  ClassificationResult result = {};
  // The share of mistakes where every group has its most frequent label of all rows asked from.
  Proportion by_majority = {};
  Picture questions = {},
          mistakes = {};  // rows asked about, with their labels; the surest mistakes, empty where there are none
};

// Labels are taken of the rows that are asked, and of all for by_majority alone.
[[nodiscard]] LabelledByFew label_by_few(AskedLabelsOptions options);
[[nodiscard]] nlohmann::ordered_json to_json(const LabelledByFew& found);

}  // namespace harmonium
