// Gradients by automatic differentiation against central differences in float64.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "harmonium/core/moments.h"

namespace harmonium::support {

// `function` of parameters is a number that depends on every entry; these are moved in place and put back.
template <class Function>
void expect_gradient_of_differences(const Moments& parameters, Function function, double tolerance) {
  constexpr double h = 1e-5;
  const Moments leaves = parameters.map([](const at::Tensor& value) { return value.clone().requires_grad_(); });
  function(leaves).backward();
  for (const auto& [name, value] : parameters.entries()) {
    ASSERT_TRUE(leaves[name].grad().defined()) << name;
    at::Tensor flat = value.view({-1});
    const at::Tensor slopes = leaves[name].grad().reshape({-1});
    for (std::int64_t i = 0; i < flat.size(0); ++i) {
      const double before = flat[i].item<double>();
      const auto moved = [&](double to) {
        flat[i] = to;
        return function(parameters).template item<double>();
      };
      const double slope = (moved(before + h) - moved(before - h)) / (2 * h);
      flat[i] = before;
      EXPECT_NEAR(slopes[i].item<double>(), slope, tolerance * (1 + std::abs(slope))) << name << " " << i;
    }
  }
}

}  // namespace harmonium::support
