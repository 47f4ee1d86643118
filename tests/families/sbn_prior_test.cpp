// A sigmoid belief net under an RBM: judged against enumeration, sampled, written and read.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harmonium/core/error.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/sbn_model.h"
#include "harmonium/likelihood/importance_bound.h"
#include "tests/support/machines.h"
#include "tests/support/sbn_runs.h"
#include "tests/support/sigmoid_belief_net.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::exact_log_p;
using support::expect_mentions;
using support::judged;
using support::message_of;
using support::Silent;

// 5 pixels, 3 + 3 latent variables, 3 hidden units in the prior, all parameters of p ~ N(0, 1).
SigmoidBeliefNet net_of_three() {
  SigmoidBeliefNet net({.visible = "bernoulli:5", .latent = {3, 3}, .between = {}, .prior_hidden = 3}, at::kFloat);
  // q is broad, so that weights have a variance.
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(normal(Key(3).fold_in(i++), value.sizes(), value.options()) *
                            (name.starts_with("up") ? 0.3 : 1.0));
  return net;
}

// p̂ is unbiased for p·Z row by row. The interval of the mean over 32 rows says how much all of them deviate together:
// √Σ var = 32 · half/1.96, which none of them exceeds by a factor of five (false alarms below 1e-4 in all).
TEST(SbnUnderAnRbm, IsJudgedByItsEnumeratedProbabilities) {
  const SbnModel model({.family = "sbn"}, net_of_three());
  const at::Tensor rows = all_rows(5), wanted = exact_log_p(model.net(), rows);
  EXPECT_NEAR(wanted.exp().sum().item<double>(), 1, 1e-12);
  const Evaluation found = judged(model, rows, {.importance = 20'000});
  ASSERT_TRUE(found.log_z && found.log_likelihood);
  EXPECT_EQ(found.log_z->kind, EstimateKind::exact);
  EXPECT_EQ(found.log_likelihood->kind, EstimateKind::lower_bound);
  const double half = (found.log_likelihood->high - found.log_likelihood->low) / 2;
  EXPECT_NEAR(found.log_likelihood->value, wanted.mean().item<double>(), 4 / 1.96 * half);
  EXPECT_LT(half, 0.01);
  const double five = 5 / 1.96 * half * 32;
  EXPECT_LT((found.of_rows - wanted).abs().max().item<double>(), five);
  EXPECT_NEAR(found.of_rows.exp().sum().item<double>(), 1, five * wanted.exp().max().item<double>());
  EXPECT_NEAR(found.of_rows.mean().item<double>(), found.log_likelihood->value, 1e-9);
  EXPECT_EQ(importance_draws(*found.log_likelihood), 20'000);
  expect_mentions(found.verdict, {"log Z of the prior is exact", "On rows of the model's own", "misses at most"});
  EXPECT_EQ(found.verdict.find("Gibbs"), std::string::npos) << found.verdict;
  const double log_z = found.log_z->value;
  EXPECT_NEAR(log_z,
              support::enumerated_prior_log_z(model.net().to(at::TensorOptions().dtype(at::kDouble)),
                                              model.net().to(at::TensorOptions().dtype(at::kDouble)).parameters())
                  .item<double>(),
              1e-5);
}

// Annealing 200 chains over 1000 β finds log Z of so small a machine to well below a twentieth of a nat.
TEST(SbnUnderAnRbm, SaysWhichSideOfLogZItsBoundStandsOn) {
  const SbnModel model({.family = "sbn"}, net_of_three());
  const at::Tensor rows = all_rows(5);
  const double wanted = exact_log_p(model.net(), rows).mean().item<double>();
  const auto by = [&](const std::string& method) {
    return judged(model, rows, {.method = method, .chains = 200, .betas = 1000, .importance = 5000});
  };
  const Evaluation ais = by("ais"), raise = by("raise"), both = by("sandwich");
  EXPECT_EQ(ais.log_likelihood->kind, EstimateKind::estimated_lower_bound);
  EXPECT_EQ(raise.log_likelihood->kind, EstimateKind::lower_bound);
  EXPECT_EQ(both.log_likelihood->kind, EstimateKind::estimated_lower_bound);
  for (const Evaluation* each : {&ais, &raise, &both}) EXPECT_NEAR(each->log_likelihood->value, wanted, 0.1);
  ASSERT_TRUE(both.gap && both.upper_log_z && both.bennett);
  EXPECT_LT(std::abs(*both.gap), 0.05);
  expect_mentions(ais.verdict, {"log Z of the prior", "AIS alone", "sandwich", "On rows of the model's own"});
  expect_mentions(both.verdict,
                  {"log Z of the prior", "from below (AIS)", "from above", "at least", "On rows of the model's own"});
  // The interval holds the noise of both.
  const Evaluation exact = by("exact");
  EXPECT_GT(ais.log_likelihood->high - ais.log_likelihood->low, exact.log_likelihood->high - exact.log_likelihood->low);
  Silent watcher;
  const Evaluation alone = model.density()->judge({}, {.method = "exact"}, watcher, nullptr).front();
  EXPECT_EQ(alone.log_z->value, exact.log_z->value);
  EXPECT_FALSE(alone.log_likelihood);
}

TEST(SbnUnderAnRbm, KnowsAnAnswerByItsDrawsAndItsWayToLogZ) {
  const SbnModel model({.family = "sbn"}, net_of_three());
  const EstimationOptions options{.method = "ais", .chains = 50, .betas = 100, .importance = 300};
  const Evaluation found = judged(model, all_rows(5), options);
  EXPECT_TRUE(model.density()->same_way(found, options));
  for (const auto& change : std::vector<std::function<void(EstimationOptions&)>>{
           [](auto& other) { other.importance = 301; }, [](auto& other) { other.betas = 101; },
           [](auto& other) { other.method = "exact"; }}) {
    EstimationOptions other = options;
    change(other);
    EXPECT_FALSE(model.density()->same_way(found, other));
  }
  expect_mentions(message_of([&] { (void)judged(model, all_rows(5), {.method = "bihm"}); }), {"bihm", "importance"});
  expect_mentions(message_of([&] { (void)judged(model, all_rows(5), {.base = "runs/x"}); }), {"runs/x", "uniform"});
}

TEST(SbnUnderAnRbm, TooWideToEnumerateDrawsByChainsAndSaysSo) {
  SigmoidBeliefNet net({.visible = "bernoulli:5", .latent = {24}, .prior_hidden = 24}, at::kFloat);
  initialize(net, Key(1), at::full({5}, 0.3));
  const SbnModel model({.family = "sbn"}, std::move(net));
  const Generator& generator = *model.generator();
  EXPECT_TRUE(generator.markov());
  expect_mentions(generator.method(), {"Gibbs", "prior"});
  const at::Tensor rows = generator.draw({.count = 10, .sweeps = 3, .seed = 2});
  EXPECT_EQ(model.visible().complaint(rows), "");
  EXPECT_TRUE(at::equal(rows, generator.draw({.count = 10, .sweeps = 3, .seed = 2})));
  EXPECT_FALSE(at::equal(generator.draw({.count = 10, .sweeps = 3, .means = true, .seed = 2}),
                         generator.draw({.count = 10, .sweeps = 4, .means = true, .seed = 2})));
  const Evaluation found =
      judged(model, all_rows(5).narrow(0, 0, 3), {.method = "ais", .chains = 20, .betas = 50, .importance = 20});
  expect_mentions(found.verdict, {"Gibbs chains of the prior", "1000 sweeps"});
  const SbnModel exact({.family = "sbn"}, net_of_three());
  EXPECT_FALSE(exact.generator()->markov());
  expect_mentions(message_of([&] { (void)model.studied_net(); }), {"factorial prior"});
  // Of a wider one nobody can ask for an enumeration; and pictures show how its chains go on.
  const SbnModel wide({.family = "sbn"},
                      SigmoidBeliefNet({.visible = "bernoulli:5", .latent = {40}, .prior_hidden = 40}));
  expect_mentions(message_of([&] { (void)judged(wide, all_rows(5), {.method = "exact"}); }), {"2^30", "sandwich"});
  const NamedTensors nothing;
  const std::vector<Exhibit> shown = wide.exhibits({.checkpoint = nothing, .train = {}});
  ASSERT_EQ(shown.size(), 2U);
  EXPECT_EQ(shown.back().rows.size(0), 10 * shown.back().columns);
  expect_mentions(shown.front().caption, {"1000 sweeps"});
  EXPECT_EQ(exact.exhibits({.checkpoint = nothing, .train = {}}).size(), 1U);
}

TEST(SbnUnderAnRbm, ComesBackFromItsFileAndIsRefusedWhereThatIsDamaged) {
  const SbnModel model({.family = "sbn"}, net_of_three());
  const std::string bytes = model.encode_file();
  const std::unique_ptr<Model> back = decode_model(bytes, "a file");
  EXPECT_EQ(back->encode_file(), bytes);
  EXPECT_EQ(back->subtitle(), model.subtitle());
  expect_mentions(back->subtitle(), {"RBM with 3 hidden units"});
  const EstimationOptions options{.importance = 100};
  EXPECT_EQ(judged(*back, all_rows(5), options).log_likelihood->value,
            judged(model, all_rows(5), options).log_likelihood->value);
  for (std::size_t length = 0; length < bytes.size(); length += 97)
    EXPECT_THROW((void)decode_model(bytes.substr(0, length), "a cut file"), Error) << length;
  // A number that the file does not hold the parameters for is refused before memory is asked for.
  const auto with_hidden = [&](const nlohmann::json& hidden) {
    TensorFile file{.tensors = {{"prior.visible.bias", at::zeros({3})}}, .metadata = {}};
    set_header(file, {.kind = "sbn",
                      .structure = {{"sbn",
                                     {{"visible", "bernoulli:5"},
                                      {"latent", {3, 3}},
                                      {"between", nlohmann::json::array()},
                                      {"activation", "tanh"},
                                      {"prior_hidden", hidden}}}}});
    return message_of([&] { (void)decode_model(encode_safetensors(file), "a file"); });
  };
  expect_mentions(with_hidden(1 << 20), {"a file", "the file holds 3"});
  for (const nlohmann::json& hidden : {nlohmann::json(0), nlohmann::json(-4), nlohmann::json(1LL << 40)})
    expect_mentions(with_hidden(hidden), {"a file", "no layer of a sigmoid belief net"});
  EXPECT_NE(with_hidden("many"), "");
  EXPECT_NE(with_hidden(2.5), "");
}

// A file of a net with a factorial prior says nothing of any other.
TEST(SbnUnderAnRbm, LeavesFilesOfFactorialPriorsAsTheyWere) {
  SigmoidBeliefNet net({.visible = "bernoulli:5", .latent = {3}}, at::kFloat);
  const std::string bytes = SbnModel({.family = "sbn"}, std::move(net)).encode_file();
  EXPECT_EQ(bytes.find("prior_hidden"), std::string::npos);
}

}  // namespace
}  // namespace harmonium
