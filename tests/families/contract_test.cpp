// What every family of the table promises, whatever it is: a new one is tested by being listed.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

constexpr std::int64_t pixels = 8;

// Rows of two classes: the left half lit, or the right half, with a little noise. As pictures, two rows of four pixels.
Dataset halves(std::int64_t rows, std::uint64_t seed) {
  at::Tensor values = at::zeros({rows, pixels}, at::kByte), labels = at::zeros({rows}, at::kLong);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::uint64_t bits = Key(seed).fold_in(static_cast<std::uint64_t>(row)).bits();
    const std::int64_t label = static_cast<std::int64_t>(bits & 1U);
    labels[row] = label;
    for (std::int64_t i = 0; i < pixels; ++i) {
      const bool noise = ((bits >> (8 + 5 * i)) & 31U) == 0;
      values[row][i] = static_cast<int>(((i >= pixels / 2) == (label == 1)) != noise);
    }
  }
  return {.name = "halves", .values = values, .labels = labels, .image = ImageShape{2, pixels / 2}};
}

// The same with Gaussian noise on every pixel, for families of real values.
Dataset noisy_halves(std::int64_t rows, std::uint64_t seed) {
  Dataset data = halves(rows, seed);
  data.values = data.to_float() + 0.2 * normal(Key(seed), data.values.sizes());
  return data;
}

RunData small_data(bool real = false) {
  if (real) return {.train = noisy_halves(60, 1), .valid = noisy_halves(30, 2)};
  return {.train = halves(60, 1), .valid = halves(30, 2)};
}

RunConfig small_config(const std::string& name, RunData& data) {
  RunConfig config = usual_config(name);
  const Family& family = find_family(name);
  config.data = "halves";
  config.valid = "others";
  if (family.has("hidden")) config.hidden = "5";
  if (family.has("layers")) config.layers = "5,4";
  const bool convolves = name != "vae";  // whose convolutions have to be asked for
  RunConfig::visit(config, [&](const char* option, auto& field, const char*) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
      if (std::string_view(option) == "latent") field = "6";
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::int64_t>) {
      if (std::string_view(option) == "channels" && convolves) field = 8;
      if (std::string_view(option) == "blocks" && convolves) field = 2;
      if (std::string_view(option) == "steps") field = 3;
      if (std::string_view(option) == "hidden") field = 16;
    }
  });
  config.updates = 40;
  config.batch = 10;
  config.averaging = 5;
  config.seed = 3;
  resolve(config, data);
  return config;
}

// The model before its first update, with its stages trained in memory.
std::unique_ptr<Model> begun(const RunConfig& config, const RunData& data) {
  const Family& family = find_family(config.model);
  const std::optional<Stages> stages = family.stages == nullptr ? std::nullopt : family.stages(config, data);
  StageModels models;
  if (stages) {
    RunData seen = stages->data;
    for (std::size_t i = 0; i < stages->count; ++i) {
      const RunConfig one = stages->config(i);
      const auto trainee = find_family(one.model).train(one, seen, *begun(one, seen));
      while (!trainee->training().finished()) trainee->training().step();
      models.push_back(trainee->kept()->clone());
      if (i + 1 < stages->count) seen = stages->encode(*models.back(), seen);
    }
  }
  return family.make(config, data, models);
}

std::unique_ptr<Model> trained(const RunConfig& config, const RunData& data) {
  std::unique_ptr<Model> start = begun(config, data);
  const auto trainee = find_family(config.model).train(config, data, *start);
  if (trainee == nullptr) return start;  // stages are all there is
  while (!trainee->training().finished()) trainee->training().step();
  return trainee->kept();
}

class EveryFamily : public ::testing::TestWithParam<std::string> {
 protected:
  RunData data_ = small_data(find_family(GetParam()).real_values);
  RunConfig config_ = small_config(GetParam(), data_);
};

TEST_P(EveryFamily, HasANameATitleAHelpAndAnExampleThatNamesIt) {
  const Family& family = find_family(GetParam());
  EXPECT_FALSE(family.title.empty() || family.help.empty());
  EXPECT_NE(family.example.find("harmonium train"), std::string::npos);
  EXPECT_NE(family.example.find("--model " + family.name), std::string::npos);
  for (const std::string& option : family.options) {
    bool known = false;
    RunConfig::visit(config_, [&](const char* name, auto&, const char*) { known = known || option == name; });
    EXPECT_TRUE(known) << option << " is no option of a configuration";
  }
}

TEST_P(EveryFamily, ResolvesAConfigurationOnceAndForAll) {
  RunConfig again = config_;
  RunData data = data_;
  resolve(again, data);
  const auto text = [](const RunConfig& config) {
    std::string all;
    RunConfig::visit(config,
                     [&](const char* name, const auto& field, const char*) { all += format("{}={}\n", name, field); });
    return all;
  };
  EXPECT_EQ(text(again), text(config_));
  check_config(config_, data_);
}

TEST_P(EveryFamily, ComesBackFromItsFileAsItWas) {
  const std::unique_ptr<Model> model = trained(config_, data_);
  EXPECT_EQ(model->info().family, GetParam());
  const std::string bytes = model->encode_file();
  const std::unique_ptr<Model> back = decode_model(bytes, "a file");
  EXPECT_EQ(back->encode_file(), bytes);
  EXPECT_EQ(back->info().family, model->info().family);
  EXPECT_EQ(back->info().notes, model->info().notes);
  EXPECT_EQ(back->title(), model->title());
  const Moments before = model->parameters(), after = back->parameters();
  ASSERT_EQ(before.entries().size(), after.entries().size());
  for (const auto& [name, value] : before.entries()) EXPECT_TRUE(at::equal(value, after[name])) << name;
  // Cut short anywhere, it is an error and nothing else.
  for (std::size_t length = 0; length < bytes.size(); length += 97)
    EXPECT_THROW((void)decode_model(bytes.substr(0, length), "a cut file"), Error) << length;
}

TEST_P(EveryFamily, GoesOnFromItsStateBitForBit) {
  const std::unique_ptr<Model> start = begun(config_, data_);
  const Family& family = find_family(GetParam());
  const auto whole = family.train(config_, data_, *start);
  if (whole == nullptr) GTEST_SKIP() << "trained by stages alone, which are other families";
  const auto first = family.train(config_, data_, *start->clone());
  std::map<int, std::map<std::string, double>> lines;  // of metrics
  for (int update = 0; update < 40; ++update) {
    if (update % 10 == 0) lines[update] = whole->measure();
    whole->training().step();
  }
  for (int update = 0; update < 17; ++update) {
    if (update % 10 == 0) (void)first->measure();
    first->training().step();
  }
  NamedTensors saved;
  for (const auto& [name, value] : first->training().state()) saved.emplace_back(name, value.clone());
  const auto second = family.train(config_, data_, *begun(config_, data_));
  second->training().restore(17, saved);
  for (int update = 17; update < 40; ++update) {
    if (update % 10 == 0) {
      EXPECT_EQ(second->measure(), lines[update]) << update;
    }
    second->training().step();
  }
  EXPECT_EQ(second->kept()->encode_file(), whole->kept()->encode_file());
  EXPECT_EQ(second->measure(), whole->measure());
}

// Objectives with running means, optimal baselines, relaxed draws.
TEST(LatentFamilies, GoOnBitForBitWhateverIsClimbed) {
  const std::vector<std::map<std::string, std::string>> ways = {
      {{"model", "sbn"}, {"objective", "elbo:1"}, {"baseline", "optimal"}, {"normalize", "yes"}, {"layers", "none"}},
      {{"model", "sbn"}, {"objective", "nvil"}},
      {{"model", "sbn"}, {"objective", "concrete:2"}},
      {{"model", "sbn"}, {"objective", "rws:3"}, {"layer", "nade"}, {"layer_hidden", "5"}},
      {{"model", "sbn"}, {"objective", "vimco:3"}, {"layer", "autoregressive"}, {"prior", "rbm:3"}},
      {{"model", "vae"}, {"objective", "iwae:3"}},
      {{"model", "draw"}, {"objective", "iwae:3"}, {"read", "2"}, {"write", "3"}},
      {{"model", "vae"}, {"latent", "4,3"}, {"layers", "5/4,4"}, {"free_nats", "0.5"}, {"warm_up", "20"}},
      {{"model", "vae"}, {"latent", "4,3,2"}, {"objective", "iwae:3"}},
      {{"model", "vae"}, {"net", "conv"}, {"layers", "none"}, {"channels", "4"}},
      {{"model", "vae"},
       {"net", "conv"},
       {"latent", "4,2"},
       {"layers", "3"},
       {"channels", "4"},
       {"objective", "iwae:3"}},
      {{"model", "vae"}, {"visible", "gaussian"}, {"binarize", "levels"}, {"components", "2"}},
      {{"model", "ladder"}, {"latent", "4,3"}, {"free_nats", "0.5"}, {"warm_up", "20"}, {"dropout", "0.2"}},
      {{"model", "ladder"}, {"latent", "2,1"}, {"net", "conv"}, {"scales", "0,1"}, {"objective", "iwae:3"}}};
  for (const auto& way : ways) {
    SCOPED_TRACE(way.at("model") + (way.contains("objective") ? " " + way.at("objective") : ""));
    RunData data = small_data(false);
    RunConfig config = small_config(way.at("model"), data);
    RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
        if (way.contains(name)) field = way.at(name);
      if constexpr (std::is_arithmetic_v<std::decay_t<decltype(field)>>)
        if (way.contains(name)) field = static_cast<std::decay_t<decltype(field)>>(std::stod(way.at(name)));
    });
    resolve(config, data);
    const Family& family = find_family(config.model);
    const auto fresh = [&] { return family.train(config, data, *begun(config, data)); };
    const auto whole = fresh(), first = fresh(), second = fresh();
    for (int update = 0; update < 30; ++update) whole->training().step();
    for (int update = 0; update < 13; ++update) first->training().step();
    NamedTensors saved;
    for (const auto& [name, value] : first->training().state()) saved.emplace_back(name, value.clone());
    second->training().restore(13, saved);
    for (int update = 13; update < 30; ++update) second->training().step();
    EXPECT_EQ(second->kept()->encode_file(), whole->kept()->encode_file());
  }
}

// A family that has no complaint about a model begins from it, and one that has says so before anything is made.
TEST_P(EveryFamily, BeginsFamiliesThatAcceptIt) {
  const std::unique_ptr<Model> source = trained(config_, data_);
  const std::string path = ::testing::TempDir() + "begins_" + GetParam() + ".safetensors";
  write_file_atomically(path, source->encode_file());
  for (const Family& family : families()) {
    if (!family.begin_from) continue;
    SCOPED_TRACE(family.name);
    EXPECT_TRUE(family.has("start"));
    EXPECT_FALSE(family.begin_from->help.empty());
    RunConfig config = usual_config(family.name);
    config.data = "halves";
    config.start = path;
    config.updates = 3;
    config.batch = 10;
    config.keep = "last";
    RunData data = small_data();
    const auto begin = [&] {
      family.begin_from->configure(config, *source, nullptr);
      resolve(config, data);
      return family.train(config, data, *family.make(config, data, {}));
    };
    const std::string complaint = family.begin_from->complaint(*source, path);
    if (!complaint.empty()) {
      EXPECT_NE(complaint.find(path), std::string::npos) << complaint;
      EXPECT_THROW((void)begin(), Error);
      continue;
    }
    const auto trainee = begin();
    ASSERT_NE(trainee, nullptr);
    trainee->training().step();
    EXPECT_EQ(trainee->current()->info().family, family.name);
  }
}

TEST_P(EveryFamily, DrawsRowsThatItsUnitsCanHave) {
  const std::unique_ptr<Model> model = trained(config_, data_);
  const Generator* generator = model->generator();
  if (generator == nullptr) GTEST_SKIP() << "draws nothing";
  for (const bool means : {false, true}) {
    Generator::Request request{.count = 20, .sweeps = 10, .means = means, .seed = 4};
    const at::Tensor rows = generator->draw(request);
    ASSERT_EQ(rows.sizes(), (std::vector<std::int64_t>{20, pixels}));
    EXPECT_EQ(model->visible().complaint(rows), "");
    EXPECT_TRUE(at::equal(generator->draw(request), rows)) << "the same seed draws the same";
    request.seed = 5;
    EXPECT_FALSE(at::equal(generator->draw(request), rows)) << "another seed draws others";
  }
}

class Quiet final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

bool has_a_density(const Model& model) { return model.visible().support() == Unit::Support::reals; }

// The integral of a density, by importance sampling from a Student-t distribution (four degrees of freedom) with the
// mean and covariance of the model's own draws, whose tails hold theirs.
TEST_P(EveryFamily, HasADensityThatIntegratesToOne) {
  const std::unique_ptr<Model> model = trained(config_, data_);
  if (model->density() == nullptr || !has_a_density(*model)) GTEST_SKIP() << "no model of real values";
  constexpr std::int64_t n = 20'000;
  constexpr double freedom = 4;
  const at::Tensor own = model->generator()->draw({.count = 1000, .sweeps = 100, .seed = 6}).to(at::kDouble);
  const at::Tensor mean = own.mean(0), d = own - mean, L = at::linalg_cholesky(d.t().matmul(d) / 1000);
  const at::Tensor z = normal(Key(7), {n, pixels}, at::kDouble);
  const at::Tensor scale = (normal(Key(8), {n, 4}, at::kDouble).square().sum(1, true) / freedom).rsqrt();
  const at::Tensor rows = (mean + (z * scale).matmul(L.t())).to(at::kFloat);
  const at::Tensor y = at::linalg_solve_triangular(L, (rows.to(at::kDouble) - mean).t(), /*upper=*/false);
  const double tail = (freedom + pixels) / 2;
  const at::Tensor log_q = std::lgamma(tail) - std::lgamma(freedom / 2) - 0.5 * pixels * std::log(freedom * M_PI) -
                           L.diagonal().log().sum() - tail * at::log1p(y.square().sum(0) / freedom);
  const TestData test = make_test_data("rows", {.name = "rows", .values = rows}, {}, model->visible());
  Quiet watcher;
  const Evaluation found = model->density()->judge({&test}, {}, watcher, nullptr).front();
  const at::Tensor ratio = (found.of_rows - log_q).exp();
  const double error = ratio.std().item<double>() / std::sqrt(double{n});
  EXPECT_LT(error, 0.1) << "draws from elsewhere";
  // Four standard errors, and what the estimate of log Z may be off by: false alarms less than 10⁻⁴.
  const double uncertain = found.log_z ? found.log_z->high - found.log_z->low : 0;
  EXPECT_NEAR(ratio.mean().item<double>(), 1, 4 * error + uncertain);
}

// Every row of eight pixels, with every label where the model is one of rows and labels.
TEST_P(EveryFamily, HasProbabilitiesThatAddUpToOneOrLess) {
  const std::unique_ptr<Model> model = trained(config_, data_);
  const Density* density = model->density();
  if (density == nullptr || has_a_density(*model)) GTEST_SKIP() << "has no probabilities";
  const bool joint = model->machine() != nullptr && model->classifier() != nullptr;
  EstimationOptions options;
  options.importance = 200;
  Quiet watcher;
  double sum = 0, widest = 0;
  bool exact = true;
  for (int number = 0; number < 1 << pixels; ++number)
    for (std::int64_t label = 0; label < (joint ? 2 : 1); ++label) {
      at::Tensor values = at::zeros({1, pixels}, at::kByte);
      for (std::int64_t i = 0; i < pixels; ++i) values[0][i] = (number >> i) & 1;
      const TestData test =
          make_test_data("a row", {.name = "a row", .values = values, .labels = at::full({1}, label, at::kLong)}, {},
                         model->visible());
      const Evaluation found = density->judge({&test}, options, watcher, nullptr).front();
      const Estimate& value = found.log_likelihood.value();
      EXPECT_LE(value.low, value.high);
      exact = exact && value.kind == EstimateKind::exact;
      widest = std::max(widest, value.high - value.low);
      sum += std::exp(value.value);
    }
  if (exact) {
    EXPECT_NEAR(sum, 1, 1e-4);
  } else {  // bounds from below: noise of single rows averages out over all of them
    EXPECT_TRUE(sum > 0.5 && sum < 1 + widest) << sum << " with intervals of up to " << widest;
  }
}

TEST_P(EveryFamily, LearnsWhatItIsShown) {
  const std::unique_ptr<Model> start = begun(config_, data_);
  RunConfig longer = config_;
  longer.updates = 2000;
  const std::unique_ptr<Model> end = trained(longer, data_);
  Quiet watcher;
  if (end->density() != nullptr && find_family(GetParam()).stages == nullptr) {
    const TestData test = make_test_data("rows", data_.train, {}, end->visible());
    EstimationOptions options;
    options.importance = 100;
    const auto of = [&](const Model& model) {
      return model.density()->judge({&test}, options, watcher, nullptr).front().log_likelihood->value;
    };
    EXPECT_GT(of(*end), of(*start) + 0.3);
  }
  if (end->classifier() != nullptr) {
    const at::Tensor guess = end->classifier()->log_probabilities(data_.valid.to_float()).argmax(1);
    EXPECT_GT(guess.eq(data_.valid.labels).to(at::kDouble).mean().item<double>(), 0.9);
  }
  if (end->encoder() != nullptr) {
    const at::Tensor rows = data_.valid.to_float();
    for (std::size_t layer = 0; layer < end->encoder()->code_layers().size(); ++layer)
      EXPECT_EQ(end->encoder()->encode(rows, layer).size(0), rows.size(0)) << layer;
    // Where visible units are joined to each other, hidden ones need not remember the row.
    const bool joined = end->machine() != nullptr && end->machine()->machine.inner_edge(0) != nullptr;
    if (end->encoder()->reconstructs() && !joined) {
      EXPECT_LT((end->encoder()->reconstruct(rows) - rows).square().sum(1).mean().item<double>(), 2.0)
          << "the mean row would miss by 2";
    }
  }
}

// Groups are told apart by what is also the first of the codes, not rounded to float32 shares.
TEST_P(EveryFamily, SortsRowsByItsFirstCodeWhereItSortsThem) {
  const std::unique_ptr<Model> model = trained(config_, data_);
  if (model->clusters() == nullptr) GTEST_SKIP() << "no clusters";
  const at::Tensor rows = data_.valid.to_float(), found = model->clusters()->log_weights(rows);
  EXPECT_EQ(found.scalar_type(), at::kDouble);
  EXPECT_EQ(found.size(1), model->clusters()->groups());
  EXPECT_TRUE(at::allclose(at::softmax(found, 1), model->encoder()->encode(rows, 0).to(at::kDouble), 1e-4, 1e-5));
  EXPECT_FALSE(model->clusters()->group_name().empty());
}

TEST_P(EveryFamily, ShowsPicturesOfItself) {
  const std::unique_ptr<Model> model = trained(config_, data_);
  const NamedTensors nothing;
  for (const Exhibit& each : model->exhibits({.checkpoint = nothing, .train = data_.train})) {
    EXPECT_FALSE(each.id.empty() || each.title.empty() || each.caption.empty());
    EXPECT_EQ(each.rows.dim(), 2) << each.id;
    EXPECT_TRUE(at::isfinite(each.rows).all().item<bool>()) << each.id;
    if (each.id != "nats") continue;  // of each pixel: together they are the log-likelihood
    const TestData test = make_test_data("rows", data_.train, {}, model->visible());
    Quiet watcher;
    const double found = -model->density()->judge({&test}, {}, watcher, nullptr).front().log_likelihood->value;
    EXPECT_NE(each.caption.find(format("all together {:.1f}.", found)), std::string::npos) << each.caption;
  }
  EXPECT_FALSE(model->subtitle().empty() || model->layers().empty());
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Family& each : families()) names.push_back(each.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Families, EveryFamily, ::testing::ValuesIn(all_names()),
                         [](const auto& each) { return each.param; });

TEST(Families, AreFoundByNameAndTheOthersAreNamed) {
  EXPECT_EQ(find_family("rbm").name, "rbm");
  try {
    (void)find_family("rmb");
    ADD_FAILURE();
  } catch (const Error& error) {
    for (const Family& each : families()) EXPECT_NE(std::string(error.what()).find(each.name), std::string::npos);
  }
  EXPECT_EQ(families_with("latent"), "vae, ladder, sbn, draw, vrnn");
  EXPECT_EQ(families_with("no_such_option"), "");
}

}  // namespace
}  // namespace harmonium
