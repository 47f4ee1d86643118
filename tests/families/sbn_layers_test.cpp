// sbn --layer, --inference-layer and --prior with layers that are not factorial: training, files, judging, refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/safetensors.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/sbn_model.h"
#include "harmonium/families/sbn_options.h"
#include "tests/support/machines.h"
#include "tests/support/sbn_runs.h"
#include "tests/support/sigmoid_belief_net.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::config_of;
using support::expect_mentions;
using support::few_rows;
using support::judged;
using support::message_of;
using support::trainee_of;

SigmoidBeliefNet random_net(LayerKind generation, LayerKind recognition, LayerKind prior) {
  const SigmoidBeliefNet net = support::random_sbn({.visible = "bernoulli:5",
                                                    .latent = {3, 2},
                                                    .generation = generation,
                                                    .recognition = recognition,
                                                    .prior = prior,
                                                    .nade_hidden = recognition == LayerKind::nade ? 4 : 0},
                                                   5);
  return net.to(at::TensorOptions().dtype(at::kFloat));
}

std::vector<SigmoidBeliefNet> random_nets() {
  constexpr LayerKind plain = LayerKind::factorial, earlier = LayerKind::autoregressive, nade = LayerKind::nade;
  return {random_net(earlier, earlier, earlier), random_net(nade, nade, nade), random_net(plain, nade, earlier)};
}

TEST(SbnLayers, AreKeptInFilesAndFilesOfFactorialNetsSayNothingOfThem) {
  for (const SigmoidBeliefNet& net : random_nets()) {
    const SbnModel model({.family = "sbn"}, net);
    const std::string bytes = model.encode_file();
    const std::unique_ptr<Model> back = decode_model(bytes, "a file");
    EXPECT_EQ(back->encode_file(), bytes);
    EXPECT_EQ(back->subtitle(), model.subtitle());
    const EstimationOptions options{.importance = 50};
    EXPECT_EQ(judged(*back, all_rows(5), options).log_likelihood->value,
              judged(model, all_rows(5), options).log_likelihood->value);
    for (std::size_t length = 0; length < bytes.size(); length += 97)
      EXPECT_THROW((void)decode_model(bytes.substr(0, length), "a cut file"), Error) << length;
  }
  const SbnModel plain({.family = "sbn"}, random_net(LayerKind::factorial, LayerKind::factorial, LayerKind::factorial));
  EXPECT_EQ(plain.encode_file().find("laws"), std::string::npos);
  EXPECT_EQ(plain.subtitle(), "bernoulli:5 – 3 – 2");
}

TEST(SbnLayers, OfDamagedFilesAreRefusedBeforeMemoryIsAskedFor) {
  const auto with = [](const nlohmann::json& generation, const nlohmann::json& hidden) {
    TensorFile file{.tensors = {{"prior.bias", at::zeros({3})}}, .metadata = {}};
    set_header(file, {.kind = "sbn",
                      .structure = {{"sbn",
                                     {{"visible", "bernoulli:5"},
                                      {"latent", {3, 3}},
                                      {"between", nlohmann::json::array()},
                                      {"activation", "tanh"},
                                      {"laws",
                                       {{"generation", generation},
                                        {"recognition", "factorial"},
                                        {"prior", "factorial"},
                                        {"hidden", hidden}}}}}}});
    return message_of([&] { (void)decode_model(encode_safetensors(file), "a file"); });
  };
  expect_mentions(with("nade", 1 << 20), {"a file", "the file holds 3"});
  expect_mentions(with("nade", -4), {"a file", "-4 hidden units"});
  expect_mentions(with("nade", 1LL << 40), {"a file", "hidden units"});
  expect_mentions(with("darn", 4), {"darn", "autoregressive"});
  EXPECT_NE(with(3, 4), "");
  EXPECT_NE(with("nade", "many"), "");
}

// The bound with many draws comes close to log p by enumeration from below, and own draws close in from above.
TEST(SbnLayers, AreJudgedByImportanceSampling) {
  for (const SigmoidBeliefNet& net : random_nets()) {
    const SbnModel model({.family = "sbn"}, net);
    const at::Tensor rows = all_rows(5);
    const double exact = support::exact_log_p(model.net(), rows).mean().item<double>();
    const Evaluation found = judged(model, rows, {.importance = 2000});
    EXPECT_EQ(found.log_likelihood->kind, EstimateKind::lower_bound);
    // 32 rows of 2000 draws whose log-weights spread by a few nats: a twentieth of a nat is many standard errors.
    EXPECT_NEAR(found.log_likelihood->value, exact, 0.05);
    expect_mentions(found.verdict, {"own"});
  }
}

// 600 updates on 400 rows whose bits copy one of even odds, but for 2 %, with two latent variables.
TEST(SbnLayers, LearnWhatLiesWithinALayer) {
  const at::Tensor first = uniform(Key(1), {400, 1}) < 0.5, noise = uniform(Key(2), {400, 8}) < 0.02;
  const at::Tensor copies = first.expand({400, 8}).logical_xor(noise);
  RunData data = support::data_of(copies, copies);
  // The law has ln 2 + 8 H(0.02) nats a row; a quarter of a nat more is allowed.
  const double limit = -(std::log(2.0) + 8 * 0.0980 + 0.25);
  for (const char* layer : {"autoregressive", "nade"}) {
    RunConfig config = config_of({{"latent", "2"},
                                  {"layer", layer},
                                  {"objective", "vimco:3"},
                                  {"updates", "600"},
                                  {"batch", "50"},
                                  {"rate_weights", "0.03"},
                                  {"rate_bias", "0.03"}});
    resolve(config, data);
    const auto trainee = trainee_of(config, data);
    while (!trainee->training().finished()) trainee->training().step();
    const std::unique_ptr<Model> model = trainee->kept();
    const double found =
        support::exact_log_p(dynamic_cast<const SbnModel&>(*model).net(), copies.to(at::kDouble)).mean().item<double>();
    EXPECT_GT(found, limit) << layer;
  }
}

TEST(SbnLayers, AreRefusedWhereUnitsMustBeIndependent) {
  const auto resolved = [](const support::Given& given) {
    RunConfig config = config_of(given);
    RunData data = few_rows();
    resolve(config, data);
    return config.own.as<SbnOptions>();
  };
  const auto refused = [&](const support::Given& given) { return message_of([&] { (void)resolved(given); }); };
  expect_mentions(refused({{"layer", "nade"}, {"objective", "concrete:2"}}), {"concrete:2", "relaxed"});
  expect_mentions(refused({{"inference_layer", "autoregressive"}, {"objective", "straight_through"}}),
                  {"straight_through", "relaxed"});
  expect_mentions(refused({{"layer", "autoregressive"}, {"objective", "em"}}), {"em:1", "layer autoregressive"});
  expect_mentions(refused({{"prior", "nade"}, {"objective", "em:2"}}), {"em:2", "prior nade"});
  expect_mentions(refused({{"layer", "nade"}, {"objective", "elbo:1"}, {"baseline", "optimal"}}),
                  {"baseline optimal", "inference_layer nade"});
  expect_mentions(refused({{"layer", "darn"}}), {"layer", "darn", "factorial, autoregressive, nade"});
  expect_mentions(refused({{"prior", "darn"}}), {"prior darn", "factorial, autoregressive, nade", "rbm:N"});
  expect_mentions(refused({{"layer_hidden", "5"}}), {"layer_hidden", "layer nade"});
  expect_mentions(refused({{"layer", "nade"}, {"visible", "gaussian:8"}}), {"layer nade", "binary"});
  EXPECT_EQ(resolved({}).prior, "factorial");
  EXPECT_EQ(resolved({}).inference_layer, "factorial");
  EXPECT_EQ(resolved({{"layer", "nade"}}).prior, "nade");
  EXPECT_EQ(resolved({{"layer", "nade"}}).inference_layer, "nade");
  EXPECT_EQ(resolved({{"layer", "nade"}, {"inference_layer", "factorial"}, {"prior", "rbm:4"}}).prior, "rbm:4");
  EXPECT_EQ(resolved({{"inference_layer", "autoregressive"}, {"objective", "em"}}).objective, "em:1")
      << "what p is like is all that Gibbs sampling asks";
}

}  // namespace
}  // namespace harmonium
