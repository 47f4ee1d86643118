// Gradients by the path through draws, against quadrature over all draws.
#include "harmonium/gradients/objectives/path_objective.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/gradients/objectives/enumerated_latents.h"
#include "harmonium/gradients/objectives/estimator_study.h"
#include "tests/support/linear_vae.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

Moments with_gradients(const Moments& parameters) {
  return parameters.map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
}

// L_K of a row of a VAE with one latent variable in each layer, by the trapezoid rule over all K draws: differentiable.
at::Tensor bound_by_grid(const Vae& vae, const Moments& leaves, const at::Tensor& row, std::int64_t draws) {
  const std::int64_t count = vae.levels() == 1 ? 161 : 33;
  const double reach = vae.levels() == 1 ? 8 : 6, step = 2 * reach / static_cast<double>(count - 1);
  const at::Tensor axis = at::linspace(-reach, reach, count, at::kDouble);
  at::Tensor noise = axis.unsqueeze(1);
  if (vae.levels() == 2) noise = at::cartesian_prod({axis, axis});
  const at::Tensor log_mass = (-0.5 * noise.square() - 0.5 * std::log(2 * std::numbers::pi) + std::log(step)).sum(1);
  std::vector<at::Tensor> latents;  // 1 × points × 1
  for (std::size_t l = 0; l < vae.levels(); ++l) {
    const at::Tensor raw = l == 0 ? vae.posterior_raw(leaves, row.unsqueeze(0)).unsqueeze(1)
                                  : vae.posterior_raw(leaves, latents.back(), l);
    latents.push_back(raw.narrow(2, 0, 1) +
                      raw.narrow(2, 1, 1).exp() * noise.narrow(1, static_cast<std::int64_t>(l), 1));
  }
  const at::Tensor log_w = vae.score(leaves, row.unsqueeze(0), latents).log_weights()[0];
  if (draws == 1) return (log_mass.exp() * log_w).sum();
  const at::Tensor pair = at::logaddexp(log_w.unsqueeze(0), log_w.unsqueeze(1)) - std::log(2.0);
  return ((log_mass.unsqueeze(0) + log_mass.unsqueeze(1)).exp() * pair).sum();
}

struct PathCase {
  std::string spec;
  std::int64_t bound;
  bool deep = false;
  [[nodiscard]] Vae vae() const { return deep ? support::small_deep_vae(3) : support::small_vae(1, 3); }
};

class EveryPathObjective : public testing::TestWithParam<PathCase> {};

// 2000 means over 20 rows that are all the same; false alarms as in support/statistics.h.
TEST_P(EveryPathObjective, HasTheGradientOfItsBoundInTheMean) {
  const Vae vae = GetParam().vae();
  const StudiedNet net = studied(vae);
  const Moments leaves = with_gradients(vae.parameters());
  const at::Tensor row = at::tensor({1.0, 0.0, 1.0, 1.0}, at::kDouble);
  const at::Tensor rows = row.unsqueeze(0).expand({20, 4}).contiguous();
  const PathObjective objective(GetParam().spec);
  for (const bool recognition : {false, true}) {
    const at::Tensor wanted =
        flat_gradient(net, leaves, bound_by_grid(vae, leaves, row, GetParam().bound), recognition);
    std::vector<at::Tensor> found;
    for (std::uint64_t i = 0; i < 500; ++i)
      found.push_back(
          flat_gradient(net, leaves, objective.estimate(vae, leaves, rows, Key(4).fold_in(i)).climbed, recognition));
    support::expect_mean(at::stack(found), wanted, GetParam().spec);
  }
}

TEST_P(EveryPathObjective, ShowsItsBound) {
  const Vae vae = GetParam().vae();
  const at::Tensor row = at::tensor({1.0, 0.0, 1.0, 1.0}, at::kDouble);
  const at::Tensor rows = row.unsqueeze(0).expand({20, 4}).contiguous();
  std::vector<at::Tensor> shown;
  for (std::uint64_t i = 0; i < 200; ++i)
    shown.push_back(PathObjective(GetParam().spec).estimate(vae, vae.parameters(), rows, Key(5).fold_in(i)).shown);
  support::expect_mean(at::stack(shown), bound_by_grid(vae, vae.parameters(), row, GetParam().bound).detach());
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryPathObjective,
                         testing::Values(PathCase{"path:1", 1}, PathCase{"path:2", 1}, PathCase{"stick:1", 1},
                                         PathCase{"stick:2", 1}, PathCase{"iwae:1", 1}, PathCase{"iwae:2", 2},
                                         PathCase{"plain_iwae:2", 2}, PathCase{"path:1", 1, true},
                                         PathCase{"stick:1", 1, true}, PathCase{"iwae:2", 2, true},
                                         PathCase{"plain_iwae:2", 2, true}),
                         [](const auto& each) {
                           std::string name = (each.param.deep ? "two_layers_" : "") + each.param.spec;
                           std::ranges::replace(name, ':', '_');
                           return name;
                         });

TEST(PathObjective, ClimbsBoundsThatRiseWithTheNumberOfDraws) {
  for (const bool deep : {false, true}) {
    const Vae vae = PathCase{"", 1, deep}.vae();
    const at::Tensor row = at::tensor({1.0, 0.0, 1.0, 1.0}, at::kDouble), rows = row.unsqueeze(0);
    const double one = bound_by_grid(vae, vae.parameters(), row, 1).item<double>(),
                 two = bound_by_grid(vae, vae.parameters(), row, 2).item<double>();
    const at::Tensor whole = deep ? support::deep_quadrature_log_p(vae, rows) : support::quadrature_log_p(vae, rows);
    EXPECT_LT(one + 1e-3, two);
    EXPECT_LT(two + 1e-3, whole.item<double>());
  }
}

// Weights are then all equal, and so is every derivative of log w by a draw: zero.
TEST(PathObjective, HasNoNoiseForRecognitionWhereInferenceIsExact) {
  const support::LinearVae linear = support::linear_vae(false);
  const Moments leaves = with_gradients(linear.vae.parameters());
  const at::Tensor rows = normal(Key(6), {5, 3}, at::kDouble);
  const auto steepness = [&](const char* spec) {
    const at::Tensor climbed = PathObjective(spec).estimate(linear.vae, leaves, rows, Key(7)).climbed;
    return flat_gradient(studied(linear.vae), leaves, climbed, true).norm().item<double>();
  };
  EXPECT_LT(steepness("stick:3"), 1e-12);
  EXPECT_LT(steepness("iwae:3"), 1e-12);
  EXPECT_GT(steepness("path:3"), 1e-2);
  EXPECT_GT(steepness("plain_iwae:3"), 1e-2);

  const support::LinearVae deep = support::deep_linear_vae();
  const Moments deep_leaves = with_gradients(deep.vae.parameters());
  for (const char* spec : {"stick:3", "iwae:3"}) {
    const at::Tensor climbed = PathObjective(spec).estimate(deep.vae, deep_leaves, rows, Key(7)).climbed;
    EXPECT_LT(flat_gradient(studied(deep.vae), deep_leaves, climbed, true).norm().item<double>(), 1e-12) << spec;
  }
}

// Rainforth et al. (2018): as 1/√K plain; Tucker et al. (2019): grows once doubly reparametrized.
TEST(PathObjective, LosesItsSignalForLargeKUnlessDoublyReparametrized) {
  const Vae vae = support::small_vae(2, 8);
  const EstimatorStudy study = study_by_draws(studied(vae), support::all_rows(4).narrow(0, 3, 4),
                                              {.draws = {2, 30}, .repetitions = 100, .seed = 9},
                                              [](const std::string&, std::int64_t, std::int64_t) {});
  const auto ratio = [&](const std::string& name) {
    for (const EstimatorFinding& each : study.findings)
      if (each.name == name) return each.recognition.signal_to_noise;
    throw std::logic_error("no estimator " + name);
  };
  EXPECT_LT(ratio("plain_iwae:30"), 0.7 * ratio("plain_iwae:2"));
  EXPECT_GT(ratio("iwae:30"), 1.5 * ratio("iwae:2"));
  for (const EstimatorFinding& each : study.findings) {
    EXPECT_LT(each.generation.worst, support::allowed_deviations) << each.name;
    EXPECT_LT(each.recognition.worst, support::allowed_deviations) << each.name;
  }
}

TEST(PathObjective, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  expect_mentions(message_of([] { PathObjective("vimco:3"); }), {"vimco", "iwae", "stick"});
  expect_mentions(message_of([] { PathObjective("iwae:0"); }), {"iwae:0", "1"});
  EXPECT_EQ(PathObjective("iwae").spec(), "iwae:10");
}

}  // namespace
}  // namespace harmonium
