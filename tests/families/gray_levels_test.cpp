// Pictures kept gray, with a probability for each level, and categories: what is learnt and judged is a distribution
// over the stored values, and is not mixed up with densities.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/families/open_model.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"
#include "harmonium/report/protocols.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::expect_mentions;
using support::message_of;

// Two pixels of four levels, correlated.
Dataset gray_pixels(std::int64_t rows, std::uint64_t seed, double scale = 1.0 / 3) {
  const at::Tensor x = normal(Key(seed), {rows, 2}), shared = normal(Key(seed).fold_in(1), {rows, 1});
  return {.name = "gray",
          .values = (1.5 + 0.5 * x + 0.8 * shared).round().clamp(0, 3).to(at::kByte),
          .scale = scale,
          .image = ImageShape{1, 2},
          .divided_by = 1 / scale};
}

RunConfig gray_config(const std::string& model, RunData& data) {
  RunConfig config = usual_config(model);
  config.data = "gray";
  config.valid = "others";
  config.binarize = "levels";
  config.keep = "last";
  config.updates = 1500;
  config.rate_weights = 0.003;
  config.batch = 50;
  config.seed = 4;
  resolve(config, data);
  return config;
}

std::unique_ptr<Model> trained_on(const RunConfig& config, const RunData& data) {
  const Family& family = find_family(config.model);
  const auto trainee = family.train(config, data, *family.make(config, data, {}));
  while (!trainee->training().finished()) trainee->training().step();
  return trainee->kept();
}

RunData gray_data() { return {.train = gray_pixels(400, 1), .valid = gray_pixels(100, 2)}; }

class Unwatched final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

Evaluation judged_gray(const Model& model, const Dataset& data, const std::string& binarize = "auto") {
  Unwatched watcher;
  const TestData test =
      make_test_data("gray", data, {.binarize = protocol_for(binarize, model.info())}, model.visible());
  return model.density()->judge({&test}, {.importance = 2000}, watcher, nullptr).front();
}

TEST(GrayLevels, HaveProbabilitiesThatAddUpToOne) {
  const at::Tensor numbers = at::arange(16, at::kLong).unsqueeze(1);
  Dataset all = gray_pixels(1, 3);
  all.values = at::cat({numbers.remainder(4), numbers.div(4, "floor")}, 1).to(at::kByte);
  for (const char* family : {"vae", "ladder"}) {
    SCOPED_TRACE(family);
    RunData data = gray_data();
    const std::unique_ptr<Model> model = trained_on(gray_config(family, data), data);
    const Evaluation found = judged_gray(*model, all);
    // 16 bounds from below, each within its noise: the sum of p is short of one by their gap alone.
    const double sum = found.of_rows.exp().sum().item<double>();
    EXPECT_NEAR(sum, 1, 0.02);
    EXPECT_EQ(found.binarization, "levels (probabilities of 4 stored values)");
    EXPECT_EQ(protocol_of(found.binarization), "levels");
    // Better than independent pixels with the frequencies of the training data.
    double independent = 0;
    const Dataset test = gray_pixels(500, 7);
    for (std::int64_t column = 0; column < 2; ++column) {
      const at::Tensor counts = at::bincount(data.train.values.select(1, column).to(at::kLong), {}, 4).to(at::kDouble);
      independent += (counts / counts.sum())
                         .log()
                         .index_select(0, test.values.select(1, column).to(at::kLong))
                         .mean()
                         .item<double>();
    }
    EXPECT_GT(judged_gray(*model, test).log_likelihood->value, independent + 0.1);
    const at::Tensor drawn = model->generator()->draw({.count = 50, .seed = 2});
    EXPECT_LT((drawn * 3 - (drawn * 3).round()).abs().max().item<double>(), 1e-5) << "draws are levels";
    const std::unique_ptr<Model> back = decode_model(model->encode_file(), "a file");
    EXPECT_EQ(back->encode_file(), model->encode_file());
  }
}

TEST(GrayLevels, AreNotJudgedAsAnythingElse) {
  RunData data = gray_data();
  RunConfig config = gray_config("vae", data);
  config.updates = 2;
  const std::unique_ptr<Model> levels = trained_on(config, data);
  for (const char* other : {"none", "dequantized", "threshold"})
    expect_mentions(message_of([&] { (void)judged_gray(*levels, gray_pixels(9, 3), other); }),
                    {"gray level", "binarize"});
  expect_mentions(message_of([&] { (void)judged_gray(*levels, gray_pixels(9, 3, 1.0 / 7)); }),
                  {"8 gray levels", "4", "scale 3"});
  RunConfig real = usual_config("vae");
  real.data = "gray";
  real.visible = "gaussian";
  real.updates = 2;
  real.keep = "last";
  RunData plain = gray_data();
  resolve(real, plain);
  expect_mentions(message_of([&] { (void)judged_gray(*trained_on(real, plain), gray_pixels(9, 3), "levels"); }),
                  {"no probabilities of gray levels"});
}

TEST(GrayLevels, AreRefusedWhereTheyMakeNoSense) {
  const auto asked = [](const std::string& model, const std::function<void(RunConfig&, RunData&)>& change) {
    RunData data = gray_data();
    RunConfig config = usual_config(model);
    config.data = "gray";
    config.binarize = "levels";
    config.keep = "last";
    change(config, data);
    return message_of([&] {
      resolve(config, data);
      (void)find_family(model).make(config, data, {});
    });
  };
  const auto nothing = [](RunConfig&, RunData&) {};
  expect_mentions(asked("draw", nothing), {"draw", "vae, ladder"});
  expect_mentions(asked("rbm", nothing), {"rbm", "vae, ladder"});
  expect_mentions(asked("vae", [](RunConfig& config, RunData&) { config.visible = "bernoulli"; }), {"visible"});
  expect_mentions(asked("vae", [](RunConfig& config, RunData&) { config.shrink = 0.1; }), {"shrink"});
  expect_mentions(asked("vae", [](RunConfig&, RunData& data) { data.train.scale = 0.3; }), {"scale"});
  expect_mentions(asked("vae",
                        [](RunConfig&, RunData& data) {
                          data.train.values = data.train.to_float();
                          data.train.scale = 1;
                          data.train.values[0][0] = 0.5;
                        }),
                  {"whole number"});
  expect_mentions(asked("vae", [](RunConfig&, RunData& data) { data.valid = gray_pixels(5, 1, 1.0 / 4); }),
                  {"validation", "5 gray levels"});
  expect_mentions(asked("vae",
                        [](RunConfig& config, RunData&) {
                          config.binarize = "auto";
                          RunConfig::visit(config, [](const char* name, auto& field, const char*) {
                            if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::int64_t>)
                              if (std::string_view(name) == "components") field = 3;
                          });
                        }),
                  {"components", "levels"});
}

TEST(Categories, HaveProbabilitiesThatAddUpToOne) {
  RunData data = gray_data();
  for (Dataset* each : {&data.train, &data.valid}) each->scale = each->divided_by = 1;
  RunConfig config = usual_config("vae");
  config.data = "gray";
  config.visible = "softmax:4";
  config.keep = "last";
  config.updates = 300;
  config.batch = 50;
  resolve(config, data);
  const std::unique_ptr<Model> model = trained_on(config, data);
  EXPECT_EQ(model->visible().spec(), "softmax:2x4");
  const at::Tensor numbers = at::arange(16, at::kLong).unsqueeze(1);
  Dataset all = gray_pixels(1, 3, 1);
  all.values = at::cat({numbers.remainder(4), numbers.div(4, "floor")}, 1).to(at::kByte);
  const Evaluation found = judged_gray(*model, all);
  EXPECT_NEAR(found.of_rows.exp().sum().item<double>(), 1, 0.02);
  EXPECT_EQ(found.binarization, "none");
  const at::Tensor drawn = model->generator()->draw({.count = 20, .seed = 2});
  EXPECT_EQ(model->visible().complaint(drawn), "");
  EXPECT_EQ(decode_model(model->encode_file(), "a file")->encode_file(), model->encode_file());
}

}  // namespace
}  // namespace harmonium
