#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/families/rolls.h"
#include "harmonium/families/vrnn_judging.h"
#include "harmonium/families/vrnn_model.h"

namespace harmonium {
namespace {

// Sequences of 5 to 8 frames with one of four lights on, which moves on by one place at every frame from a random one:
// log 4 nats in all, whatever the length.
Dataset turning_lights(std::int64_t sequences, std::uint64_t seed) {
  Dataset data{.name = "lights", .values = {}};
  std::vector<at::Tensor> frames;
  for (std::int64_t s = 0; s < sequences; ++s) {
    const std::uint64_t bits = Key(seed).fold_in(static_cast<std::uint64_t>(s)).bits();
    const std::int64_t length = 5 + static_cast<std::int64_t>(bits % 4),
                       start = static_cast<std::int64_t>(bits >> 10) & 3;
    data.lengths.push_back(length);
    for (std::int64_t t = 0; t < length; ++t)
      frames.push_back(at::one_hot(at::tensor({(start + t) % 4}, at::kLong), 4));
  }
  data.values = at::cat(frames).to(at::kByte);
  return data;
}

RunConfig lights_config(RunData& data, std::int64_t updates) {
  RunConfig config = usual_config("vrnn");
  config.data = "lights";
  config.valid = "others";
  config.updates = updates;
  config.batch = 20;
  config.averaging = 10;
  config.rate_weights = config.rate_bias = 0.01;
  config.seed = 3;
  RunConfig::visit(config, [](const char* name, auto& field, const char*) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::int64_t>) {
      if (std::string_view(name) == "hidden") field = 12;
      if (std::string_view(name) == "latent") field = 3;
    }
  });
  resolve(config, data);
  return config;
}

RunData lights() { return {.train = turning_lights(80, 1), .valid = turning_lights(40, 2)}; }

class Silent final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

Evaluation judged_by(const Model& model, const Dataset& data, const std::string& method) {
  Silent watcher;
  EstimationOptions options;
  options.method = method;
  options.importance = 40;
  const TestData test = make_test_data("lights", data, {}, model.visible());
  return model.density()->judge({&test}, options, watcher, nullptr).front();
}

std::unique_ptr<Model> model_of_lights(RunData data, std::int64_t updates = 400) {
  const RunConfig config = lights_config(data, updates);
  const Family& family = find_family("vrnn");
  const auto trainee = family.train(config, data, *family.make(config, data, {}));
  while (!trainee->training().finished()) trainee->training().step();
  return trainee->kept();
}

TEST(VrnnFamily, LearnsWhatFollowsWhat) {
  const RunData data = lights();
  const std::unique_ptr<Model> model = model_of_lights(data);
  const double truth =
      -std::log(4.0) * static_cast<double>(data.valid.cases()) / static_cast<double>(data.valid.rows());
  const double found = judged_by(*model, data.valid, "auto").log_likelihood->value;
  EXPECT_GT(found, truth - 0.15) << "without memory " << -std::log(4.0);
  // Frames that nobody puts together are learnt as such.
  RunData loose = data;
  loose.train.lengths.clear();
  loose.valid.lengths.clear();
  EXPECT_LT(judged_by(*model_of_lights(loose), loose.valid, "auto").log_likelihood->value, -std::log(4.0) + 0.1);
  // Sequences that it draws turn as well.
  const std::int64_t frames = model->generator()->frames();
  EXPECT_NEAR(static_cast<double>(frames), static_cast<double>(data.train.rows()) / 80, 0.5);
  const at::Tensor drawn = model->generator()->draw({.count = 50 * frames, .per_chain = frames, .seed = 1});
  const at::Tensor lit = drawn.view({50, frames, 4}).argmax(2);
  const at::Tensor turned = (lit.narrow(1, 1, frames - 1) - lit.narrow(1, 0, frames - 1)).remainder(4).eq(1);
  EXPECT_GT(turned.to(at::kDouble).mean().item<double>(), 0.5) << "a quarter would by chance";
  EXPECT_THROW((void)model->generator()->draw({.count = 7, .per_chain = 2}), Error);
}

TEST(VrnnFamily, JudgesFrameByFrameAndSequenceBySequence) {
  const RunData data = lights();
  const std::unique_ptr<Model> model = model_of_lights(data, 60);
  for (const char* method : {"auto", "particles", "importance", "bound"}) {
    SCOPED_TRACE(method);
    const Evaluation found = judged_by(*model, data.valid, method);
    const Estimate& mean = *found.log_likelihood;
    EXPECT_EQ(mean.kind, EstimateKind::lower_bound);
    EXPECT_EQ(found.n, data.valid.rows());
    ASSERT_EQ(found.of_rows.numel(), data.valid.rows());
    EXPECT_NEAR(found.of_rows.mean().item<double>(), mean.value, 1e-12);
    EXPECT_TRUE(mean.low < mean.value && mean.value < mean.high);
    ASSERT_TRUE(found.sequences && found.sequences->intervals);
    EXPECT_EQ(found.sequences->count, 40);
    EXPECT_NEAR(found.sequences->mean * 40, found.of_rows.sum().item<double>(), 1e-9);
    EXPECT_LT(found.sequences->intervals->frame_low, mean.value);
    EXPECT_GT(found.sequences->intervals->frame_high, mean.value);
    EXPECT_EQ(found.verdict.empty(), std::string(method) == "bound");
    Silent watcher;
    EstimationOptions options;
    options.method = method;
    options.importance = 40;
    EXPECT_TRUE(model->density()->same_way(found, options));
    options.method = std::string(method) == "bound" ? "auto" : "bound";
    EXPECT_FALSE(model->density()->same_way(found, options));
  }
  // A bound, an importance-weighted bound, a filter: each closer to the truth, by far more than their noise.
  const double bound = judged_by(*model, data.valid, "bound").log_likelihood->value;
  EXPECT_GT(judged_by(*model, data.valid, "importance").log_likelihood->value, bound);
  EXPECT_GT(judged_by(*model, data.valid, "particles").log_likelihood->value, bound);
  EXPECT_THROW((void)judged_by(*model, data.valid, "ais"), Error);
  // Without sequences there is nothing to say of them.
  Dataset loose = data.valid;
  loose.lengths.clear();
  EXPECT_FALSE(judged_by(*model, loose, "auto").sequences);
}

// Where p and q are one and nothing is remembered, every frame has a log-likelihood that is known.
TEST(VrnnFamily, GivesEveryFrameItsOwnNumber) {
  Vrnn net({.visible = "bernoulli:4", .units = 2, .latent = 1}, at::kDouble);
  const at::Tensor bias = at::tensor({1., -1., 0.5, 2.}, at::kDouble);
  net.parameters()["output.layer1.bias"].copy_(bias);
  const Dataset data = turning_lights(40, 3);
  const at::Tensor exact = net.visible().log_prob(data.to_float().to(at::kDouble), bias.expand({data.rows(), 4}));
  for (const auto method : {SequenceMethod::particles, SequenceMethod::importance, SequenceMethod::bound}) {
    const JudgedRows found = judge_sequences(net, data, method, 6, Key(1), [](std::int64_t, std::int64_t) {});
    EXPECT_TRUE(at::allclose(found.each, exact, 0, 1e-10));
    EXPECT_NEAR(found.mean.value, exact.mean().item<double>(), 1e-10);
  }
  EXPECT_GT(exact.std().item<double>(), 0.1) << "frames differ";
}

TEST(VrnnFamily, IsCaughtBetweenBothSidesOnItsOwnSequences) {
  const std::unique_ptr<Model> model = model_of_lights(lights(), 60);
  const Vrnn& net = dynamic_cast<const VrnnModel&>(*model).net();
  const std::vector<std::int64_t> lengths(200, 6);
  const OwnDrawBounds few = own_sequence_bounds(net, lengths, SequenceMethod::particles, 4, Key(1));
  const OwnDrawBounds many = own_sequence_bounds(net, lengths, SequenceMethod::particles, 200, Key(1));
  EXPECT_GT(few.gap_interval.low, 0) << "two particles in each filter miss something";
  EXPECT_LT(many.gap(), few.gap() / 3);
}

TEST(VrnnFamily, GoesOnBitForBitOverSequences) {
  RunData data = lights();
  const RunConfig config = lights_config(data, 30);
  const Family& family = find_family("vrnn");
  const auto fresh = [&] { return family.train(config, data, *family.make(config, data, {})); };
  const auto whole = fresh(), first = fresh(), second = fresh();
  for (int update = 0; update < 30; ++update) whole->training().step();
  for (int update = 0; update < 13; ++update) first->training().step();
  NamedTensors saved;
  for (const auto& [name, value] : first->training().state()) saved.emplace_back(name, value.clone());
  second->training().restore(13, saved);
  for (int update = 13; update < 30; ++update) second->training().step();
  EXPECT_EQ(second->kept()->encode_file(), whole->kept()->encode_file());
}

TEST(JudgedSequences, AreMeansAndIntervalsOverSequences) {
  // Sums −3, −3, −2 of 1, 2 and 1 frames: −2 a frame.
  const at::Tensor frames = at::tensor({-3., -1., -2., -2.}, at::kDouble);
  const JudgedSequences found = judged_sequences(frames, {1, 2, 1});
  EXPECT_EQ(found.count, 3);
  EXPECT_NEAR(found.mean, -8.0 / 3, 1e-12);
  ASSERT_TRUE(found.intervals);
  EXPECT_NEAR(found.intervals->high - found.intervals->low, 2 * 1.96 * std::sqrt((1.0 / 9 + 1.0 / 9 + 4.0 / 9) / 6),
              1e-12);
  // What is left of −2 a frame: −1, 1, 0.
  EXPECT_NEAR(found.intervals->frame_high, -2 + 1.96 * std::sqrt(2 * 1.5) / 4, 1e-12);
  EXPECT_NEAR(found.intervals->frame_low, -2 - 1.96 * std::sqrt(2 * 1.5) / 4, 1e-12);
  EXPECT_FALSE(judged_sequences(frames, {4}).intervals);
  EXPECT_THROW((void)judged_sequences(frames, {1, 2}), Error);
}

TEST(Rolls, HaveTimeToTheRightAndTheFirstValueBelow) {
  // Two sequences of three frames of two values.
  const at::Tensor rolls = as_rolls(at::arange(12, at::kFloat).view({6, 2}), 3);
  EXPECT_TRUE(
      at::equal(rolls, at::tensor({1.F, 3.F, 5.F, 0.F, 2.F, 4.F, 7.F, 9.F, 11.F, 6.F, 8.F, 10.F}).view({2, 6})));
}

}  // namespace
}  // namespace harmonium
