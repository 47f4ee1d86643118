// What several runs with different seeds say together.
//
//   mean x̄ = Σ x_i / n,   standard deviation s = √(Σ (x_i − x̄)² / (n − 1)),   standard error s / √n
//   95 % interval of the mean: x̄ ± t s / √n, t the 0.975 quantile of Student's distribution with n − 1 degrees of
//   freedom; it holds for scores that are about normal, and says nothing about other data sets or machines
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace harmonium {

struct RunsSummary {
  std::int64_t n = 0;
  double mean = 0;
  // Nothing for a single run:
  std::optional<double> deviation = std::nullopt, standard_error = std::nullopt;
  double low = 0, high = 0;  // of the interval; the mean itself for a single run
};

// n ≥ 1 values.
[[nodiscard]] RunsSummary summarize_runs(std::span<const double> values);

// x̄_a − x̄_b and its standard error √(SE_a² + SE_b²), as for independent runs; nothing where one was run once only.
struct MeansDifference {
  double value = 0;
  std::optional<double> standard_error = std::nullopt;
};
[[nodiscard]] MeansDifference difference_of(const RunsSummary& a, const RunsSummary& b);

// t with P(−t < T < t) = probability for Student's distribution; 0 < probability < 1, degrees ≥ 1.
[[nodiscard]] double student_quantile(double probability, std::int64_t degrees);

}  // namespace harmonium
