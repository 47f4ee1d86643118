#include "harmonium/gradients/objectives/elbo.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/linear_vae.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;
using support::small_vae;

// E_q[log p(x, z) − log q(z | x)] of every row by quadrature: no closed form is used.
at::Tensor quadrature_elbo(const Vae& vae, const at::Tensor& rows) {
  const support::Grid nodes = support::grid(vae.structure().latent);
  const Vae::Posterior q = vae.encode(rows);
  const at::Tensor z = (nodes.points.unsqueeze(0) - q.means.unsqueeze(1)) * at::exp(-q.log_deviations).unsqueeze(1);
  const at::Tensor log_q = support::log_standard_normal(z) - q.log_deviations.sum(1, /*keepdim=*/true);
  const at::Tensor integrand = log_q.exp() * (support::log_joint(vae, rows, nodes.points) - log_q);
  return integrand.sum(1) * std::exp(nodes.log_volume);
}

at::Tensor row_bounds(const ElboTerms& terms) { return terms.log_likelihood - terms.kl.front().sum(1); }

TEST(Elbo, HasTheBoundByQuadratureAsItsMeanAndStaysBelowTheLogLikelihood) {
  for (const std::int64_t latent : {1, 2}) {
    const Vae vae = small_vae(latent);
    const at::Tensor rows = all_rows(4), bound = quadrature_elbo(vae, rows);
    const at::Tensor gap = support::quadrature_log_p(vae, rows) - bound;
    EXPECT_GT(gap.min().item<double>(), 0);
    EXPECT_GT(gap.max().item<double>(), 0.05) << "tight everywhere: nothing was tested";
    // 4000 draws of every row; false alarms as in support/statistics.h.
    const ElboTerms terms = elbo_terms(vae, vae.parameters(), rows.repeat({4000, 1}), Key(1));
    support::expect_mean(row_bounds(terms).reshape({4000, 16}), bound);
  }
}

TEST(Elbo, IsMadeOfTheFirstDrawOfInference) {
  const Vae vae = small_vae(2);
  const at::Tensor rows = all_rows(4);
  const ElboTerms terms = elbo_terms(vae, vae.parameters(), rows, Key(2));
  const Trace trace = vae.infer(vae.parameters(), rows, 1, Key(2));
  expect_close(terms.log_likelihood, trace.log_p[0].select(1, 0), 1e-13);
  const Vae::Posterior q = vae.encode(rows);
  expect_close(terms.kl.front(), 0.5 * (q.means.square() + (2 * q.log_deviations).exp() - 1) - q.log_deviations, 1e-13);
  expect_close(elbo(vae, vae.parameters(), rows, Key(2)), row_bounds(terms).mean(), 1e-14);
  EXPECT_TRUE(at::equal(elbo(vae, vae.parameters(), rows, Key(2)), elbo(vae, vae.parameters(), rows, Key(2))));
  EXPECT_FALSE(at::equal(elbo(vae, vae.parameters(), rows, Key(2)), elbo(vae, vae.parameters(), rows, Key(3))));
}

TEST(Elbo, IsTheLogLikelihoodOnAverageWhereTheEncoderIsThePosterior) {
  const support::LinearVae linear = support::linear_vae(true);
  const at::Tensor rows = normal(Key(4), {3, 3}, at::kDouble);
  const ElboTerms terms = elbo_terms(linear.vae, linear.vae.parameters(), rows.repeat({4000, 1}), Key(5));
  support::expect_mean(row_bounds(terms).reshape({4000, 3}), linear.log_p(rows));
}

struct ElboCase {
  std::string name;
  VaeStructure structure;
  ElboOptions options = {};
  friend void PrintTo(const ElboCase& one, std::ostream* out) { *out << one.name; }
};

class ElboGradients : public testing::TestWithParam<ElboCase> {};

TEST_P(ElboGradients, AreThoseOfDifferencesWithTheSameKey) {
  Vae vae(GetParam().structure, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : vae.parameters().entries())
    at::Tensor(value).copy_(0.5 * normal(Key(6).fold_in(i++), value.sizes(), at::kDouble));
  const at::Tensor rows = all_rows(3).narrow(0, 1, 5);
  const ElboOptions options = GetParam().options;
  const ElboGradient found = elbo_gradient(vae, rows, Key(7), options);
  EXPECT_NEAR(found.bound.item<double>(), elbo(vae, vae.parameters(), rows, Key(7)).item<double>(), 1e-13)
      << "options change what is climbed, never what is reported";
  EXPECT_FALSE(found.bound.requires_grad());
  for (const auto& [name, value] : vae.parameters().entries()) {
    EXPECT_FALSE(value.requires_grad()) << name;
    at::Tensor flat = value.view({-1});
    const at::Tensor slopes = found.gradient[name].reshape({-1});
    for (std::int64_t i = 0; i < flat.size(0); ++i) {
      constexpr double h = 1e-5;
      const double before = flat[i].item<double>();
      const auto moved = [&](double to) {
        flat[i] = to;
        return elbo(vae, vae.parameters(), rows, Key(7), options).item<double>();
      };
      const double slope = (moved(before + h) - moved(before - h)) / (2 * h);
      flat[i] = before;
      EXPECT_NEAR(slopes[i].item<double>(), slope, 1e-8 * (1 + std::abs(slope))) << name << " " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ElboGradients,
    testing::Values(
        ElboCase{"Bernoulli", {.visible = "bernoulli:3", .hidden = {4}, .latent = 2}},
        ElboCase{"DeepElu", {.visible = "bernoulli:3", .hidden = {4, 3}, .latent = 2, .activation = Activation::elu}},
        ElboCase{"Linear", {.visible = "bernoulli:3", .hidden = {}, .latent = 1}},
        ElboCase{"Gaussian", {.visible = "gaussian:3:0.1", .hidden = {4}, .latent = 2}},
        ElboCase{"SharedGaussian", {.visible = "shared_gaussian:3:0.1", .hidden = {4}, .latent = 2}},
        ElboCase{"TwoLayers",
                 {.visible = "bernoulli:3", .hidden = {4}, .latent = 2, .above = {{.hidden = {3}, .latent = 2}}}},
        ElboCase{"TwoLayersWithFreeNats",
                 {.visible = "bernoulli:3", .hidden = {}, .latent = 2, .above = {{.hidden = {}, .latent = 1}}},
                 {.beta = 0.6, .free_nats = 0.2}},
        ElboCase{"WarmUp", {.visible = "bernoulli:3", .hidden = {4}, .latent = 2}, {.beta = 0.3}},
        ElboCase{
            "FewFreeNats", {.visible = "bernoulli:3", .hidden = {4}, .latent = 2}, {.beta = 0.7, .free_nats = 0.01}},
        ElboCase{"ManyFreeNats", {.visible = "bernoulli:3", .hidden = {4}, .latent = 2}, {.free_nats = 100}}),
    [](const auto& one) { return one.param.name; });

TEST(Elbo, ClimbsNoDivergenceBelowTheFreeNats) {
  const Vae vae = small_vae(2);
  const at::Tensor rows = all_rows(4);
  const ElboTerms terms = elbo_terms(vae, vae.parameters(), rows, Key(8));
  const double likelihood = terms.log_likelihood.mean().item<double>(),
               kl = terms.kl.front().sum(1).mean().item<double>();
  ASSERT_GT(kl, 0.01);
  EXPECT_NEAR(terms.objective({.free_nats = kl / 2}).item<double>(), likelihood - kl, 1e-13);
  EXPECT_NEAR(terms.objective({.free_nats = 3 * kl}).item<double>(), likelihood - 3 * kl, 1e-13);
  EXPECT_NEAR(terms.objective({.beta = 0.5, .free_nats = 3 * kl}).item<double>(), likelihood - 1.5 * kl, 1e-13);
  EXPECT_NEAR(terms.bound().item<double>(), likelihood - kl, 1e-13);
  const Moments free = elbo_gradient(vae, rows, Key(8), {.free_nats = 3 * kl}).gradient;
  expect_close(free, elbo_gradient(vae, rows, Key(8), {.beta = 0}).gradient, 1e-13);
}

// L_1 of two layers by the trapezoid rule over the noise of both draws.
TEST(Elbo, OfTwoLayersHasTheBoundByQuadratureAsItsMean) {
  const Vae vae = support::small_deep_vae();
  const Moments& p = vae.parameters();
  const at::Tensor rows = all_rows(4);
  const support::Grid nodes = support::grid(2);
  const auto drawn = [&](const at::Tensor& raw, std::int64_t column) {
    return raw.narrow(-1, 0, 1) + raw.narrow(-1, 1, 1).exp() * nodes.points.narrow(1, column, 1);
  };
  const at::Tensor first = drawn(vae.posterior_raw(p, rows).unsqueeze(1), 0);
  const at::Tensor second = drawn(vae.posterior_raw(p, first, 1), 1);
  const at::Tensor mass = (support::log_standard_normal(nodes.points) + nodes.log_volume).exp();
  const at::Tensor bound = vae.score(p, rows, {first, second}).log_weights().matmul(mass);
  EXPECT_GT((support::deep_quadrature_log_p(vae, rows) - bound).min().item<double>(), 0.02);
  const ElboTerms terms = elbo_terms(vae, p, rows.repeat({4000, 1}), Key(1));
  ASSERT_EQ(terms.kl.size(), 2U);
  support::expect_mean((terms.log_likelihood - terms.kl[0].sum(1) - terms.kl[1].sum(1)).reshape({4000, 16}), bound);
}

TEST(Elbo, OfASinglePrecisionModelIsAddedUpInDouble) {
  const Vae vae = small_vae(2).to(at::TensorOptions(at::kFloat));
  const ElboGradient found = elbo_gradient(vae, all_rows(4).to(at::kFloat), Key(9));
  EXPECT_EQ(found.bound.scalar_type(), at::kDouble);
  EXPECT_EQ(found.bound.dim(), 0);
  const ElboGradient exact = elbo_gradient(vae.to(at::TensorOptions(at::kDouble)), all_rows(4), Key(9));
  EXPECT_EQ(found.gradient["encoder.layer1.weights"].scalar_type(), at::kFloat);
  // Other noise: the streams of both precisions differ.
  EXPECT_NEAR(found.bound.item<double>(), exact.bound.item<double>(), 1);
}

// What all of this is for: climbing the bound raises log p(x), which quadrature knows.
TEST(Elbo, TeachesAModelItsData) {
  Vae vae({.visible = "bernoulli:4", .hidden = {8}, .latent = 2}, at::kDouble);
  const at::Tensor rows = all_rows(4).index_select(0, at::tensor({0, 3, 12, 15}, at::kLong));  // pairs of equal pixels
  initialize(vae, Key(10), rows.mean(0));
  const auto log_p = [&] { return support::quadrature_log_p(vae, rows).mean().item<double>(); };
  EXPECT_NEAR(log_p(), 4 * std::log(0.5), 0.3) << "independent pixels";
  const at::Tensor batch = rows.repeat({25, 1});
  for (std::uint64_t update = 0; update < 600; ++update)
    vae.parameters().add_(elbo_gradient(vae, batch, Key(11).fold_in(update)).gradient, 0.3);
  // The best is log ¼ = −1.39; independent pairs of pixels are at −2.77.
  EXPECT_GT(log_p(), -1.8);
  const LatentActivity activity = latent_activity(vae, rows);
  EXPECT_GE(activity.active, 1);
}

TEST(LatentActivity, CountsUnitsThatFollowTheData) {
  Vae vae({.visible = "bernoulli:4", .hidden = {}, .latent = 3}, at::kDouble);
  // z_0 follows the first pixel, z_1 says nothing at all, z_2 is far from the prior but the same for all rows.
  vae.parameters()["encoder.layer1.weights"][0][0] = 2;
  vae.parameters()["encoder.layer1.bias"][0] = -1;
  vae.parameters()["encoder.layer1.bias"][2] = 1.5;
  vae.parameters()["encoder.layer1.bias"][5] = -1;  // its log σ
  const LatentActivity activity = latent_activity(vae, all_rows(4));
  EXPECT_EQ(activity.active, 1);
  const at::Tensor kl = at::tensor({0.5, 0.0, 0.5 * (2.25 + std::exp(-2.0) - 1) + 1}, at::kDouble);
  expect_close(activity.kl, kl, 1e-13);
  expect_close(activity.variances, at::tensor({16.0 / 15, 0.0, 0.0}, at::kDouble), 1e-13);
  // More rows than are taken at once.
  const LatentActivity many = latent_activity(vae, all_rows(4).repeat({400, 1}));
  expect_close(many.kl, kl, 1e-12);
  expect_close(many.variances, at::tensor({6400.0 / 6399, 0.0, 0.0}, at::kDouble), 1e-12);
}

// The encoder is the posterior, and linear: what E[z_2 | x] does is known.
TEST(LatentActivity, KnowsLayersAboveTheFirst) {
  const support::LinearVae linear = support::deep_linear_vae();
  const Moments& p = linear.vae.parameters();
  const at::Tensor rows = linear.vae.sample(Key(3), 20000).visible;
  const LatentActivity found = latent_activity(linear.vae, rows);
  const at::Tensor first = rows.matmul(p["encoder.layer1.weights"].narrow(1, 0, 1)).select(1, 0);
  const double slope = p["encoder2.layer1.weights"][0][0].item<double>();
  EXPECT_NEAR(found.variances[0].item<double>(), first.var().item<double>(), 1e-10);
  // A covariance of two estimates with noise τ slope² each, over 20 000 rows: five standard errors.
  EXPECT_NEAR(found.variances[1].item<double>(), slope * slope * first.var().item<double>(), 0.05 * slope * slope);
  EXPECT_EQ(found.active, 2);
  EXPECT_EQ(found.active_of_layers, (std::vector<std::int64_t>{1, 1}));
  // What KL there is in all is the mutual information of x and z: here E log p(x | z) − E log p(x).
  const Dream made = linear.vae.sample(Key(4), 20000);
  const Trace trace = linear.vae.score(p, made.visible, {made.latents[0].unsqueeze(1), made.latents[1].unsqueeze(1)});
  const at::Tensor information = trace.log_p[0].select(1, 0) - linear.log_p(made.visible);
  const double total = found.kl_of_layers[0] + found.kl_of_layers[1];
  EXPECT_NEAR(total, information.mean().item<double>(), 0.05);
  EXPECT_NEAR(total, found.kl.sum().item<double>(), 1e-12);
}

TEST(Elbo, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const Vae vae = small_vae(1);
  const at::Tensor rows = all_rows(4);
  expect_mentions(message_of([&] { (void)elbo_gradient(vae, rows.narrow(0, 0, 0), Key(1)); }), {"at least one row"});
  expect_mentions(message_of([&] { (void)elbo_gradient(vae, rows, Key(1), {.beta = -1}); }), {"KL", "-1"});
  expect_mentions(message_of([&] { (void)elbo_gradient(vae, rows, Key(1), {.free_nats = -2}); }), {"free nats", "-2"});
  expect_mentions(message_of([&] { (void)latent_activity(vae, rows.narrow(0, 0, 1)); }), {"two rows"});
}

}  // namespace
}  // namespace harmonium
