// RBMs of every unit type that the table has: trained, stopped and taken up again, written and read, judged.
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/units/unit_types.h"
#include "tests/support/brute_force.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

Dataset table_for(const std::string& visible, std::int64_t rows, std::uint64_t seed) {
  const at::Tensor x = normal(Key(seed), {rows, 6});
  const Unit::Support support = unit_type(visible).support;
  at::Tensor values = support == Unit::Support::reals         ? x
                      : support == Unit::Support::nonnegative ? x.abs()
                      : support == Unit::Support::naturals    ? (2 * x.abs()).floor()
                                                              : x.gt(0).to(at::kFloat);
  return {.name = "table", .values = values.contiguous()};
}

RunData data_for(const std::string& visible) {
  return {.train = table_for(visible, 60, 1), .valid = table_for(visible, 20, 2)};
}

RunConfig config_for(const std::string& visible, const std::string& hidden, RunData& data) {
  RunConfig config = usual_config("rbm");
  config.data = "table";
  config.valid = "others";
  config.visible = visible;
  config.hidden = hidden;
  if (unit_type(hidden_spec(hidden)).name == "nrelu") {
    config.gradient = "cd";
    config.optimizer = "centering";
  }
  config.updates = 30;
  config.batch = 10;
  config.averaging = 5;
  config.seed = 3;
  resolve(config, data);
  return config;
}

struct Pairing {
  std::string visible, hidden;
  friend void PrintTo(const Pairing& one, std::ostream* out) { *out << one.visible << " " << one.hidden; }
};

// Every type as hidden units under binary ones, and every type for data above binary ones.
std::vector<Pairing> pairings() {
  std::vector<Pairing> all;
  for (const UnitType& type : unit_types()) {
    if (type.name == "counts" || type.name == "twin") continue;  // of documents, and of pretraining
    all.push_back({"bernoulli", type.example});
    if (!type.of_data.empty() && type.name != "softmax") all.push_back({type.name, "4"});
  }
  for (const char* hidden : {"stepped:3", "relu:3", "drelu:3", "spike_slab:3", "cardinality:5<=2"})
    all.push_back({"gaussian", hidden});
  return all;
}

class UnitTraining : public testing::TestWithParam<Pairing> {
 protected:
  RunData data_ = data_for(GetParam().visible);
  RunConfig config_ = config_for(GetParam().visible, GetParam().hidden, data_);
};

TEST_P(UnitTraining, GoesOnFromItsStateBitForBitAndComesBackFromItsFile) {
  const Family& family = find_family("rbm");
  const std::unique_ptr<Model> start = family.make(config_, data_, {});
  const auto whole = family.train(config_, data_, *start), first = family.train(config_, data_, *start->clone());
  for (int update = 0; update < 30; ++update) whole->training().step();
  for (int update = 0; update < 13; ++update) first->training().step();
  NamedTensors saved;
  for (const auto& [name, value] : first->training().state()) saved.emplace_back(name, value.clone());
  const auto second = family.train(config_, data_, *family.make(config_, data_, {}));
  second->training().restore(13, saved);
  for (int update = 13; update < 30; ++update) second->training().step();
  const std::string bytes = whole->kept()->encode_file();
  EXPECT_EQ(second->kept()->encode_file(), bytes);
  EXPECT_EQ(decode_model(bytes, "a file")->encode_file(), bytes);
  EXPECT_TRUE(std::isfinite(whole->measure().at("reconstruction_error")));
}

class SilentBars final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

TEST_P(UnitTraining, IsJudgedAndSampled) {
  const Family& family = find_family("rbm");
  const auto trainee = family.train(config_, data_, *family.make(config_, data_, {}));
  while (!trainee->training().finished()) trainee->training().step();
  const std::unique_ptr<Model> model = trainee->kept();
  SilentBars watcher;
  EstimationOptions options;
  options.method = "sandwich";
  options.chains = 20;
  options.betas = 30;
  const TestData test = make_test_data("table", data_.valid, {}, model->visible());
  const std::vector<Evaluation> answers = model->density()->judge({&test}, options, watcher, nullptr);
  EXPECT_TRUE(std::isfinite(answers.at(0).log_likelihood->value));
  EXPECT_TRUE(std::isfinite(answers[0].raise->value));
  const at::Tensor drawn =
      model->generator()->draw({.count = 5, .sweeps = 3, .seed = 1, .progress = [](std::int64_t, std::int64_t) {}});
  EXPECT_EQ(model->visible().complaint(drawn), "");
}

INSTANTIATE_TEST_SUITE_P(Types, UnitTraining, testing::ValuesIn(pairings()), [](const auto& one) {
  std::string name = one.param.visible + "_" + one.param.hidden;
  std::erase(name, '<');
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
});

// k = N is the binary RBM: the same training bit by bit.
TEST(UnitTraining, OfUnitsWithoutALimitIsThatOfBinaryOnes) {
  const auto trained = [](const std::string& hidden) {
    RunData data = data_for("bernoulli");
    const RunConfig config = config_for("bernoulli", hidden, data);
    const Family& family = find_family("rbm");
    const auto trainee = family.train(config, data, *family.make(config, data, {}));
    while (!trainee->training().finished()) trainee->training().step();
    return trainee->kept()->parameters();
  };
  EXPECT_TRUE(support::identical(trained("cardinality:5<=5"), trained("5")));
}

TEST(UnitTraining, RefusesWhatAUnitCannotDo) {
  const auto message = [](const std::string& visible, const std::string& hidden, const std::string& gradient) {
    return support::message_of([&] {
      RunData data = data_for(visible);
      RunConfig config = usual_config("rbm");
      config.data = "table";
      config.visible = visible;
      config.hidden = hidden;
      config.gradient = gradient;
      config.keep = "last";
      config.updates = 3;
      resolve(config, data);
      (void)check_config(config, data);
    });
  };
  for (const char* gradient : {"pcd", "fpcd", "pt", "tempered", "exact", "pl"})
    support::expect_mentions(message("bernoulli", "nrelu:3", gradient), {"nrelu:3", "stepped:3", "imitate", "cd"});
  EXPECT_EQ(message("bernoulli", "nrelu:3", "cd"), "");
  support::expect_mentions(message("poisson", "gaussian:3", "pcd"), {"poisson:6", "gaussian:3", "bounded"});
  support::expect_mentions(message("relu", "4", "pl"), {"relu:6", "binary and softmax"});
}

// Standardizing: what is learnt is written in the units of the data, and judged there.
TEST(Standardized, TrainingGivesADensityInTheUnitsOfTheData) {
  const at::Tensor s = at::tensor({0.01, 50.0, 1.0, 3.0, 0.5, 8.0}), m = at::tensor({1.0, -90.0, 0.0, 5.0, 2.0, -3.0});
  const auto run = [&](bool moved, const std::string& scale) {
    RunData data = data_for("gaussian");
    const at::Tensor mean = data.train.values.mean(0), deviation = data.train.values.std(0, /*unbiased=*/false);
    for (Dataset* each : {&data.train, &data.valid}) {
      each->values = (each->values - mean) / deviation;
      if (moved) each->values = m + s * each->values;
    }
    RunConfig config = usual_config("rbm");
    config.data = "table";
    config.valid = "others";
    config.visible = "gaussian";
    config.hidden = "4";
    config.scale = scale;
    config.keep = "last";
    config.updates = 40;
    config.batch = 20;
    config.seed = 5;
    resolve(config, data);
    const Family& family = find_family("rbm");
    const auto trainee = family.train(config, data, *family.make(config, data, {}));
    while (!trainee->training().finished()) trainee->training().step();
    const std::unique_ptr<Model> model = trainee->kept();
    const BoltzmannMachine machine = model->machine()->machine.to(at::kDouble);
    const State rows = machine.observe({data.valid.values.to(at::kDouble)});
    return (machine.log_sum_out(rows, machine.hidden()).mean() - exact_log_z(machine).value).item<double>();
  };
  // The same training up to the rounding of float32 data, so the same density but for the volume of the units.
  EXPECT_NEAR(run(true, "standardize"), run(false, "none") - s.log().sum().item<double>(), 0.02);
}

TEST(Standardized, DataNeedGaussianUnits) {
  RunData data = data_for("bernoulli");
  RunConfig config = usual_config("rbm");
  config.data = "table";
  config.scale = "standardize";
  support::expect_mentions(support::message_of([&] { resolve(config, data); }), {"scale", "standardize", "gaussian"});
}

}  // namespace
}  // namespace harmonium
