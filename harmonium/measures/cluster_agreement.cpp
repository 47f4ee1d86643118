#include "harmonium/measures/cluster_agreement.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

double entropy_of_counts(const std::vector<std::int64_t>& counts, double n) {
  double sum = 0;
  for (const std::int64_t count : counts)
    if (count > 0) sum -= static_cast<double>(count) / n * std::log(static_cast<double>(count) / n);
  return sum;
}

}  // namespace

std::vector<std::int64_t> best_matching(const std::vector<std::vector<double>>& gains) {
  const std::size_t rows = gains.size(), columns = rows == 0 ? 0 : gains.front().size(), n = std::max(rows, columns);
  for (const std::vector<double>& row : gains)
    require(row.size() == columns, "best_matching: rows of gains must be of one length");
  // Costs of a square table; what fills it up is worth nothing.
  const auto cost = [&](std::size_t i, std::size_t j) { return i < rows && j < columns ? -gains[i][j] : 0.0; };
  // Potentials u, v with u_i + v_j ≤ cost; rows are brought in one by one, each by the shortest path of reduced costs.
  // Index 0 is nobody, so that row i is number i + 1.
  std::vector<double> u(n + 1), v(n + 1);
  std::vector<std::size_t> row_of(n + 1), before(n + 1);
  for (std::size_t i = 1; i <= n; ++i) {
    row_of[0] = i;
    std::size_t column = 0;
    std::vector<double> least(n + 1, std::numeric_limits<double>::infinity());
    std::vector<bool> done(n + 1);
    do {
      done[column] = true;
      const std::size_t row = row_of[column];
      std::size_t next = 0;
      double step = std::numeric_limits<double>::infinity();
      for (std::size_t j = 1; j <= n; ++j) {
        if (done[j]) continue;
        const double reduced = cost(row - 1, j - 1) - u[row] - v[j];
        if (reduced < least[j]) {
          least[j] = reduced;
          before[j] = column;
        }
        if (least[j] < step) {
          step = least[j];
          next = j;
        }
      }
      for (std::size_t j = 0; j <= n; ++j)
        if (done[j]) {
          u[row_of[j]] += step;
          v[j] -= step;
        } else {
          least[j] -= step;
        }
      column = next;
    } while (row_of[column] != 0);
    for (; column != 0; column = before[column]) row_of[column] = row_of[before[column]];
  }
  std::vector<std::int64_t> matched(rows, -1);
  for (std::size_t j = 1; j <= columns; ++j)
    if (row_of[j] <= rows) matched[row_of[j] - 1] = static_cast<std::int64_t>(j - 1);
  return matched;
}

ClusterAgreement cluster_agreement(const at::Tensor& groups, const at::Tensor& labels, std::int64_t count) {
  const std::int64_t rows = groups.size(0);
  require(rows > 0 && labels.size(0) == rows && count > 0, "cluster_agreement: {} rows in {} groups with {} labels",
          rows, count, labels.size(0));
  require(groups.ge(0).logical_and(groups.lt(count)).all().item<bool>() && labels.ge(0).all().item<bool>(),
          "cluster_agreement: groups are 0 … {}, and labels are not negative", count - 1);
  const std::int64_t classes = labels.max().item<std::int64_t>() + 1;
  const at::Tensor table = at::bincount(groups * classes + labels, {}, count * classes);
  ClusterAgreement found;
  std::vector<std::vector<double>> gains;
  std::vector<std::int64_t> of_groups, of_classes(static_cast<std::size_t>(classes)), all;
  const auto n = static_cast<double>(rows);
  for (std::int64_t c = 0; c < count; ++c) {
    const std::int64_t* line = table.data_ptr<std::int64_t>() + c * classes;
    found.counts.emplace_back(line, line + classes);
    gains.emplace_back(line, line + classes);
    all.insert(all.end(), line, line + classes);
    std::int64_t in_group = 0;
    for (std::int64_t k = 0; k < classes; ++k) {
      in_group += line[k];
      of_classes[static_cast<std::size_t>(k)] += line[k];
    }
    of_groups.push_back(in_group);
    found.purity += static_cast<double>(*std::max_element(line, line + classes)) / n;
  }
  found.matching = best_matching(gains);
  for (std::size_t c = 0; c < found.matching.size(); ++c)
    if (found.matching[c] >= 0) found.matched += gains[c][static_cast<std::size_t>(found.matching[c])] / n;
  const double group_entropy = entropy_of_counts(of_groups, n), class_entropy = entropy_of_counts(of_classes, n),
               both = entropy_of_counts(all, n);
  const double information = group_entropy + class_entropy - both, mean = (group_entropy + class_entropy) / 2;
  found.normalized_information = mean > 0 ? std::clamp(information / mean, 0.0, 1.0) : 1.0;
  return found;
}

}  // namespace harmonium
