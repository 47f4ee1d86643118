// Noise of one stored step between whole numbers: the density that is learnt and judged bounds the log-probability of
// the stored values, training draws afresh, judging draws by a seed, and nothing else is dequantized.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "harmonium/data/binarize.h"
#include "harmonium/data/standardize.h"
#include "harmonium/data/whitening.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/real_values.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/report/protocols.h"
#include "harmonium/training/batch_stream.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// Two columns of whole numbers 0 … 5, correlated, of which one step is `scale`.
Dataset levels(std::int64_t rows, std::uint64_t seed, double scale = 0.2) {
  const at::Tensor x = normal(Key(seed), {rows, 2}), shared = normal(Key(seed).fold_in(1), {rows, 1});
  return {.name = "levels",
          .values = (2.5 + 0.8 * x + shared).round().clamp(0, 5).to(at::kByte),
          .scale = scale,
          .divided_by = 1 / scale};
}

RunData levels_data() { return {.train = levels(200, 1), .valid = levels(50, 2)}; }

RunConfig noisy_config(const std::string& model, RunData& data, const std::string& scale = "auto") {
  RunConfig config = usual_config(model);
  config.data = "levels";
  config.valid = "others";
  config.visible = "gaussian";
  config.hidden = "3";
  config.binarize = "dequantized";
  config.scale = scale;
  config.keep = "last";
  config.updates = 40;
  config.batch = 50;
  config.seed = 4;
  resolve(config, data);
  return config;
}

std::unique_ptr<Model> noisily_trained(const std::string& model, const std::string& scale = "auto") {
  RunData data = levels_data();
  const RunConfig config = noisy_config(model, data, scale);
  const Family& family = find_family(model);
  const auto trainee = family.train(config, data, *family.make(config, data, {}));
  while (!trainee->training().finished()) trainee->training().step();
  return trainee->kept();
}

class NoWatch final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

Evaluation judged(const Model& model, const Dataset& data, int draws, const std::string& binarize = "auto") {
  NoWatch watcher;
  EstimationOptions options;
  options.method = model.info().family == "mpot" ? "ais" : "auto";  // all others are exact
  options.chains = 20;
  options.betas = 50;
  const TestData test = make_test_data(
      "levels", data, {.binarize = protocol_for(binarize, model.info()), .draws = draws, .seed = 7}, model.visible());
  return model.density()->judge({&test}, options, watcher, nullptr).at(0);
}

// Midpoints of `fine` × `fine` pieces of the cells of the whole numbers from −reach to 6 + reach, in the units of the
// data, and log p there: cells × pieces.
struct Grid {
  at::Tensor cells;  // lower corners, as whole numbers
  at::Tensor log_p;
};

Grid grid_of(const BoltzmannMachine& machine, double scale, std::int64_t reach, std::int64_t fine) {
  const at::Tensor axis = at::arange(-reach, 6 + reach, at::kDouble);
  const at::Tensor cells = at::cartesian_prod({axis, axis});
  const at::Tensor inside = (at::arange(fine, at::kDouble) + 0.5) / static_cast<double>(fine);
  const at::Tensor pieces = at::cartesian_prod({inside, inside});
  const at::Tensor points = scale * (cells.unsqueeze(1) + pieces.unsqueeze(0)).view({-1, 2});
  const BoltzmannMachine precise = machine.to(at::kDouble);
  const at::Tensor log_f = precise.log_sum_out(precise.observe({points}), precise.hidden());
  return {cells, (log_f - exact_log_z(precise).value).view({cells.size(0), -1})};
}

TEST(Dequantized, DensityIsABoundOnTheProbabilityOfTheStoredValues) {
  constexpr double scale = 0.2;
  for (const char* way : {"none", "standardize"}) {
    SCOPED_TRACE(way);
    const std::unique_ptr<Model> model = noisily_trained("rbm", way);
    const Grid grid = grid_of(model->machine()->machine, scale, 20, 16);
    const double area = scale * scale;
    const at::Tensor log_mean = at::logsumexp(grid.log_p, 1) - std::log(static_cast<double>(grid.log_p.size(1)));
    const at::Tensor log_probability = log_mean + std::log(area), bound = grid.log_p.mean(1) + std::log(area);
    EXPECT_NEAR(log_probability.exp().sum().item<double>(), 1, 1e-6) << "the cells cover everything";
    EXPECT_TRUE(bound.le(log_probability).all().item<bool>()) << "E log p over a cell is at most its log P";

    // What is judged is that bound, in units of the data, up to its draws: each is a mean of 50 rows, and 400 of them
    // stay within 4 standard errors but once in 15 000 times.
    const Dataset rows = levels(50, 9);
    const at::Tensor k = rows.values.to(at::kLong) + 20, place = k.select(1, 0) * 46 + k.select(1, 1);
    const double expected = bound.index_select(0, place).mean().item<double>(),
                 probability = log_probability.index_select(0, place).mean().item<double>();
    const Evaluation answer = judged(*model, rows, 400);
    const double found = answer.log_likelihood->value + std::log(area);
    EXPECT_NEAR(found, expected, 4 * *answer.draw_spread / 20 + 2e-3);
    EXPECT_LT(found, probability);
  }
}

TEST(Dequantized, AnswersNameTheNoiseAndItsSeedAndFormAColumnOfTheirOwn) {
  const std::unique_ptr<Model> model = noisily_trained("rbm");
  const Dataset rows = levels(30, 9);
  const Evaluation with = judged(*model, rows, 1), again = judged(*model, rows, 1),
                   without = judged(*model, rows, 1, "none");
  EXPECT_EQ(with.binarization, "dequantized (uniform noise of one stored step, seed 7)");
  EXPECT_EQ(protocol_of(with.binarization), "dequantized");
  EXPECT_EQ(without.binarization, "none");
  EXPECT_FALSE(same_question(with, without));
  EXPECT_EQ(with.log_likelihood->value, again.log_likelihood->value) << "one draw by the seed";
  EXPECT_NE(with.log_likelihood->value, without.log_likelihood->value);
}

// What a step of the stored values has become reaches the batches: taken back, every value lies in its own cell, and
// the places in the cells are uniform.
TEST(Dequantized, BatchesHaveFreshNoiseInTheCellsOfTheirRowsWhateverWasDoneToTheData) {
  const Dataset stored = levels(400, 1);
  const Standardization by = standardization_of(stored);
  const Whitening whitening = whitening_of(stored, "zca");
  using Undo = std::function<at::Tensor(const at::Tensor&)>;
  const std::vector<std::pair<Dataset, Undo>> ways = {
      {stored, [](const at::Tensor& x) { return x.to(at::kDouble); }},
      {standardized(stored, by), [&](const at::Tensor& x) { return x.to(at::kDouble) * by.deviation + by.mean; }},
      {whitened(stored, whitening), [&](const at::Tensor& x) { return whitening.undo(x); }}};
  for (const auto& [data, undo] : ways) {
    BatchStream stream(data, {.batch = 400, .binarization = Binarization::dequantized}, Key(3));
    std::vector<at::Tensor> places;
    for (std::int64_t update = 0; update < 2; ++update) {
      const at::Tensor k = stored.values.index_select(0, stream.rows_of(update)).to(at::kDouble);
      const at::Tensor u = undo(stream.batch(update)[0]) / stored.scale - k;
      EXPECT_GT(u.min().item<double>(), -1e-4);
      EXPECT_LT(u.max().item<double>(), 1 + 1e-4);
      // 800 uniform numbers: 5 standard errors, a false alarm in 1.7 million.
      EXPECT_NEAR(u.mean().item<double>(), 0.5, 5 * std::sqrt(1.0 / 12 / 800));
      EXPECT_NEAR(u.var().item<double>(), 1.0 / 12, 5 * std::sqrt(1.0 / 180 / 800));
      places.push_back(u.index_select(0, stream.rows_of(update).argsort()));
    }
    EXPECT_GT((places[0] - places[1]).abs().mean().item<double>(), 0.2) << "drawn afresh in the second epoch";
  }
}

class DequantizedFamily : public testing::TestWithParam<std::string> {};

TEST_P(DequantizedFamily, LearnsGoesOnBitForBitAndIsJudgedAsItWasTrained) {
  RunData data = levels_data();
  RunConfig config = usual_config(GetParam());
  config.data = "levels";
  config.valid = "others";
  if (find_family(GetParam()).has("hidden")) config.hidden = "3";
  if (GetParam() == "rbm") config.visible = "gaussian";
  if (find_family(GetParam()).standardizes) config.scale = "standardize";
  config.binarize = "dequantized";
  config.keep = "last";
  config.updates = 40;
  config.batch = 20;
  resolve(config, data);
  const Family& family = find_family(GetParam());
  const std::unique_ptr<Model> start = family.make(config, data, {});
  const auto whole = family.train(config, data, *start), first = family.train(config, data, *start->clone());
  for (int update = 0; update < 40; ++update) whole->training().step();
  for (int update = 0; update < 17; ++update) first->training().step();
  NamedTensors saved;
  for (const auto& [name, value] : first->training().state()) saved.emplace_back(name, value.clone());
  const auto second = family.train(config, data, *family.make(config, data, {}));
  second->training().restore(17, saved);
  for (int update = 17; update < 40; ++update) second->training().step();
  const std::string bytes = whole->kept()->encode_file();
  EXPECT_EQ(second->kept()->encode_file(), bytes);
  const std::unique_ptr<Model> model = decode_model(bytes, "a file");
  EXPECT_EQ(model->info().note("binarization"), "dequantized");
  const Evaluation answer = judged(*model, data.valid, 3);
  EXPECT_TRUE(std::isfinite(answer.log_likelihood->value));
  EXPECT_EQ(answer.draws, 3);
  EXPECT_GT(answer.draw_spread.value(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, DequantizedFamily,
                         testing::Values("rbm", "rnade", "factor_analyzers", "pot", "mpot", "covariance_rbm", "mcrbm",
                                         "ssrbm", "s3c"),
                         [](const auto& one) { return one.param; });

TEST(Dequantized, IsRefusedWhereItMeansNothing) {
  const auto message = [](const std::string& model, const Dataset& train, const std::string& visible) {
    return support::message_of([&] {
      RunData data{.train = train, .valid = {}};
      RunConfig config = usual_config(model);
      config.data = "levels";
      config.visible = visible;
      config.binarize = "dequantized";
      resolve(config, data);
    });
  };
  Dataset between = levels(20, 1);
  between.values = between.values.to(at::kFloat);
  EXPECT_EQ(message("rbm", between, "gaussian"), "") << "whole numbers stored as floats";
  between.values[3][1] = 2.5;
  support::expect_mentions(message("rbm", between, "gaussian"), {"row 3, column 1", "2.5", "whole number"});
  support::expect_mentions(message("rbm", levels(20, 1), "bernoulli"), {"dequantize", "gaussian", "bernoulli:2"});
  support::expect_mentions(message("nade", levels(20, 1), "auto"), {"dequantize", "nade", "rbm", "mcrbm", "rnade"});
  // Judged: neither values between the steps nor bits.
  const std::unique_ptr<Model> model = noisily_trained("pot");
  support::expect_mentions(support::message_of([&] { (void)judged(*model, between, 1); }), {"2.5", "whole number"});
  support::expect_mentions(support::message_of([&] {
                             (void)make_test_data("levels", levels(20, 1), {.binarize = "dequantized"},
                                                  *make_unit("bernoulli:2"));
                           }),
                           {"dequantize", "real values", "bernoulli:2"});
}

}  // namespace
}  // namespace harmonium
