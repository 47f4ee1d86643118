// A machine as a part of a model: what the whole objective leaves out is taken off by a negative phase.
#include "harmonium/training/objectives/contrasted_part.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/geometry/plain.h"
#include "harmonium/training/loss_gradient.h"
#include "harmonium/training/objectives/surrogate_ascent.h"
#include "tests/support/belief_net.h"
#include "tests/support/sigmoid_belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

std::vector<ParameterGroup> all_weights(const Moments& parameters) {
  ParameterGroup group;
  for (const auto& [name, value] : parameters.entries()) group.names.push_back(name);
  return {group};
}

// The sum over all latents of all rows, without log Z.
std::unique_ptr<Objective> enumerated_objective(const SigmoidBeliefNet& net) {
  return std::make_unique<SurrogateAscent>(
      net.parameters(), all_weights(net.parameters()), "log_likelihood",
      [net](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step&) {
        const at::Tensor mean = support::enumerated_log_p(net, leaves, batch.front()).mean();
        return SurrogateAscent::Value{.climbed = mean, .shown = mean};
      });
}

Moments gradient_by(const SigmoidBeliefNet& net, const std::string& phase, const NegativePhaseOptions& options,
                    const at::Tensor& rows, const Key& key) {
  ContrastedPart part(enumerated_objective(net), net.rbm_prior()->machine(net.parameters()), RbmPrior::prefix(),
                      make_negative_phase(phase, options), [&] {
                        return at::zeros({4, 3}, at::kDouble);
                      });
  return part.gradient({rows}, {.key = key}).clone();
}

TEST(ContrastedPart, HasTheGradientOfTheNormalizedLogLikelihoodByEnumeration) {
  const SigmoidBeliefNet net = support::small_sbn_with_rbm(4);
  const at::Tensor rows = support::all_rows(4).narrow(0, 3, 5);
  const Moments found = gradient_by(net, "exact", {}, rows, Key(1));
  const Moments wanted =
      loss_gradient(net.parameters(), [&](const Moments& leaves) {
        return support::enumerated_log_p(net, leaves, rows).mean() - support::enumerated_prior_log_z(net, leaves);
      }).gradient;
  for (const auto& [name, value] : wanted.entries()) EXPECT_TRUE(at::allclose(found[name], value, 0, 1e-12)) << name;
}

// 400 updates of 50 chains at fixed parameters, each long enough to forget the last. False alarms:
// support/statistics.h.
TEST(ContrastedPart, HasItInTheMeanByChains) {
  const SigmoidBeliefNet net = support::small_sbn_with_rbm(4);
  const at::Tensor rows = support::all_rows(4).narrow(0, 3, 5);
  const Moments exact = gradient_by(net, "exact", {}, rows, Key(1));
  std::vector<at::Tensor> found;
  for (std::uint64_t i = 0; i < 400; ++i)
    found.push_back(gradient_by(net, "pcd", {.sweeps = 30, .particles = 50}, rows,
                                Key(2).fold_in(i))["prior.visible_hidden.weights"]
                        .reshape({-1}));
  support::expect_mean(at::stack(found), exact["prior.visible_hidden.weights"].reshape({-1}));
}

TEST(ContrastedPart, RefusesAMetricThatHasNothingToLookAt) {
  const SigmoidBeliefNet net({.visible = "bernoulli:4", .latent = {40}, .prior_hidden = 40}, at::kDouble);
  support::expect_mentions(support::message_of([&] {
                             ContrastedPart(enumerated_objective(net), net.rbm_prior()->machine(net.parameters()),
                                            RbmPrior::prefix(), make_negative_phase("exact", {}), nullptr);
                           }),
                           {"exact", "2^25", "pcd"});
}

}  // namespace
}  // namespace harmonium
