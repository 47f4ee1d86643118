// sbn --objective em: expectation maximization with kept latents, and the mean-field bound that judges such nets.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/families/sbn_em.h"
#include "harmonium/families/sbn_model.h"
#include "harmonium/likelihood/mean_field_bound.h"
#include "tests/support/machines.h"
#include "tests/support/sbn_runs.h"
#include "tests/support/sigmoid_belief_net.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::config_of;
using support::data_of;
using support::expect_mentions;
using support::few_rows;
using support::judged;
using support::message_of;
using support::trainee_of;

TEST(SbnByEm, CountsItsSweeps) {
  EXPECT_EQ(em_sweeps("em"), 1);
  EXPECT_EQ(em_sweeps("em:7"), 7);
  EXPECT_EQ(em_sweeps("elbo:7"), 0);
  for (const char* wrong : {"em:", "em:0", "em:-1", "em:2x"})
    expect_mentions(message_of([&] { (void)em_sweeps(wrong); }), {wrong, "em:S"});
}

TEST(SbnByEm, RefusesWhatItHasNoUseFor) {
  const auto refused = [](const support::Given& given) {
    return message_of([&] {
      RunConfig config = config_of(given);
      RunData data = few_rows();
      resolve(config, data);
    });
  };
  expect_mentions(refused({{"objective", "em"}, {"baseline", "mean"}}), {"em:1", "baseline"});
  expect_mentions(refused({{"objective", "em"}, {"layers", "5"}}), {"em:1", "layers"});
  expect_mentions(refused({{"objective", "em:2"}, {"prior", "rbm:4"}}), {"em:2", "rbm:4"});
}

TEST(SbnByEm, GoesOnFromItsStateBitForBit) {
  RunConfig config = config_of({{"latent", "5,3"}, {"objective", "em:2"}});
  RunData data = few_rows();
  resolve(config, data);
  const auto whole = trainee_of(config, data), first = trainee_of(config, data), second = trainee_of(config, data);
  while (whole->update() < 40) whole->training().step();
  while (first->update() < 17) first->training().step();
  second->restore(17, support::copied(first->state()));
  while (second->update() < 40) second->training().step();
  EXPECT_EQ(second->measure(), whole->measure());
  EXPECT_EQ(second->kept()->encode_file(), whole->kept()->encode_file());
}

// 400 rows of a teacher with two causes, each of which turns three pixels on that are else off, but for 5 %. The learnt
// net has three. Its exact log-likelihood on these rows must come near to the teacher's, or be above it, and be far
// above that of independent pixels. Seeds are fixed.
TEST(SbnByEm, LearnsTheCausesOfItsRows) {
  SigmoidBeliefNet teacher({.visible = "bernoulli:6", .latent = {2}}, at::kDouble);
  const double off = std::log(0.05 / 0.95);
  teacher.parameters()["down1.layer1.bias"].fill_(off);
  teacher.parameters()["down1.layer1.weights"].copy_(
      at::kron(at::eye(2, at::kDouble), at::full({1, 3}, -2 * off, at::kDouble)));
  const at::Tensor rows = teacher.dream(teacher.parameters(), 400, Key(4)).visible;
  RunConfig config = config_of({{"latent", "3"},
                                {"objective", "em:1"},
                                {"updates", "1500"},
                                {"batch", "50"},
                                {"rate_weights", "0.03"},
                                {"rate_bias", "0.03"},
                                {"averaging", "100"}});
  RunData data = data_of(rows, rows);
  resolve(config, data);
  const auto trainee = trainee_of(config, data);
  while (!trainee->training().finished()) trainee->training().step();
  const auto model = trainee->kept();
  const SigmoidBeliefNet net = dynamic_cast<const SbnModel&>(*model).net().to(at::TensorOptions().dtype(at::kDouble));
  const double exact = support::enumerated_log_p(net, net.parameters(), rows).mean().item<double>();
  const double of_teacher = support::enumerated_log_p(teacher, teacher.parameters(), rows).mean().item<double>();
  EXPECT_GT(exact, of_teacher - 0.05);
  const at::Tensor means = rows.mean(0);
  const double independent = (means * means.log() + (1 - means) * (1 - means).log()).sum().item<double>();
  EXPECT_GT(exact, independent + 1);
  // q has learnt from the same draws: its bound with many draws is near.
  const Evaluation found = judged(*model, rows, {.importance = 200});
  EXPECT_NEAR(found.log_likelihood->value, exact, 0.05);
}

TEST(SbnByMeanField, IsJudgedByABoundWithoutNoise) {
  SigmoidBeliefNet net({.visible = "bernoulli:4", .latent = {3, 2}}, at::kFloat);
  initialize(net, Key(3), at::full({4}, 0.4));
  const at::Tensor rows = all_rows(4);
  const SbnModel model({.family = "sbn"}, std::move(net));
  const EstimationOptions options{.method = "mean_field", .importance = 50};
  const Evaluation found = judged(model, rows, options);
  EXPECT_EQ(found.log_likelihood->kind, EstimateKind::lower_bound);
  EXPECT_TRUE(is_mean_field_bound(*found.log_likelihood));
  EXPECT_EQ(found.log_likelihood->low, found.log_likelihood->high);
  expect_mentions(found.verdict, {"Importance sampling", "50 draws", "lower bounds"});
  const SigmoidBeliefNet precise = model.net().to(at::TensorOptions().dtype(at::kDouble));
  EXPECT_LE(found.log_likelihood->value,
            support::enumerated_log_p(precise, precise.parameters(), rows).mean().item<double>() + 1e-9);
  SigmoidBeliefNet under({.visible = "bernoulli:4", .latent = {3}, .prior_hidden = 2}, at::kFloat);
  const SbnModel other({.family = "sbn"}, std::move(under));
  EXPECT_NE(message_of([&] { (void)judged(other, rows, options); }), "");
}

}  // namespace
}  // namespace harmonium
