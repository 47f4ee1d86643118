// sbn --prior rbm:N: training a sigmoid belief net and the RBM above it together.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "harmonium/core/error.h"
#include "harmonium/families/sbn_model.h"
#include "harmonium/families/sbn_options.h"
#include "tests/support/machines.h"
#include "tests/support/sbn_runs.h"
#include "tests/support/sigmoid_belief_net.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::config_of;
using support::copied;
using support::data_of;
using support::exact_log_p;
using support::expect_mentions;
using support::few_rows;
using support::Given;
using support::message_of;
using support::trainee_of;

// Chains and no chains, dreams and none, running means and baselines, log Z exact and followed.
TEST(SbnUnderAnRbm, GoesOnFromItsStateBitForBit) {
  const std::vector<Given> ways = {
      {{"latent", "24"}, {"prior", "rbm:24"}, {"objective", "vimco:3"}},
      {{"latent", "5,24"}, {"prior", "rbm:24"}, {"objective", "rws:3"}, {"prior_particles", "20"}},
      {{"latent", "6"}, {"prior", "rbm:4"}, {"objective", "wake_sleep"}},
      {{"latent", "6"}, {"prior", "rbm:4"}, {"objective", "nvil"}, {"prior_gradient", "cd"}},
      {{"latent", "12"},
       {"prior", "rbm:12"},
       {"objective", "elbo:1"},
       {"baseline", "optimal"},
       {"prior_gradient", "pt"}},
      {{"latent", "12"}, {"prior", "rbm:12"}, {"objective", "bihm:3"}, {"prior_metric", "centering"}}};
  for (const Given& way : ways) {
    SCOPED_TRACE(way.at("objective"));
    RunConfig config = config_of(way);
    RunData data = few_rows();
    resolve(config, data);
    const auto whole = trainee_of(config, data), first = trainee_of(config, data), second = trainee_of(config, data);
    std::map<std::int64_t, std::map<std::string, double>> lines;
    for (; whole->update() < 40; whole->training().step())
      if (whole->update() % 10 == 0) lines[whole->update()] = whole->measure();
    for (; first->update() < 17; first->training().step())
      if (first->update() % 10 == 0) (void)first->measure();
    const NamedTensors saved = copied(first->state());
    second->restore(17, saved);
    for (; second->update() < 40; second->training().step())
      if (second->update() % 10 == 0) {
        EXPECT_EQ(second->measure(), lines.at(second->update()));
      }
    EXPECT_EQ(second->measure(), whole->measure());
    EXPECT_EQ(second->kept()->encode_file(), whole->kept()->encode_file());
    EXPECT_TRUE(lines.at(10).contains("unnormalized_log_likelihood"));
    EXPECT_TRUE(lines.at(10).contains("validation_log_likelihood"));
    EXPECT_EQ(lines.at(10).contains("validation_effective_samples"), way.at("prior") == "rbm:24");
    EXPECT_FALSE(lines.at(10).contains("log_likelihood")) << "of batches it lacks log Z";
  }
}

TEST(SbnUnderAnRbm, LearnsByEveryObjectiveWhoseSharesAddUpToOne) {
  for (const LatentObjectiveType& type : latent_objectives()) {
    SCOPED_TRACE(type.name);
    RunConfig config = config_of({{"latent", "5"}, {"prior", "rbm:3"}, {"objective", type.name}});
    RunData data = few_rows();
    if (type.name == "concrete") {
      expect_mentions(message_of([&] { resolve(config, data); }), {"concrete", "RBM as prior"});
      continue;
    }
    resolve(config, data);
    const auto trainee = trainee_of(config, data);
    const Moments before = trainee->training().parameters().clone();
    while (!trainee->training().finished()) trainee->training().step();
    for (const auto& [name, value] : before.entries())
      EXPECT_FALSE(at::equal(value, trainee->training().parameters()[name])) << name << " has not moved";
  }
}

TEST(SbnUnderAnRbm, WatchesValidationRowsLessLogZ) {
  RunConfig config = config_of({{"latent", "5"}, {"prior", "rbm:3"}});
  RunData data = few_rows();
  resolve(config, data);
  const auto trainee = trainee_of(config, data);
  for (int update = 0; update < 20; ++update) trainee->training().step();
  const auto metrics = trainee->measure();
  const std::unique_ptr<Model> current = trainee->current();
  const auto& model = dynamic_cast<const SbnModel&>(*current);
  const double exact = exact_log_p(model.net(), data.valid.to_float()).mean().item<double>();
  // 20 draws of each of 30 rows: low by less than half a nat here, and above by noise alone.
  EXPECT_NEAR(metrics.at("validation_log_likelihood"), exact - 0.2, 0.3);
  EXPECT_NEAR(metrics.at("prior_log_z"),
              support::enumerated_prior_log_z(model.net().to(at::TensorOptions().dtype(at::kDouble)),
                                              model.net().to(at::TensorOptions().dtype(at::kDouble)).parameters())
                  .item<double>(),
              1e-4);
}

// A number that follows log Z and is lost is no number: neither shown nor chosen by.
TEST(SbnUnderAnRbm, ChoosesNoModelWhereLogZIsLost) {
  RunConfig config = config_of({{"latent", "100"}, {"prior", "rbm:100"}, {"updates", "30"}});
  RunData data = few_rows();
  resolve(config, data);
  const auto trainee = trainee_of(config, data);
  (void)trainee->measure();
  ASSERT_FALSE(trainee->training().best().empty());
  const std::int64_t best = trainee->training().best().update();
  // A machine no chain can follow within a step: weights of both signs, far beyond what learning makes.
  for (int update = 0; update < 20; ++update) trainee->training().step();
  NamedTensors state = copied(trainee->state());
  for (auto& [name, value] : state)
    if (name == "average/prior.visible_hidden.weights")
      value.copy_(20 * normal(Key(5), value.sizes(), value.options()));
  trainee->restore(20, state);
  const auto metrics = trainee->measure();
  EXPECT_LT(metrics.at("validation_effective_samples"), 25);
  EXPECT_FALSE(metrics.contains("validation_log_likelihood"));
  EXPECT_EQ(trainee->training().best().update(), best);
  const auto words = trainee->closing_words(trainee->training().kept());
  ASSERT_EQ(words.size(), 1U);
  expect_mentions(words.front(), {"left behind", "prior_rate"});
}

// Four bits that copy a fair one, each turned over with probability 0.15; two pixels for each of them.
SigmoidBeliefNet teacher_of_copies() {
  constexpr double clear = 6;  // pixels are lit with probability σ(±3)
  const double strength = 2 * std::log(0.85 / 0.15);
  SigmoidBeliefNet net({.visible = "bernoulli:8", .latent = {4}, .prior_hidden = 1}, at::kFloat);
  Moments& parameters = net.parameters();
  for (const auto& [name, value] : parameters.entries()) at::Tensor(value).zero_();
  parameters["prior.visible.bias"].fill_(-strength / 2);
  parameters["prior.visible_hidden.weights"].fill_(strength);
  parameters["prior.hidden.bias"].fill_(-2 * strength);
  for (std::int64_t h = 0; h < 4; ++h) parameters["down1.layer1.weights"][h].narrow(0, 2 * h, 2).fill_(clear);
  parameters["down1.layer1.bias"].fill_(-clear / 2);
  return net;
}

// What four independent bits say of the copies costs them, whatever linear map leads to the pixels. Both nets begin
// alike, with the same batches and as many updates. Found with this seed, nats per row: the teacher −3.557, an RBM as
// prior −3.571, a factorial prior −3.663. The margin asked for is half of what lies between the two.
TEST(SbnUnderAnRbm, LearnsATeacherThatAFactorialPriorCannot) {
  const SigmoidBeliefNet teacher = teacher_of_copies();
  const Dream drawn = teacher.dream(teacher.parameters(), 4000, Key(7));
  RunData data = data_of(drawn.visible.narrow(0, 0, 3000), drawn.visible.narrow(0, 3000, 1000));
  const at::Tensor all = all_rows(8);
  const at::Tensor p = exact_log_p(teacher, all).exp();
  ASSERT_NEAR(p.sum().item<double>(), 1, 1e-6);
  // Σ_x p(x) log p_student(x), which no sample of rows makes noisy.
  const auto learnt = [&](const std::string& prior) {
    RunConfig config = config_of({{"latent", "4"},
                                  {"prior", prior},
                                  {"objective", "rws:5"},
                                  {"updates", "3000"},
                                  {"batch", "50"},
                                  {"averaging", "100"},
                                  {"rate_weights", "0.03"},
                                  {"rate_bias", "0.03"},
                                  {"keep", "last"}});
    resolve(config, data);
    const auto trainee = trainee_of(config, data);
    while (!trainee->training().finished()) trainee->training().step();
    return (p * exact_log_p(dynamic_cast<const SbnModel&>(*trainee->kept()).net(), all)).sum().item<double>();
  };
  const double best = (p * p.log()).sum().item<double>(), under_rbm = learnt("rbm:2"), factorial = learnt("factorial");
  EXPECT_LT(under_rbm, best);
  EXPECT_GT(under_rbm, factorial + 0.046);
}

std::string complaint_about(const Given& given) {
  RunConfig config = config_of(given);
  RunData data = few_rows();
  return message_of([&] {
    resolve(config, data);
    (void)check_config(config, data);
  });
}

TEST(SbnUnderAnRbm, RefusesOptionsThatMakeNoSense) {
  for (const char* prior : {"rbm", "rbm:", "rbm:0", "rbm:-3", "rbm:4x", "rbm:2000000", "dbm:3"})
    expect_mentions(complaint_about({{"prior", prior}}), {prior, "factorial, autoregressive, nade, and rbm:N"});
  const Given priors = {{"prior_gradient", "pcd"},
                        {"prior_metric", "sgd"},
                        {"prior_rate", "0.1"},
                        {"prior_particles", "5"},
                        {"prior_sweeps", "2"}};
  for (const auto& [name, value] : priors)
    expect_mentions(complaint_about({{name, value}}), {"prior_" + name.substr(6), "factorial", "rbm:N"});
  const auto under_rbm = [](Given more) {
    more.insert({{"latent", "30"}, {"prior", "rbm:30"}});
    return complaint_about(more);
  };
  EXPECT_EQ(under_rbm({}), "");
  expect_mentions(under_rbm({{"prior_gradient", "pdc"}}), {"pdc", "pcd, fpcd"});
  expect_mentions(under_rbm({{"prior_metric", "fung"}}), {"fung", "fang"});
  expect_mentions(under_rbm({{"prior_rate", "-1"}}), {"prior_rate", "-1"});
  expect_mentions(under_rbm({{"prior_particles", "-1"}}), {"prior_particles", "-1"});
  expect_mentions(under_rbm({{"prior_sweeps", "-1"}}), {"prior_sweeps", "-1"});
  expect_mentions(under_rbm({{"prior_gradient", "exact"}}), {"exact", "pcd"});
  expect_mentions(under_rbm({{"objective", "rws:3"}, {"prior_gradient", "cd"}}), {"rws:3", "cd", "pcd"});
  EXPECT_EQ(under_rbm({{"objective", "vimco:3"}, {"prior_gradient", "cd"}}), "");
}

TEST(SbnUnderAnRbm, ChoosesWhatIsLeftToIt) {
  RunConfig small = config_of({{"latent", "12"}, {"prior", "rbm:6"}}),
            large = config_of({{"latent", "12"}, {"prior", "rbm:20"}, {"batch", "700"}}),
            biased = config_of({{"latent", "12"}, {"prior", "rbm:20"}, {"prior_gradient", "pl"}});
  RunData data = few_rows();
  for (RunConfig* each : {&small, &large, &biased}) resolve(*each, data);
  const auto own = [](const RunConfig& config) { return config.own.as<SbnOptions>(); };
  EXPECT_EQ(own(small).prior_gradient, "exact");
  EXPECT_EQ(own(large).prior_gradient, "pcd");
  EXPECT_EQ(own(small).prior_metric, "fang");
  EXPECT_EQ(own(biased).prior_metric, "centering");
  EXPECT_EQ(own(small).prior_particles, 500);
  EXPECT_EQ(own(large).prior_particles, 700);
  EXPECT_GT(own(large).prior_rate, 0);
}

}  // namespace
}  // namespace harmonium
