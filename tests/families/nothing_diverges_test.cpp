// Nothing diverges in silence: whatever the settings, a model of real values ends with finite parameters and a finite
// log Z and draws finite rows, or training stops with a sentence. LONG_TESTS=1 (make check-long) tries 60 settings,
// otherwise 15 of them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <variant>

#include "harmonium/core/error.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

class NoBars final : public Watcher {
 public:
  [[nodiscard]] Progress begin(const std::string&) override {
    return [](std::int64_t, std::int64_t) {};
  }
  void say(const std::string&) override {}
};

// Uniform numbers of one setting, and choices by them.
class Dice {
 public:
  explicit Dice(std::uint64_t setting) : numbers_(uniform(Key(77).fold_in(setting), {16}, at::kDouble)) {}
  [[nodiscard]] double number() { return numbers_[next_++].item<double>(); }
  [[nodiscard]] double power_of_ten(double from, double to) { return std::pow(10.0, from + (to - from) * number()); }
  [[nodiscard]] std::string pick(const std::vector<std::string>& from) {
    return from[static_cast<std::size_t>(number() * static_cast<double>(from.size()))];
  }

 private:
  at::Tensor numbers_;
  std::int64_t next_ = 0;
};

constexpr std::int64_t columns = 6;

// Correlated columns whose units differ by a factor of `unevenness`, three deviations away from 0.
RunData real_data(double spread, double unevenness) {
  const auto table = [&](std::int64_t rows, std::uint64_t seed) -> Dataset {
    const at::Tensor mixing = at::eye(columns) + 0.5 * normal(Key(9), {columns, columns});
    const at::Tensor units = spread * at::pow(at::scalar_tensor(unevenness), at::linspace(0, 1, columns));
    return {.name = "table", .values = ((normal(Key(seed), {rows, columns}).matmul(mixing) + 3) * units).contiguous()};
  };
  return {.train = table(80, 1), .valid = table(20, 2)};
}

void set_own(RunConfig& config, const std::string& name, const std::variant<std::string, std::int64_t>& value) {
  bool found = false;
  config.own.visit([&](const OptionRef& option) {
    if (name != option.name) return;
    found = true;
    if (const auto* text = std::get_if<std::string>(&value)) *std::get<std::string*>(option.field) = *text;
    if (const auto* number = std::get_if<std::int64_t>(&value)) *std::get<std::int64_t*>(option.field) = *number;
  });
  ASSERT_TRUE(found) << name;
}

// A setting's model, one kind after the other; every second round of kinds learns from standardized data.
RunConfig random_config(std::uint64_t setting, bool standardized, Dice& dice) {
  const std::uint64_t kind = setting % 3;
  RunConfig config = usual_config(kind == 2 ? "mcrbm" : "rbm");
  config.data = "table";
  config.valid = "others";
  if (kind == 2) {
    config.hidden = "4";
    set_own(config, "filters", std::int64_t{8});
    set_own(config, "whiten", standardized ? dice.pick({"zca", "columns"}) : "none");
    set_own(config, "pools", dice.pick({"0", "4"}) == "0" ? std::int64_t{0} : std::int64_t{4});
    set_own(config, "leapfrog", dice.pick({"3", "10"}) == "3" ? std::int64_t{3} : std::int64_t{10});
    config.optimizer = dice.pick({"adam", "sgd"});
  } else {
    config.visible = "gaussian";
    config.hidden = kind == 1 ? dice.pick({"spike_slab:5", "spike_slab:3x2"})
                              : dice.pick({"8", "8", "gaussian:4", "relu:4", "stepped:4", "cardinality:8<=2"});
    config.scale = standardized ? "standardize" : "none";
    config.gradient = dice.pick({"pcd", "cd", "fpcd", "pt"});
    config.optimizer = dice.pick({"fang", "centering", "sgd", "diagonal"});
    config.initial_weights = dice.power_of_ten(-2, 0);
  }
  config.rate_weights = dice.power_of_ten(-3, 1);
  config.rate_bias = dice.power_of_ten(-3, 1);
  config.keep = "last";
  config.updates = 120;
  config.batch = 20;
  config.seed = setting;
  return config;
}

// Whether training came to its end. Fails where it came there with anything that is not finite.
bool trains_to_the_end(RunConfig config, RunData data) {
  try {
    resolve(config, data);
    const Family& family = find_family(config.model);
    const auto trainee = family.train(config, data, *family.make(config, data, {}));
    while (!trainee->training().finished()) trainee->training().step();
    const std::unique_ptr<Model> model = trainee->kept();
    const Moments parameters = model->parameters();
    for (const auto& [name, value] : parameters.entries()) EXPECT_TRUE(value.isfinite().all().item<bool>()) << name;
    NoBars watcher;
    EstimationOptions options;
    options.method = "ais";
    options.chains = 20;
    options.betas = 50;
    const TestData test = make_test_data("table", data.valid, {}, model->visible());
    const Evaluation answer = model->density()->judge({&test}, options, watcher, nullptr).at(0);
    EXPECT_TRUE(std::isfinite(answer.log_z->value));
    EXPECT_TRUE(std::isfinite(answer.log_likelihood->value));
    const at::Tensor drawn =
        model->generator()->draw({.count = 5, .sweeps = 3, .seed = 1, .progress = [](std::int64_t, std::int64_t) {}});
    EXPECT_EQ(model->visible().complaint(drawn), "");
    return true;
  } catch (const Diverged& stopped) {
    const std::string sentence = stopped.what();
    EXPECT_GT(sentence.size(), 40U) << sentence;
    EXPECT_NE(sentence.find("rate"), std::string::npos) << "what to do: " << sentence;
    return false;
  }
}

TEST(ModelsOfRealValues, EndFiniteOrStopWithASentenceWhateverTheSettings) {
  const bool is_long = std::getenv("LONG_TESTS") != nullptr;
  const std::uint64_t settings = is_long ? 60 : 15;
  std::array<int, 3> finished = {};
  for (std::uint64_t n = 0; n < settings; ++n) {
    Dice dice(n);
    const bool standardized = n / 3 % 2 == 0;
    const double spread = dice.power_of_ten(-2, 2), unevenness = dice.power_of_ten(-2, 2);
    const RunConfig config = random_config(n, standardized, dice);
    SCOPED_TRACE(format("setting {}: {} {}, {} data, {} {}, rates {} {}, initial weights {}, spread {} × {}", n,
                        config.model, config.hidden, standardized ? "standardized" : "raw", config.gradient,
                        config.optimizer, config.rate_weights, config.rate_bias, config.initial_weights, spread,
                        unevenness));
    if (trains_to_the_end(config, real_data(spread, unevenness))) ++finished[n % 3];
  }
  for (const int each : finished) EXPECT_GT(each, 0) << "every kind should train";
  EXPECT_GE(finished[0] + finished[1] + finished[2], static_cast<int>(settings) / 3) << "a third should train";
}

// Who gives no rates gets a model, whatever the units of the data are: steps are no longer than models/step_limit.h
// lets them be. Without that, half of these diverge.
TEST(ModelsOfRealValues, TrainToTheEndByUsualRates) {
  for (const char* hidden : {"8", "gaussian:4", "relu:4", "stepped:4", "spike_slab:5", "spike_slab:3x2"})
    for (const double spread : {1e-2, 1.0, 1e2})
      for (const double unevenness : {1.0, 1e-2}) {
        RunConfig config = usual_config("rbm");
        config.data = "table";
        config.valid = "others";
        config.visible = "gaussian";
        config.hidden = hidden;
        config.keep = "last";
        config.updates = 200;
        config.batch = 20;
        EXPECT_TRUE(trains_to_the_end(config, real_data(spread, unevenness)))
            << hidden << ", spread " << spread << " × " << unevenness;
      }
}

}  // namespace
}  // namespace harmonium
