#include "harmonium/experiments/repeated_runs.h"

#include <cmath>
#include <numbers>

namespace harmonium {

namespace {

// P(−t < T < t) in closed form for whole degrees of freedom ν, θ = atan(t / √ν) (Abramowitz & Stegun 26.7.3, 26.7.4):
//   odd ν:   2/π (θ + sin θ (cos θ + 2/3 cos³ θ + 2·4/(3·5) cos⁵ θ + … to cos^(ν−2)))
//   even ν:  sin θ (1 + 1/2 cos² θ + 1·3/(2·4) cos⁴ θ + … to cos^(ν−2))
double student_probability(double t, std::int64_t degrees) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const bool odd = degrees % 2 == 1;
  const double square = std::cos(theta) * std::cos(theta);
  double sum = 0, term = odd ? std::cos(theta) : 1;
  for (std::int64_t power = odd ? 1 : 0; power <= degrees - 2; power += 2) {
    sum += term;
    term *= square * static_cast<double>(power + 1) / static_cast<double>(power + 2);
  }
  return odd ? 2 / std::numbers::pi * (theta + std::sin(theta) * sum) : std::sin(theta) * sum;
}

}  // namespace

double student_quantile(double probability, std::int64_t degrees) {
  double low = 0, high = 1;
  while (student_probability(high, degrees) < probability) high *= 2;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (student_probability(middle, degrees) < probability ? low : high) = middle;
  }
  return high;
}

RunsSummary summarize_runs(std::span<const double> values) {
  RunsSummary summary;
  summary.n = static_cast<std::int64_t>(values.size());
  const auto n = static_cast<double>(values.size());
  for (const double value : values) summary.mean += value / n;
  summary.low = summary.high = summary.mean;
  if (values.size() < 2) return summary;
  double squares = 0;
  for (const double value : values) squares += (value - summary.mean) * (value - summary.mean);
  summary.deviation = std::sqrt(squares / (n - 1));
  summary.standard_error = *summary.deviation / std::sqrt(n);
  const double half = student_quantile(0.95, summary.n - 1) * *summary.standard_error;
  summary.low -= half;
  summary.high += half;
  return summary;
}

MeansDifference difference_of(const RunsSummary& a, const RunsSummary& b) {
  MeansDifference difference{.value = a.mean - b.mean};
  if (a.standard_error && b.standard_error)
    difference.standard_error = std::hypot(*a.standard_error, *b.standard_error);
  return difference;
}

}  // namespace harmonium
