#include "harmonium/measures/asked_labels.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <map>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// Rows × groups, float64, finite.
at::Tensor checked_log_weights(const at::Tensor& log_weights) {
  require(log_weights.dim() == 2 && log_weights.size(1) >= 1, "log-weights of groups are a table, rows × groups");
  require(!log_weights.isnan().any().item<bool>(), "log-weights of groups are not all numbers");
  return log_weights.to(at::kDouble);
}

std::vector<std::int64_t> numbers_of(const at::Tensor& x) {
  const at::Tensor whole = x.contiguous();
  return {whole.data_ptr<std::int64_t>(), whole.data_ptr<std::int64_t>() + whole.numel()};
}

}  // namespace

at::Tensor groups_of(const at::Tensor& log_weights) {
  const at::Tensor x = checked_log_weights(log_weights);
  // The first of the largest, whatever argmax does with ties.
  const at::Tensor largest = x.eq(x.amax(1, /*keepdim=*/true)), order = at::arange(x.size(1), at::kLong);
  return at::where(largest, order, x.size(1)).amin(1);
}

at::Tensor margins_of(const at::Tensor& log_weights) {
  const at::Tensor x = checked_log_weights(log_weights), own = groups_of(x).unsqueeze(1);
  constexpr double nothing = -std::numeric_limits<double>::infinity();
  return x.gather(1, own).squeeze(1) - at::logsumexp(x.scatter(1, own, nothing), 1);
}

std::vector<AskedRow> rows_to_ask(const at::Tensor& log_weights, std::int64_t labels) {
  require(labels >= 1, "{} labels are none; ask for 1 or more", labels);
  const std::int64_t groups = log_weights.size(1), most = (labels + groups - 1) / groups;
  const at::Tensor margin = margins_of(log_weights);
  const std::vector<std::int64_t> own = numbers_of(groups_of(log_weights));
  const double* margins = margin.data_ptr<double>();
  std::vector<std::vector<AskedRow>> members(static_cast<std::size_t>(groups));
  for (std::size_t row = 0; row < own.size(); ++row)
    members[static_cast<std::size_t>(own[row])].push_back(
        {.row = static_cast<std::int64_t>(row), .group = own[row], .margin = margins[row]});
  std::ranges::stable_sort(members, std::ranges::greater(), [](const auto& rows) { return rows.size(); });
  for (std::vector<AskedRow>& rows : members) std::ranges::stable_sort(rows, std::ranges::greater(), &AskedRow::margin);
  std::vector<AskedRow> asked;
  for (std::size_t round = 0; round < static_cast<std::size_t>(most); ++round)
    for (const std::vector<AskedRow>& rows : members)
      if (round < rows.size() && static_cast<std::int64_t>(asked.size()) < labels) asked.push_back(rows[round]);
  return asked;
}

std::vector<std::int64_t> labels_of_groups(const std::vector<AskedRow>& asked, const std::vector<std::int64_t>& answers,
                                           std::int64_t groups) {
  require(answers.size() == asked.size(), "{} answers to {} questions", answers.size(), asked.size());
  std::vector<std::int64_t> found(static_cast<std::size_t>(groups), -1);
  std::vector<std::map<std::int64_t, std::int64_t>> votes(found.size());
  for (std::size_t i = 0; i < asked.size(); ++i) ++votes[static_cast<std::size_t>(asked[i].group)][answers[i]];
  for (std::size_t i = 0; i < asked.size(); ++i) {  // surer rows come first
    const auto group = static_cast<std::size_t>(asked[i].group);
    if (found[group] < 0 || votes[group][answers[i]] > votes[group][found[group]]) found[group] = answers[i];
  }
  return found;
}

at::Tensor labels_by_groups(const at::Tensor& log_weights, const std::vector<std::int64_t>& of_groups) {
  std::vector<std::int64_t> known, labels;
  for (std::size_t group = 0; group < of_groups.size(); ++group)
    if (of_groups[group] >= 0) {
      known.push_back(static_cast<std::int64_t>(group));
      labels.push_back(of_groups[group]);
    }
  require(!known.empty(), "no group has a label, so no row can be given one");
  return at::tensor(labels, at::kLong)
      .index_select(0, groups_of(log_weights.index_select(1, at::tensor(known, at::kLong))));
}

std::vector<std::int64_t> majority_labels(const at::Tensor& groups, const at::Tensor& labels, std::int64_t count) {
  std::vector<std::map<std::int64_t, std::int64_t>> votes(static_cast<std::size_t>(count));
  const std::vector<std::int64_t> own = numbers_of(groups), truth = numbers_of(labels);
  for (std::size_t row = 0; row < own.size(); ++row) ++votes[static_cast<std::size_t>(own[row])][truth[row]];
  std::vector<std::int64_t> found(votes.size(), -1);
  for (std::size_t group = 0; group < votes.size(); ++group) {
    std::int64_t most = 0;
    for (const auto& [label, frequency] : votes[group])
      if (frequency > most) {
        most = frequency;
        found[group] = label;
      }
  }
  return found;
}

}  // namespace harmonium
