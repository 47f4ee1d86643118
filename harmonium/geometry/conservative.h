// The conservative optimizer of capsules (Tieleman 2014, chapter 2): of four ways to choose a step, the smallest.
//
// For each parameter, with gradient g and running averages of its square, ĝ²_γ ← g²/γ + (1 − 1/γ) ĝ²_γ for γ = 1, e³
// and e⁶, of which ĝ² is the largest, the step is sign(g) times the smallest of
//
//   rule 1: α₁,   rule 2: α₂ |g|,   rule 3: α₃ |g|/√ĝ² (rmsprop),   rule 4: α₄ |g|/ĝ².
//
// Directions are in units of α₃, so that the learning rate is α₃: α₁/α₃ = 50, α₂ is left out, and α₄/α₃ is by default
// the median over all parameters of the root of the e³ average after 1000 updates; before that, of |g| in the first
// batch; of parameters that have a gradient. (Not of √ĝ²: after 1000 updates the e⁶ average still holds much of its
// high start, and rule 4 would die out.) Averages begin at 100 times the mean square of a tensor's first gradient, so
// that steps begin small. γ = 1 is g² itself, so rule 3 is never more than α₃. What has no gradient does not move.
//
// A parameter rescaled by 10 moves 10 times less under rule 4. Memory: two numbers a parameter.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harmonium/geometry/optimizer.h"

namespace harmonium {

class Conservative final : public Optimizer {
 public:
  struct Rules {
    double largest = 50;    // α₁/α₃
    double plain = 0;       // α₂/α₃; 0: rule 2 is left out
    double saturation = 0;  // α₄/α₃; 0: found in the first 1000 updates
  };

  Conservative(std::vector<ParameterGroup> groups, const Moments& shape, Rules rules);
  Conservative(std::vector<ParameterGroup> groups, const Moments& shape)
      : Conservative(std::move(groups), shape, Rules()) {}

  [[nodiscard]] std::string name() const override { return "conservative"; }
  [[nodiscard]] Direction direction(const Moments& gradient, std::int64_t update) override;
  // rule1 … rule4: the share of moving parameters that each rule had in the last direction; and the saturation.
  [[nodiscard]] std::map<std::string, double> measurements() const override;
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& tensors) override;

 private:
  void observe_squares(const std::string& name, const at::Tensor& square);
  void choose_saturation(const Moments& gradient, std::int64_t update);
  // The steps that rules 1 to 4 ask for, stacked, by sizes of gradients and the averages as they are.
  [[nodiscard]] at::Tensor steps(const std::string& name, const at::Tensor& size) const;

  std::vector<ParameterGroup> groups_;
  Rules rules_;
  Moments fast_, slow_;  // averages for γ = e³ and e⁶
  Moments begun_;        // a number for each tensor: 1 once its averages have begun
  Moments last_;         // gradient; shared, so good until the next one
  at::Tensor saturation_;
};

}  // namespace harmonium
