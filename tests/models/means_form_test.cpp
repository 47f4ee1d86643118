// Steps in means and log precisions, against differences of the exact log-likelihood in these coordinates.
#include "harmonium/models/means_form.h"

#include <gtest/gtest.h>

#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/models/builders.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::randomized;

constexpr const char* joining_weights = "visible_hidden.weights";

struct MeansCoordinates {
  at::Tensor means, columns, log_precision;  // μ, M, z
};

MeansCoordinates coordinates_of(const Moments& theta) {
  const at::Tensor precision = theta["visible.precision"];
  return {theta["visible.bias"] / precision, theta[joining_weights] / precision.unsqueeze(1), precision.log()};
}

BoltzmannMachine machine_at(const BoltzmannMachine& like, const MeansCoordinates& at) {
  Moments theta = like.parameters().clone();
  const at::Tensor precision = at.log_precision.exp();
  theta["visible.bias"].copy_(precision * at.means);
  theta[joining_weights].copy_(precision.unsqueeze(1) * at.columns);
  theta["visible.precision"].copy_(precision);
  return like.with_parameters(theta);
}

class MeansFormSteps : public testing::Test {
 protected:
  BoltzmannMachine machine_ = randomized(make_rbm("gaussian:3", "bernoulli:2", at::kDouble), 5);
  at::Tensor rows_;
  void SetUp() override {
    machine_.parameters()["visible.precision"].copy_(at::tensor({0.5, 2.0, 7.0}, at::kDouble));
    rows_ = at::linspace(-1.5, 2, 12, at::kDouble).view({4, 3}).sin();
  }
  [[nodiscard]] double log_likelihood(const BoltzmannMachine& machine) const {
    return log_unnormalized(machine, machine.observe({rows_})).mean().item<double>() - exact_log_z(machine).value;
  }
  // Central differences along every element of a tensor that `moved` depends on.
  template <class Moved>
  [[nodiscard]] at::Tensor differences(const at::Tensor& point, Moved&& moved) const {
    constexpr double h = 1e-5;
    at::Tensor slope = at::empty_like(point);
    for (std::int64_t i = 0; i < point.numel(); ++i) {
      const auto at_step = [&](double step) {
        at::Tensor there = point.clone();
        there.view(-1)[i] += step;
        return log_likelihood(moved(there));
      };
      slope.view(-1)[i] = (at_step(h) - at_step(-h)) / (2 * h);
    }
    return slope;
  }
  [[nodiscard]] Moments natural_gradient() const {
    Moments gradient = machine_.parameters().zeros_like();
    for (const auto& [name, value] : machine_.parameters().entries())
      gradient[name].copy_(differences(value, [&, which = name](const at::Tensor& there) {
        Moments theta = machine_.parameters().clone();
        theta[which].copy_(there);
        return machine_.with_parameters(theta);
      }));
    return gradient;
  }
};

TEST_F(MeansFormSteps, FollowTheGradientInMeansAndLogPrecisions) {
  Moments step = natural_gradient();
  MeansForm form;
  form.precondition_(step, machine_);
  const MeansCoordinates here = coordinates_of(machine_.parameters());
  const at::Tensor precision = machine_.parameters()["visible.precision"];
  // (λ Δμ, λ ΔM, λ Δz) with the slope divided by λ in the first two.
  const auto expect_slope = [&](const at::Tensor& found, const at::Tensor& point, auto&& moved) {
    support::expect_close(found, differences(point, moved), 1e-7);
  };
  expect_slope(step["visible.bias"], here.means, [&](const at::Tensor& there) {
    return machine_at(machine_, {there, here.columns, here.log_precision});
  });
  expect_slope(step[joining_weights], here.columns, [&](const at::Tensor& there) {
    return machine_at(machine_, {here.means, there, here.log_precision});
  });
  expect_slope(step["visible.precision"] / precision, here.log_precision, [&](const at::Tensor& there) {
    return machine_at(machine_, {here.means, here.columns, there});
  });
}

TEST_F(MeansFormSteps, AreTakenInTheseCoordinates) {
  Moments step = machine_.parameters().zeros_like();
  MeansForm form;
  form.precondition_(step, machine_);
  const MeansCoordinates before = coordinates_of(machine_.parameters());
  const at::Tensor precision = machine_.parameters()["visible.precision"].clone();
  const at::Tensor d_means = at::tensor({0.3, -0.2, 0.1}, at::kDouble), d_z = at::tensor({-3.0, 0.4, 0.0}, at::kDouble);
  const at::Tensor d_columns = at::linspace(-0.3, 0.4, 6, at::kDouble).view({3, 2});
  Moments& theta = machine_.parameters();
  theta["visible.bias"].add_(precision * d_means);
  theta[joining_weights].add_(precision.unsqueeze(1) * d_columns);
  theta["visible.precision"].add_(precision * d_z);  // below zero, were it taken as it is
  form.after_step_(machine_);
  const MeansCoordinates after = coordinates_of(theta);
  support::expect_close(after.means, before.means + d_means, 1e-12);
  support::expect_close(after.columns, before.columns + d_columns, 1e-12);
  support::expect_close(after.log_precision, before.log_precision + d_z, 1e-12);
}

TEST_F(MeansFormSteps, KeepPrecisionsThatAreOneOrFixed) {
  for (const char* visible : {"gaussian:3:scalar", "gaussian:3:fixed"}) {
    SCOPED_TRACE(visible);
    const BoltzmannMachine machine = randomized(make_rbm(visible, "bernoulli:2", at::kDouble), 5);
    machine.parameters()["visible.precision"].fill_(1);
    Moments step = machine.parameters().clone();
    MeansForm form;
    form.precondition_(step, machine);
    const at::Tensor z = step["visible.precision"];
    EXPECT_EQ((z - z[0]).abs().max().item<double>(), 0);
    EXPECT_EQ(z[0].item<double>() == 0, std::string(visible).ends_with("fixed"));
  }
}

TEST_F(MeansFormSteps, SayWhichMachinesTheyAreFor) {
  EXPECT_EQ(MeansForm::complaint(machine_), "");
  EXPECT_NE(MeansForm::complaint(make_rbm("bernoulli:3", "bernoulli:2")), "");
  EXPECT_NE(MeansForm::complaint(make_rbm("gaussian:3", "gaussian:2")), "");
  EXPECT_NE(MeansForm::complaint(make_rbm("gaussian:3", "spike_slab:2")), "");
}

}  // namespace
}  // namespace harmonium
