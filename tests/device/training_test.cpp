// Training on the device beside the CPU: every gradient and optimizer in float64, batches to the bit, and the digits in
// float32.
#include <cmath>

#include "harmonium/data/digits.h"
#include "harmonium/geometry/fisher_study.h"
#include "harmonium/geometry/particle_statistics.h"
#include "harmonium/gradients/objective.h"
#include "harmonium/training/monitor.h"
#include "tests/device/support.h"
#include "tests/support/machines.h"
#include "tests/training/support.h"

namespace harmonium {
namespace {

struct TrainingCase {
  std::string gradient, optimizer, model = "rbm", objective = "generative";
  friend void PrintTo(const TrainingCase& one, std::ostream* out) {
    *out << one.gradient << " " << one.optimizer << " " << one.model << " " << one.objective;
  }
};

std::string training_case_name(const testing::TestParamInfo<TrainingCase>& info) {
  return info.param.gradient + "_" + info.param.optimizer + "_" + info.param.model + "_" + info.param.objective;
}

Dataset labelled_bits() {
  Dataset data = random_bits(50, 6);
  data.labels = at::remainder(at::arange(50, at::kLong), 3);
  return data;
}

BoltzmannMachine machine_of(const TrainingCase& one) {
  if (one.model == "mrf") return make_mrf("bernoulli:6", at::kDouble);
  if (one.model == "semi_restricted") return make_semi_restricted("bernoulli:6", "bernoulli:4", at::kDouble);
  if (one.model == "classification_rbm") return make_classification_rbm("bernoulli:6", 3, "bernoulli:4", at::kDouble);
  if (one.model.starts_with("dbm")) return make_chain({"bernoulli:6", "bernoulli:4", "bernoulli:3"}, at::kDouble);
  if (one.model == "gaussian") return make_rbm("gaussian:6", "bernoulli:4", at::kDouble);
  return make_rbm("bernoulli:6", "bernoulli:4", at::kDouble);
}

Training training_on(const TrainingCase& one, at::Device device) {
  BoltzmannMachine machine = machine_of(one);
  initialize(machine, Key(1), 0.5);
  machine = machine.to(device);
  auto metric = make_metric(one.optimizer, machine.topology(), machine.parameters(),
                            {.statistics_every = 2, .refit_every = 4, .rank = 5, .iterations = 4});
  const std::int64_t classes = one.model == "classification_rbm" ? 3 : 0;
  return make_training(
      std::move(machine), BatchStream(labelled_bits(), {.batch = 16, .classes = classes}, Key(2), device),
      make_objective(one.objective, make_negative_phase(one.gradient, {.particles = 50, .rungs = 4}), 0.1),
      std::move(metric), {.rate_bias = 0.02, .rate_weights = 0.02, .momentum = 0.5, .weight_decay = 1e-3},
      {.updates = 24, .averaging = 10, .seed = 3}, {.cost = one.model == "rbm" ? 0.1 : 0.0},
      {.by = one.model == "dbm_gibbs" ? DataInference::By::sampling : DataInference::By::mean_field, .seed = 4});
}

class TrainingOnDevice : public OnDevice, public testing::WithParamInterface<TrainingCase> {};

TEST_P(TrainingOnDevice, ComesToTheSameParametersAndItsStateGoesOnEitherSide) {
  Training here = training_on(GetParam(), at::kCPU), there = training_on(GetParam(), cuda_);
  NamedTensors saved_here, saved_there;
  while (!here.finished()) {
    if (here.update() == 11) {
      for (const auto& [name, value] : here.state()) saved_here.emplace_back(name, value.clone());
      for (const auto& [name, value] : there.state()) saved_there.emplace_back(name, on_cpu(value).clone());
    }
    here.step();
    there.step();
  }
  EXPECT_EQ(machine_of(there).device(), cuda_);
  constexpr double close = 1e-6;  // rounding grows by what an optimizer inverts
  expect_near(there.parameters(), here.parameters(), close);
  expect_near(there.averaged(), here.averaged(), close);
  Training crossed_here = training_on(GetParam(), at::kCPU), crossed_there = training_on(GetParam(), cuda_);
  crossed_here.restore(11, saved_there);
  crossed_there.restore(11, saved_here);
  while (!crossed_here.finished()) {
    crossed_here.step();
    crossed_there.step();
  }
  expect_near(crossed_here.parameters(), here.parameters(), close);
  expect_near(crossed_there.parameters(), here.parameters(), close);
}

std::vector<TrainingCase> training_cases() {
  std::vector<TrainingCase> all;
  for (const char* optimizer : {"sgd", "centering", "enhanced", "fang", "fang_random", "diagonal", "block_diagonal",
                                "low_rank", "metric_free", "exact"})
    all.push_back({"pcd", optimizer});
  for (const char* gradient : {"cd", "pt", "tempered", "exact"})
    for (const char* optimizer : {"fang", "centering"}) all.push_back({gradient, optimizer});
  for (const char* gradient : {"fpcd", "mf_cd", "pl"}) all.push_back({gradient, "centering"});
  for (const char* model : {"mrf", "semi_restricted", "classification_rbm", "gaussian", "dbm", "dbm_gibbs"})
    for (const char* optimizer : {"fang", "centering"}) all.push_back({"pcd", optimizer, model});
  all.push_back({"exact", "fang", "mrf"});
  all.push_back({"pl", "centering", "mrf"});
  all.push_back({"pcd", "centering", "classification_rbm", "discriminative"});
  all.push_back({"pcd", "fang", "classification_rbm", "hybrid"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, TrainingOnDevice, testing::ValuesIn(training_cases()), training_case_name);

TEST_F(OnDevice, OrdersOfEpochsAndBatchesAreThoseOfTheCpuToTheBit) {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{1000}, std::int64_t{60'000}})
    EXPECT_EQ(count_of_differences(permutation(Key(1), n, cuda_), permutation(Key(1), n)), 0);
  const Dataset data = digits_split().train;
  for (const Binarization binarization : {Binarization::none, Binarization::threshold, Binarization::stochastic})
    for (const double shrink : {0.0, 0.1}) {
      const BatchOptions options{.batch = 1000, .binarization = binarization, .shrink = shrink, .classes = 10};
      BatchStream here(data, options, Key(2)), there(data, options, Key(2), cuda_);
      for (const std::int64_t update : {0, 1, 2, 7}) {  // 1297 rows: most batches straddle two epochs
        const std::vector<at::Tensor> a = here.batch(update), b = there.batch(update);
        for (std::size_t i = 0; i < a.size(); ++i) {
          EXPECT_EQ(b[i].device(), cuda_);
          EXPECT_EQ(count_of_differences(a[i], b[i]), 0);
        }
      }
    }
}

Training digits_training(const std::string& optimizer, at::Device device) {
  const Dataset data = digits_split().train;
  BoltzmannMachine machine = make_rbm("bernoulli:64", "bernoulli:100");
  initialize(machine, Key(1), 0.01, {{data.column_means().to(at::kFloat)}});
  machine = machine.to(device);
  auto metric = make_metric(optimizer, machine.topology(), machine.parameters());
  return make_training(std::move(machine),
                       BatchStream(data, {.batch = 100, .binarization = Binarization::stochastic}, Key(2), device),
                       make_negative_phase("pcd", {.particles = 100}), std::move(metric),
                       {.rate_bias = 0.05, .rate_weights = 0.05}, {.updates = 50, .averaging = 10, .seed = 3});
}

// In float32 products are added up in another order, so that a few draws of a million fall on the other side and chains
// part there: parameters agree to some percent of the way they have come, and what they say of data to a tenth of a
// nat.
TEST_F(OnDevice, FiftyUpdatesOnDigitsComeToTheSameModelUpToAFewDraws) {
  const Split split = digits_split();
  const Monitor monitor(split.train, split.valid, Binarization::stochastic, 0, 4);
  for (const std::string optimizer : {"sgd", "centering", "fang"}) {
    Training here = digits_training(optimizer, at::kCPU), there = digits_training(optimizer, cuda_);
    const Moments start = here.parameters().clone();
    while (!here.finished()) {
      here.step();
      there.step();
    }
    const Moments end = there.parameters().to(at::kCPU);
    const double way = norm(here.parameters() - start), apart = norm(here.parameters() - end);
    EXPECT_GT(way, 0.1) << optimizer;
    EXPECT_LT(apart, 0.1 * way) << optimizer;
    const auto measured = monitor.measure(averaged_machine(here)),
               measured_there = monitor.measure(averaged_machine(there));
    EXPECT_NEAR(measured_there.at("pseudo_log_likelihood"), measured.at("pseudo_log_likelihood"), 0.1) << optimizer;
    EXPECT_NEAR(measured_there.at("free_energy_gap"), measured.at("free_energy_gap"), 0.1) << optimizer;
  }
}

TEST_F(OnDevice, ADivergenceIsNoticed) {
  Training training = digits_training("sgd", cuda_);
  training.step();
  NamedTensors state;
  for (const auto& [name, value] : training.state()) state.emplace_back(name, on_cpu(value).clone());
  for (auto& [name, value] : state)
    if (name == "parameters/visible.bias") value[3] = std::nan("");
  training.restore(1, state);
  support::expect_mentions(
      [&] {
        try {
          training.check();
        } catch (const RunFailure& failure) {
          return std::string(failure.what());
        }
        return std::string();
      }(),
      {"diverged", "visible.bias"});
}

// What `fisher --method sampled` does.
TEST_F(OnDevice, SampledApproximationsOfTheFisherInformationAreTheSame) {
  const BoltzmannMachine here = support::randomized(make_rbm("bernoulli:5", "bernoulli:3", at::kDouble), 5),
                         there = here.to(cuda_);
  const auto study = [](const BoltzmannMachine& machine) {
    const auto part = [&](std::uint64_t stream) {
      const State rows = machine.independent_sample(Key(stream), 30);
      const auto drawn = [machine, rows] { return machine.particles(rows); };
      return std::make_shared<ParticleStatistics>(machine.topology(), machine.parameters(),
                                                  ParticleSource{.drawn = drawn, .expected = drawn});
    };
    return compare_approximations(part(1), *part(2), machine.topology(), machine.parameters(),
                                  {.damping = 1e-2, .ranks = {3}, .random_draws = 1},
                                  [](const std::string&, std::int64_t, std::int64_t) {});
  };
  const std::vector<Approximation> found = study(here), found_there = study(there);
  ASSERT_EQ(found.size(), found_there.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].name, found_there[i].name);
    EXPECT_NEAR(found[i].divergence, found_there[i].divergence, 1e-6 * (1 + std::abs(found[i].divergence)));
  }
}

}  // namespace
}  // namespace harmonium
