// Families with real latent variables: several layers of them, their files, and annealing of their decoders against
// quadrature.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "harmonium/families/decoder_judging.h"
#include "harmonium/families/ladder_model.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/families/vae_model.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/importance_bound.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::expect_mentions;
using support::message_of;

class Unheard final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

// All rows of four bits.
TestData sixteen_rows(const Model& model) {
  return make_test_data("bits", {.name = "bits", .values = support::all_rows(4).to(at::kByte)}, {}, model.visible());
}

Evaluation judged(const Model& model, const EstimationOptions& options, Journal* journal = nullptr) {
  Unheard watcher;
  const TestData test = sixteen_rows(model);
  return model.density()->judge({&test}, options, watcher, journal).front();
}

VaeModel deep_vae() { return {{.family = "vae"}, support::small_deep_vae()}; }

// Two levels of one variable each; inference is wide, so that its draws lie within the grid.
LadderModel two_level_ladder() {
  Ladder ladder({.visible = "bernoulli:4", .latent = {1, 1}, .channels = 3}, at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : ladder.parameters().entries())
    at::Tensor(value).copy_(0.6 * normal(Key(1).fold_in(i++), value.sizes(), at::kDouble));
  for (const char* level : {"level1", "level2"}) {
    ladder.parameters()[format("{}.posterior.weights", level)].mul_(0.05);
    ladder.parameters()[format("{}.posterior.bias", level)].fill_(0.1);
  }
  return {{.family = "ladder"}, ladder};
}

at::Tensor ladder_log_p(const Ladder& ladder, const at::Tensor& rows) {
  const support::Grid nodes = support::grid(2);
  const at::Tensor log_p =
      ladder.log_likelihood(ladder.parameters(), rows, nodes.points.unsqueeze(0).expand({rows.size(0), -1, -1}));
  return at::logsumexp(log_p + support::log_standard_normal(nodes.points), 1) + nodes.log_volume;
}

// From either base: the mean of all rows within 5.5 of its standard errors, which are known to first order (false
// alarms 1e-6); these are small, and no single row is far off.
TEST(LatentFamilies, AreAnnealedToTheIntegralOverTheirLatents) {
  const VaeModel vae = deep_vae();
  const LadderModel ladder = two_level_ladder();
  const at::Tensor rows = support::all_rows(4);
  const std::vector<std::pair<const Model*, at::Tensor>> cases = {
      {&vae, support::deep_quadrature_log_p(vae.vae(), rows)}, {&ladder, ladder_log_p(ladder.ladder(), rows)}};
  for (const auto& [model, log_p] : cases)
    for (const char* base : {"encoder", "prior"}) {
      SCOPED_TRACE(model->title() + " from the " + base);
      EXPECT_NEAR(log_p.exp().sum().item<double>(), 1, 1e-9);
      const Evaluation found =
          judged(*model, {.method = "ais", .chains = 40, .betas = 100, .base = base, .importance = 50});
      ASSERT_TRUE(found.of_rows.defined());
      expect_close(found.of_rows, log_p, 0.1);
      const double error = (found.log_likelihood->high - found.log_likelihood->low) / (2 * 1.96);
      EXPECT_LT(error, 0.05);
      EXPECT_NEAR(found.log_likelihood->value, log_p.mean().item<double>(), support::allowed_deviations * error);
      EXPECT_EQ(found.log_likelihood->kind, EstimateKind::lower_bound);
      EXPECT_EQ(found.log_likelihood->method, std::string("ais from the ") + base);
      EXPECT_EQ(found.log_likelihood->chains, 40);
      EXPECT_EQ(found.log_likelihood->betas, 100);
      expect_mentions(found.verdict, {"rows of the model's own annealing misses at most", "50 draws"});
    }
}

// An encoder that says the opposite of what it has learnt: importance sampling knows little, annealing does not mind.
TEST(LatentFamilies, SayInWordsThatAnEncoderIsPoor) {
  Vae vae = support::small_vae(1);
  vae.parameters()["encoder.layer2.bias"].copy_(at::tensor({4.0, -3.0}, at::kDouble));
  const at::Tensor log_p = support::quadrature_log_p(vae, support::all_rows(4));
  const VaeModel model({.family = "vae"}, vae.to(at::kFloat));
  const Evaluation annealed =
      judged(model, {.method = "ais", .chains = 20, .betas = 200, .base = "prior", .importance = 10});
  const Evaluation drawn = judged(model, {.importance = 10});
  EXPECT_LT(drawn.log_likelihood->value, log_p.mean().item<double>() - 0.5);
  EXPECT_NEAR(annealed.log_likelihood->value, log_p.mean().item<double>(), 0.05);
  expect_mentions(annealed.verdict, {"nats less", "that bound says too little"});
}

TEST(LatentFamilies, AnnealSomeRowsAndSayWhich) {
  const VaeModel model = deep_vae();
  const EstimationOptions options{.method = "ais", .chains = 4, .betas = 20, .raise_rows = 5, .importance = 20};
  const Evaluation found = judged(model, options);
  EXPECT_EQ(found.n, 5);
  EXPECT_FALSE(found.of_rows.defined());
  EXPECT_EQ(found.log_likelihood->method, "ais from the encoder, 5 of 16 rows");
  expect_mentions(found.verdict, {"all 16 rows", "these 5"});
  EXPECT_TRUE(is_about_some_of(found, 16));
  EXPECT_FALSE(is_about_some_of(found, 17));
  EXPECT_TRUE(model.density()->same_way(found, options));
  EstimationOptions other = options;
  for (auto* change : {+[](EstimationOptions& o) { o.betas = 21; }, +[](EstimationOptions& o) { o.chains = 5; },
                       +[](EstimationOptions& o) { o.base = "prior"; }, +[](EstimationOptions& o) { o.raise_rows = 6; },
                       +[](EstimationOptions& o) { o.method = "auto"; }}) {
    other = options;
    change(other);
    EXPECT_FALSE(model.density()->same_way(found, other));
  }
  const VaeModel single({.family = "vae"}, model.vae().to(at::kFloat));
  EXPECT_FALSE(model.density()->same_way(judged(single, {.importance = 20}), options));
}

TEST(LatentFamilies, GoOnWithAnnealingThatWasStopped) {
  class Kept final : public Journal {
   public:
    std::map<std::string, NamedTensors> kept;
    [[nodiscard]] std::optional<NamedTensors> find(const std::string& name) override {
      const auto found = kept.find(name);
      return found == kept.end() ? std::nullopt : std::optional(found->second);
    }
    void keep(const std::string& name, const NamedTensors& tensors) override { kept[name] = tensors; }
    [[nodiscard]] bool due() override { return true; }
  } journal;
  class Counting final : public Watcher {
   public:
    int left = -1, steps = 0;
    [[nodiscard]] Progress begin(const std::string&) override {
      return [this](std::int64_t, std::int64_t) {
        ++steps;
        if (left-- == 0) throw RunFailure("stopped");
      };
    }
    void say(const std::string&) override {}
  };
  const VaeModel model = deep_vae();
  const TestData test = sixteen_rows(model);
  const EstimationOptions options{.method = "ais", .chains = 3, .betas = 10, .importance = 20};
  Counting whole, first, second;
  const Evaluation once = model.density()->judge({&test}, options, whole, nullptr).front();
  EXPECT_EQ(whole.steps, 30) << "own rows upwards and downwards, and the data";
  first.left = 24;
  EXPECT_THROW((void)model.density()->judge({&test}, options, first, &journal), RunFailure);
  const Evaluation again = model.density()->judge({&test}, options, second, &journal).front();
  EXPECT_EQ(first.steps + second.steps, 30) << "nothing was done twice";
  EXPECT_TRUE(at::equal(again.of_rows, once.of_rows));
  EXPECT_EQ(again.verdict, once.verdict);
}

TEST(LatentFamilies, RefuseWhatDoesNotGoWithTheirAnnealing) {
  const VaeModel model = deep_vae();
  const auto refusal = [&](const EstimationOptions& options) {
    return message_of([&] { model.density()->check(options); });
  };
  EXPECT_EQ(refusal({.method = "ais"}), "");
  expect_mentions(refusal({.method = "exact"}), {"method exact", "importance", "ais"});
  expect_mentions(refusal({.method = "ais", .chains = 1}), {"chains 1", "2"});
  expect_mentions(refusal({.method = "ais", .raise_rows = 1}), {"rows 1"});
  expect_mentions(refusal({.method = "ais", .schedule = "adaptive"}), {"schedule adaptive"});
  expect_mentions(refusal({.method = "ais", .base = "uniform"}), {"base uniform", "encoder", "prior"});
}

RunData binary_rows() {
  const auto rows = [](std::uint64_t seed) {
    return Dataset{.name = "rows",
                   .values = uniform(Key(seed), {40, 12}, at::kFloat).gt(0.5).to(at::kByte),
                   .image = ImageShape{3, 4}};
  };
  return {.train = rows(1), .valid = rows(2)};
}

RunConfig configured(const std::string& family, const std::map<std::string, std::string>& texts, RunData& data) {
  RunConfig config = usual_config(family);
  config.data = "rows";
  config.valid = "others";
  config.updates = 5;
  RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
    if (!texts.contains(name)) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
      field = texts.at(name);
    else
      field = static_cast<std::decay_t<decltype(field)>>(std::stod(texts.at(name)));
  });
  resolve(config, data);
  return config;
}

TEST(LatentFamilies, ComeBackFromFilesWithAllTheirLayers) {
  const std::vector<std::pair<std::string, std::map<std::string, std::string>>> ways = {
      {"vae", {{"latent", "4,3,2"}, {"layers", "6,5/none/3"}}},
      {"ladder", {{"latent", "4,3,2"}, {"channels", "5"}, {"blocks", "2"}}},
      {"ladder", {{"latent", "2,1"}, {"net", "conv"}, {"channels", "4"}, {"scales", "0,1"}}}};
  for (const auto& [family, texts] : ways) {
    SCOPED_TRACE(family);
    RunData data = binary_rows();
    const RunConfig config = configured(family, texts, data);
    const std::unique_ptr<Model> model = find_family(family).make(config, data, {});
    const std::string bytes = model->encode_file();
    const std::unique_ptr<Model> back = decode_model(bytes, "a file");
    EXPECT_EQ(back->encode_file(), bytes);
    EXPECT_EQ(back->subtitle(), model->subtitle());
    for (std::size_t length = 0; length < bytes.size(); length += 211)
      EXPECT_THROW((void)decode_model(bytes.substr(0, length), "a cut file"), Error) << length;
    const at::Tensor rows = data.valid.to_float();
    const std::vector<std::string> names = model->encoder()->code_layers();
    ASSERT_EQ(names.size(), texts.at("latent") == "2,1" ? 2U : 3U);
    EXPECT_EQ(names[1], "latent2");
    for (std::size_t level = 0; level < names.size(); ++level)
      expect_close(back->encoder()->encode(rows, level), model->encoder()->encode(rows, level), 0);
    EXPECT_EQ(back->encoder()->reconstruct(rows).sizes(), rows.sizes());
  }
  // Widths as asked for: a picture of 3 × 4 padded to 4 × 4 and halved once has four places.
  RunData data = binary_rows();
  const auto model_of = [&](const auto& way) {
    return find_family(way.first).make(configured(way.first, way.second, data), data, {});
  };
  const std::unique_ptr<Model> vae = model_of(ways[0]), pictures = model_of(ways[2]);
  const at::Tensor rows = data.valid.to_float();
  EXPECT_EQ(vae->encoder()->encode(rows, 0).size(1), 4);
  EXPECT_EQ(vae->encoder()->encode(rows, 2).size(1), 2);
  EXPECT_EQ(pictures->encoder()->encode(rows, 0).size(1), 2 * 16);
  EXPECT_EQ(pictures->encoder()->encode(rows, 1).size(1), 4);
}

// What version 0.1 wrote, and reads.
TEST(LatentFamilies, WriteAVaeOfOneLayerAsTheyAlwaysDid) {
  RunData data = binary_rows();
  const std::unique_ptr<Model> model =
      find_family("vae").make(configured("vae", {{"latent", "3"}, {"layers", "6,5"}}, data), data, {});
  const ModelHeader header = get_header(parse_safetensors(model->encode_file(), "a file"), "a file");
  EXPECT_EQ(header.structure.dump(),
            R"({"vae":{"activation":"tanh","hidden":[6,5],"latent":3,"visible":"bernoulli:12"}})");
  EXPECT_EQ(model->encoder()->code_layers(), std::vector<std::string>{"latent"});
}

TEST(LatentFamilies, SayWhichOptionsDoNotGoTogether) {
  RunData data = binary_rows();
  const auto refusal = [&](const std::string& family, const std::map<std::string, std::string>& texts) {
    return message_of([&] { (void)configured(family, texts, data); });
  };
  expect_mentions(refusal("vae", {{"latent", "3,x"}}), {"latent 3,x", "100,50"});
  expect_mentions(refusal("vae", {{"latent", "none"}}), {"latent none"});
  expect_mentions(refusal("vae", {{"latent", "3"}, {"layers", "5/4"}}), {"layers 5/4", "latent 3", "2", "1"});
  expect_mentions(refusal("vae", {{"latent", "3,2"}, {"layers", "5/"}}), {"layers"});
  expect_mentions(refusal("vae", {{"objective", "iwae:3"}, {"free_nats", "1"}}), {"free_nats", "iwae:3"});
  expect_mentions(refusal("vae", {{"objective", "iwae:3"}, {"warm_up", "10"}}), {"warm_up", "iwae:3"});
  expect_mentions(refusal("vae", {{"free_nats", "-1"}}), {"free_nats", "-1"});
  expect_mentions(refusal("ladder", {{"net", "deep"}}), {"net deep", "dense", "conv"});
  expect_mentions(refusal("ladder", {{"scales", "0,1"}}), {"scales 0,1", "net conv"});
  expect_mentions(refusal("ladder", {{"net", "conv"}, {"latent", "2"}, {"scales", "0,1"}}), {"scales 0,1", "latent 2"});
  expect_mentions(refusal("ladder", {{"net", "conv"}, {"scales", "1,0"}}), {"smaller from the data up"});
  expect_mentions(refusal("ladder", {{"net", "conv"}, {"scales", "0,x"}}), {"scales 0,x"});
  expect_mentions(refusal("ladder", {{"kernel", "4"}}), {"kernel 4", "odd"});
  expect_mentions(refusal("ladder", {{"channels", "-1"}}), {"channels -1"});
  expect_mentions(refusal("ladder", {{"blocks", "0"}}), {"blocks 0"});
  expect_mentions(refusal("ladder", {{"dropout", "1"}}), {"dropout"});
  data.train.image.reset();
  expect_mentions(refusal("ladder", {{"net", "conv"}}), {"pictures", "shape"});
}

}  // namespace
}  // namespace harmonium
