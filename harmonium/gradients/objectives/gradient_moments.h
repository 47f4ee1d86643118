// Mean and variance of a gradient estimate for one row, and how far the mean is from what it should be.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace harmonium {

// Of an estimate for one row, averaged over some rows.
struct GradientMoments {
  at::Tensor mean;           // parameters
  at::Tensor error;          // parameters: squared standard error of the mean; zeros where it is exact
  double variance = 0;       // Σ over parameters of the variance given the row, averaged over rows
  bool exact = false;        // no sampling error in the mean
  bool exact_noise = false;  // nor in the variance
};

// From first and second moments of coefficients C, of which an estimate is C·scores: mean m·S, covariance
// Sᵀ(M − m mᵀ)S. `draws` 0: exact moments; else how many estimates they are means of.
[[nodiscard]] GradientMoments moments_of_coefficients(const at::Tensor& first, const at::Tensor& second,
                                                      const at::Tensor& scores, std::int64_t draws);
// From estimates that come one by one (Welford 1962).
class DrawnGradients {
 public:
  void add(const at::Tensor& estimate);
  // Of estimates that were means over `rows` rows with draws of their own. At least two.
  [[nodiscard]] GradientMoments moments(std::int64_t rows) const;

 private:
  at::Tensor mean_, squares_;  // Σ (g − mean)²
  std::int64_t count_ = 0;
};

// What a table says of an estimate.
struct EstimatorPart {
  std::string target = {};     // "∇L_5"; empty: these parameters are not moved, or by no gradient of anything named
  bool moved = false;          // whether the estimate is about these parameters
  double target_norm = 0;      // ‖target‖
  double bias = 0;             // ‖mean − target‖/‖target‖
  double bias_error = 0;       // the same for sampling errors alone: what an unbiased estimate would show
  double worst = 0;            // the largest deviation of a parameter, in standard errors; 0 where exact
  double variance = 0;         // Σ over parameters, of one row
  double signal_to_noise = 0;  // ‖mean‖/√variance, of one row; a batch of n rows has √n times as much
  bool exact = false, exact_noise = false;
};
// `target` may be undefined, with an empty name; `target_error` is the squared standard error of its components.
[[nodiscard]] EstimatorPart compare_with(const GradientMoments& found, const std::string& name,
                                         const at::Tensor& target, const at::Tensor& target_error = {});

}  // namespace harmonium
