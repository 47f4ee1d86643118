// The family s3c: what a run learns of a teacher, units of its densities, its codes, its limits and its ways of
// judging.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/families/s3c_model.h"
#include "tests/support/machines.h"
#include "tests/support/s3c.h"
#include "tests/support/sbn_runs.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::expect_mentions;
using support::message_of;

struct S3cRun {
  RunConfig config;
  RunData data;
};

S3cRun s3c_run(const at::Tensor& rows, const std::map<std::string, std::string>& given) {
  S3cRun run{.config = usual_config("s3c"),
             .data = {.train = {.name = "rows", .values = rows.to(at::kFloat)}, .valid = {}}};
  run.config.data = "rows";
  run.config.visible = "gaussian";
  RunConfig::visit(run.config, [&](const char* name, auto& field, const char*) {
    if (!given.contains(name)) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>)
      field = given.at(name);
    else
      field = static_cast<std::decay_t<decltype(field)>>(std::stod(given.at(name)));
  });
  resolve(run.config, run.data);
  return run;
}

std::unique_ptr<Model> begun(const S3cRun& run) { return find_family("s3c").make(run.config, run.data, {}); }

std::unique_ptr<Trainee> trained(const S3cRun& run) {
  auto trainee = find_family("s3c").train(run.config, run.data, *begun(run));
  while (!trainee->training().finished()) trainee->training().step();
  return trainee;
}

const S3cModel& as_s3c(const Model& model) { return dynamic_cast<const S3cModel&>(model); }

// Two units whose columns are nearly at right angles, one of them rare.
S3c teacher() {
  S3c model({.inputs = 3, .hidden = 2}, at::kDouble);
  Moments& theta = model.parameters();
  theta["visible.bias"].copy_(at::tensor({0.5, -1.0, 2.0}, at::kDouble));
  theta["visible.log_precision"].copy_(at::tensor({2.0, 1.5, 2.5}, at::kDouble));
  theta["weights"].copy_(at::tensor({1.0, 0.1, 0.2, 1.0, 0.0, -0.8}, at::kDouble).view({3, 2}));
  theta["spike.bias"].copy_(at::tensor({-1.0, 0.3}, at::kDouble));
  theta["slab.mean"].copy_(at::tensor({2.0, -1.0}, at::kDouble));
  theta["slab.log_precision"].copy_(at::tensor({0.7, -0.5}, at::kDouble));
  return model;
}

// KL(teacher ‖ learnt), estimated from rows that nobody has learnt from by exact densities of both. Its standard error
// is below 0.004 where it is below 0.02.
TEST(S3cFamily, LearnsATeacherFromItsDraws) {
  const S3c truth = teacher();
  const at::Tensor fresh = truth.sample(Key(2), 4000).rows;
  for (const char* whiten : {"none", "columns"}) {
    const S3cRun run =
        s3c_run(truth.sample(Key(1), 4000).rows,
                {{"hidden", "2"}, {"whiten", whiten}, {"updates", "1000"}, {"batch", "200"}, {"seed", "1"}});
    const std::unique_ptr<Model> learnt = trained(run)->kept();
    const S3cModel& model = as_s3c(*learnt);
    const auto divergence = [&](const S3cModel& of) {
      const at::Tensor log_p =
          of.model().enumerate(of.whitening().apply(fresh)).log_p + of.whitening().log_determinant();
      return (truth.enumerate(fresh).log_p - log_p).mean().item<double>();
    };
    EXPECT_LT(divergence(model), 0.02) << whiten;
    EXPECT_GT(divergence(as_s3c(*begun(run))), 0.2) << "where it began";
  }
}

Evaluation s3c_judged(const Model& model, const at::Tensor& rows, const std::string& method) {
  const TestData test = make_test_data("rows", {.name = "rows", .values = rows.to(at::kFloat)}, {}, model.visible());
  EstimationOptions options;
  options.method = method;
  options.importance = 2000;
  support::Silent watcher;
  const Evaluation found = model.density()->judge({&test}, options, watcher, nullptr).front();
  EXPECT_TRUE(model.density()->same_way(found, options));
  return found;
}

std::unique_ptr<Model> small_learnt(const std::string& hidden, const std::string& whiten = "columns") {
  const S3c truth = support::small_s3c(6, 5, 3);
  return trained(s3c_run(truth.sample(Key(1), 300).rows * 3 + 7,
                         {{"hidden", hidden}, {"whiten", whiten}, {"updates", "300"}}))
      ->kept();
}

// With 5 units all ways apply. Mean field is below what is exact, and 2000 weighted draws of a row are nearer to it;
// how much they may err above is their interval.
TEST(S3cFamily, JudgesExactlyOrByBoundsThatAreInOrder) {
  const std::unique_ptr<Model> model = small_learnt("5");
  const at::Tensor rows = model->generator()->draw({.count = 40, .seed = 3});
  const Evaluation exact = s3c_judged(*model, rows, "auto"), bound = s3c_judged(*model, rows, "mean_field");
  EXPECT_EQ(exact.log_likelihood->kind, EstimateKind::exact);
  EXPECT_EQ(bound.log_likelihood->kind, EstimateKind::lower_bound);
  EXPECT_TRUE(bound.of_rows.lt(exact.of_rows + 1e-6).all().item<bool>());
  EXPECT_LT(bound.log_likelihood->value, exact.log_likelihood->value - 1e-4);
  EXPECT_EQ(exact.verdict, "");
  expect_mentions(s3c_judged(*small_learnt("5", "zca"), rows, "auto").verdict, {"Gaussian", "covariance"});
  // 17 units are too many for auto and few enough for exact.
  const std::unique_ptr<Model> wide = small_learnt("17");
  const at::Tensor few = rows.narrow(0, 0, 6);
  const double best = s3c_judged(*wide, few, "exact").log_likelihood->value,
               low = s3c_judged(*wide, few, "mean_field").log_likelihood->value;
  const Estimate drawn = s3c_judged(*wide, few, "auto").log_likelihood.value();
  EXPECT_EQ(drawn.kind, EstimateKind::lower_bound);
  EXPECT_GT(drawn.value, low);
  EXPECT_LT(drawn.low, best);
  EXPECT_NEAR(drawn.value, best, 0.2);
}

TEST(S3cFamily, EncodesSpikesAndCodesAndReconstructsFromThem) {
  const std::unique_ptr<Model> model = small_learnt("8");
  const S3cModel& s3c = as_s3c(*model);
  const at::Tensor rows = model->generator()->draw({.count = 50, .seed = 4});
  const Encoder& encoder = *model->encoder();
  EXPECT_EQ(encoder.code_layers(), (std::vector<std::string>{"spikes", "codes"}));
  const at::Tensor spikes = encoder.encode(rows, 0), codes = encoder.encode(rows, 1);
  EXPECT_EQ(spikes.sizes(), (std::vector<std::int64_t>{50, 8}));
  EXPECT_TRUE(spikes.ge(0).all().item<bool>() && spikes.le(1).all().item<bool>());
  const at::Tensor back = encoder.reconstruct(rows);
  expect_close(back.to(at::kDouble), s3c.whitening().undo(s3c.model().decode(codes)), 1e-4);
  EXPECT_LT((back - rows).square().mean().item<double>(), 0.8 * (rows - rows.mean(0)).square().mean().item<double>());
}

TEST(S3cFamily, ShowsFiltersMostActiveFirstInTheUnitsOfTheData) {
  const std::unique_ptr<Model> model = small_learnt("5");
  const S3cModel& s3c = as_s3c(*model);
  const std::vector<Exhibit> all = model->exhibits({.checkpoint = {}, .train = {}});
  ASSERT_EQ(all.front().id, "filters");
  EXPECT_EQ(all.front().rows.sizes(), (std::vector<std::int64_t>{5, 6}));
  const Moments& theta = s3c.model().parameters();
  const std::int64_t most = theta["spike.bias"].argmax().item<std::int64_t>();
  const at::Tensor filter = s3c.whitening().undo(theta["weights"].t()[most].unsqueeze(0)) - s3c.whitening().mean;
  expect_close(all.front().rows[0].to(at::kDouble), filter[0], 1e-5);
}

// A column that never changes has a density without end: its noise goes down to the least there may be, and metrics say
// so. Columns of W have length 1 all the while.
TEST(S3cFamily, KeepsItsParametersWithinLimitsAndSaysWhereTheyAct) {
  at::Tensor rows = support::small_s3c(4, 2).sample(Key(1), 200).rows;
  rows.select(1, 2).fill_(1);
  const S3cRun run = s3c_run(rows, {{"hidden", "3"}, {"updates", "400"}, {"rate_bias", "0.05"}, {"noise", "0.01"}});
  const auto trainee = trained(run);
  const std::map<std::string, double> metrics = trainee->measure();
  EXPECT_GE(metrics.at("noise_at_limit"), 1);
  EXPECT_TRUE(metrics.contains("slabs_at_limit") && metrics.contains("active_units"));
  const Moments& theta = trainee->training().parameters();
  EXPECT_NEAR(theta["visible.log_precision"].max().item<double>(), std::log(100), 1e-5);
  expect_close(theta["weights"].norm(2, 0), at::ones({3}), 1e-5);
}

TEST(S3cFamily, RefusesOptionsByName) {
  const at::Tensor rows = support::small_s3c(4, 2).sample(Key(1), 20).rows;
  const auto refused = [&](const std::map<std::string, std::string>& given) {
    return message_of([&] { (void)s3c_run(rows, given); });
  };
  expect_mentions(refused({{"visible", "bernoulli"}}), {"real values", "gaussian"});
  expect_mentions(refused({{"hidden", "bernoulli:5"}}), {"hidden", "spike-and-slab units"});
  expect_mentions(refused({{"whiten", "pca"}}), {"whiten", "zca"});
  expect_mentions(refused({{"rounds", "0"}}), {"rounds"});
  expect_mentions(refused({{"noise", "0"}}), {"noise"});
  const std::unique_ptr<Model> model = begun(s3c_run(rows, {{"hidden", "21"}}));
  expect_mentions(message_of([&] { model->density()->check({.method = "exact"}); }), {"21 hidden units"});
  expect_mentions(message_of([&] { model->density()->check({.method = "ais"}); }), {"ais", "importance"});
}

}  // namespace
}  // namespace harmonium
