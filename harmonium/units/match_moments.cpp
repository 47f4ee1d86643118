#include "harmonium/units/match_moments.h"

#include <ATen/ATen.h>

namespace harmonium {

namespace {

at::Tensor flat(const std::vector<at::Tensor>& parts) { return at::cat(parts, 0); }

Unit::Parameters unflattened(const at::Tensor& all, std::int64_t width) { return all.split(width, 0); }

// The row of expected statistics, the log-partition and the covariance of a layer whose field is its bias.
std::vector<at::Tensor> expected_of(const Unit& unit, const Unit::Parameters& theta) {
  return unit.expected_moments(theta[0].unsqueeze(0), theta, {});
}

double log_partition_of(const Unit& unit, const Unit::Parameters& theta) {
  return unit.log_partition(theta[0].unsqueeze(0), theta).item<double>();
}

at::Tensor newton_step(const Unit& unit, const Unit::Parameters& theta, const at::Tensor& missing, Columns columns) {
  constexpr double jitter = 1e-12;
  const at::Tensor covariance = unit.conditional_covariance(theta[0].unsqueeze(0), theta, {});
  const auto count = static_cast<std::int64_t>(theta.size());
  if (columns == Columns::linked) {
    const at::Tensor damped = covariance + jitter * at::eye(covariance.size(0), covariance.options());
    return std::get<0>(at::linalg_solve_ex(damped, missing.unsqueeze(1))).squeeze(1);
  }
  // width × count × count
  const at::Tensor blocks =
      covariance.reshape({count, unit.width(), count, unit.width()}).diagonal(0, 1, 3).permute({2, 0, 1}) +
      jitter * at::eye(count, covariance.options());
  const at::Tensor right = missing.reshape({count, unit.width()}).t().unsqueeze(2);
  return std::get<0>(at::linalg_solve_ex(blocks, right)).squeeze(2).t().reshape({-1});
}

bool in_domain(const Unit& unit, const Unit::Parameters& theta) {
  Unit::Parameters constrained;
  for (const at::Tensor& one : theta) constrained.push_back(one.clone());
  unit.constrain_(constrained);
  for (std::size_t i = 0; i < theta.size(); ++i)
    if (!at::equal(theta[i], constrained[i])) return false;  // NaN is in no domain
  return true;
}

}  // namespace

Unit::Parameters match_moments(const Unit& unit, const std::vector<at::Tensor>& moments, double smoothing,
                               Columns columns) {
  constexpr int most_steps = 200, most_halvings = 60;
  constexpr double enough = 1e-13;
  Unit::Parameters theta = unit.neutral_parameters(at::kDouble);
  std::vector<at::Tensor> wanted;
  for (const at::Tensor& one : moments) wanted.push_back(one.to(at::kCPU).to(at::kDouble));
  at::Tensor target = flat(wanted);
  target = (1 - smoothing) * target + smoothing * flat(expected_of(unit, theta));
  at::Tensor all = flat(theta);
  double value = log_partition_of(unit, theta) - all.dot(target).item<double>();
  for (int step = 0; step < most_steps; ++step) {
    const at::Tensor missing = target - flat(expected_of(unit, theta));
    if ((missing.abs() / (1 + target.abs())).max().item<double>() <= enough) break;
    const at::Tensor direction = newton_step(unit, theta, missing, columns);
    const double slope = -missing.dot(direction).item<double>();
    if (!(slope < 0)) break;
    bool moved = false;
    double length = 1;
    for (int halving = 0; halving < most_halvings && !moved; ++halving, length /= 2) {
      const at::Tensor there = all + length * direction;
      const Unit::Parameters tried = unflattened(there, unit.width());
      if (!in_domain(unit, tried)) continue;
      const double found = log_partition_of(unit, tried) - there.dot(target).item<double>();
      if (!(found <= value + 1e-4 * length * slope + 1e-14 * (1 + std::abs(value)))) continue;
      all = there;
      theta = tried;
      value = found;
      moved = true;
    }
    if (!moved) break;
  }
  Unit::Parameters result;
  for (std::size_t i = 0; i < theta.size(); ++i) result.push_back(theta[i].to(moments[i].options()).contiguous());
  return result;
}

}  // namespace harmonium
