// What capsules promise beyond the contract of all families.
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/data/capsule_scenes.h"
#include "harmonium/families/capsule_model.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"

namespace harmonium {
namespace {

RunData scenes_to_learn() {
  const CapsuleScenes teacher(Key(1), {.side = 8, .composites = 2, .parts = 2, .template_size = 4, .distortions = 1});
  return {.train = teacher.draw(200, Key(2)).data, .valid = teacher.draw(50, Key(3)).data};
}

RunConfig config_of(const std::map<std::string, double>& numbers, RunData& data) {
  RunConfig config = usual_config("capsules");
  config.data = "scenes";
  config.valid = "others";
  config.layers = "10,10,10";
  config.batch = 20;
  RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
    if constexpr (std::is_arithmetic_v<std::decay_t<decltype(field)>>)
      if (const auto given = numbers.find(name); given != numbers.end())
        field = static_cast<std::decay_t<decltype(field)>>(given->second);
  });
  resolve(config, data);
  return config;
}

std::unique_ptr<Trainee> begun_trainee(const RunConfig& config, const RunData& data) {
  const Family& family = find_family("capsules");
  return family.train(config, data, *family.make(config, data, {}));
}

TEST(CapsulesFamily, KeepsTheModelOfTheLeastPixelError) {
  RunData data = scenes_to_learn();
  const RunConfig config =
      config_of({{"composites", 2}, {"parts", 2}, {"distortions", 1}, {"dropout", 0}, {"updates", 200}}, data);
  EXPECT_EQ(config.keep, "best");
  const auto trainee = begun_trainee(config, data);
  double least = trainee->measure().at("pixel_error");
  const double first = least;
  while (!trainee->training().finished()) {
    trainee->training().step();
    if (trainee->update() % 50 == 0) least = std::min(least, trainee->measure().at("pixel_error"));
  }
  const std::unique_ptr<Model> model = trainee->kept();
  const at::Tensor rows = data.valid.to_float(), drawn = model->encoder()->reconstruct(rows);
  EXPECT_NEAR((drawn - rows).square().mean().item<double>(), least, 1e-5);
  EXPECT_LT(least, 0.9 * first);
  ASSERT_EQ(model->encoder()->code_layers(), (std::vector<std::string>{"composite", "nice", "world"}));
  EXPECT_EQ(model->encoder()->encode(rows, 0).size(1), 2);
  EXPECT_EQ(model->encoder()->encode(rows, 1).size(1), 7 + 1);
  EXPECT_EQ(model->encoder()->encode(rows, 2).size(1), 2 * 7);
  EXPECT_EQ(model->density(), nullptr);
}

TEST(CapsulesFamily, LearnsWithPartsAloneAndSeveralChannels) {
  RunData data = scenes_to_learn();
  const RunConfig config =
      config_of({{"composites", 0}, {"parts", 2}, {"channels", 2}, {"dropout", 0}, {"updates", 200}}, data);
  const auto trainee = begun_trainee(config, data);
  const double first = trainee->measure().at("pixel_error");
  while (!trainee->training().finished()) trainee->training().step();
  EXPECT_LT(trainee->measure().at("pixel_error"), 0.9 * first);
  const std::unique_ptr<Model> model = trainee->kept();
  EXPECT_EQ(model->encoder()->encode(data.valid.to_float(), 1).size(1), 2 * 8);
  EXPECT_EQ(model->generator()->draw({.count = 3}).size(0), 3);
}

// The rows of the thesis's table that change the encoder or the form of poses.
TEST(CapsulesFamily, LearnsAsTheThesisVariesItAndIsReadBack) {
  RunData data = scenes_to_learn();
  RunConfig config =
      config_of({{"composites", 2}, {"parts", 2}, {"distortions", 1}, {"dropout", 0}, {"updates", 200}}, data);
  const auto set = [&](const std::string& name, const std::string& value) {
    RunConfig::visit(config, [&](const char* each, auto& field, const char*) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
        if (name == each) field = value;
    });
  };
  for (const auto& [name, value] : {std::pair("encoder_layers", "30"), std::pair("skips", "no"),
                                    std::pair("last_layer", "logistic"), std::pair("poses", "matrix")})
    set(name, value);
  const auto trainee = begun_trainee(config, data);
  const double first = trainee->measure().at("pixel_error");
  while (!trainee->training().finished()) trainee->training().step();
  EXPECT_LT(trainee->measure().at("pixel_error"), 0.9 * first);
  const std::unique_ptr<Model> model = trainee->kept(), again = decode_model(model->encode_file(), "a file");
  const at::Tensor rows = data.valid.to_float();
  EXPECT_TRUE(at::equal(model->encoder()->reconstruct(rows), again->encoder()->reconstruct(rows)));
  EXPECT_EQ(model->poser()->movable()[1], "a00");
  set("skips", "some");
  EXPECT_THROW(resolve(config, data), Error);
}

TEST(CapsulesFamily, StopsByNameWhenNothingIsDrawnAnyMore) {
  RunData data = scenes_to_learn();
  const RunConfig config =
      config_of({{"composites", 1}, {"parts", 2}, {"distortions", 0}, {"rate_weights", 1e-6}, {"updates", 300}}, data);
  const std::unique_ptr<Model> start = find_family("capsules").make(config, data, {});
  // The first translation of the only composite: preference, intensity, then the pose.
  start->parameters()["encoder.output.bias"][2] += 100;
  const auto trainee = find_family("capsules").train(config, data, *start);
  try {
    while (!trainee->training().finished()) trainee->training().step();
    ADD_FAILURE() << "nothing stopped it";
  } catch (const Diverged& failure) {
    EXPECT_NE(std::string(failure.marked()).find("@rate_warmup"), std::string::npos) << failure.what();
    EXPECT_NE(std::string(failure.what()).find("draw nothing"), std::string::npos) << failure.what();
  }
}

TEST(CapsulesFamily, LearnsByTheConservativeOptimizerAndShowsItsRules) {
  RunData data = scenes_to_learn();
  RunConfig config = usual_config("capsules");
  config.data = "scenes";
  config.layers = "10,10,10";
  config.optimizer = "conservative";
  config.updates = 30;
  config.keep = "last";
  resolve(config, data);
  EXPECT_EQ(config.rate_warmup, 0) << "its averages begin high";
  EXPECT_EQ(config.rate_weights, 0.001);
  const auto trainee = begun_trainee(config, data);
  while (!trainee->training().finished()) trainee->training().step();
  const std::map<std::string, double> line = trainee->measure();
  EXPECT_GT(line.at("rule4"), 0.9) << "everywhere at first, as published";
  EXPECT_NEAR(line.at("rule1") + line.at("rule2") + line.at("rule3") + line.at("rule4"), 1, 1e-9);
}

}  // namespace
}  // namespace harmonium
