// `harmonium fisher`: exact numbers that can be checked by hand, estimates that agree with them, and what it writes.
#include <cmath>

#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Fisher : public Tool {
 protected:
  [[nodiscard]] static double divergence(const ordered_json& result, const std::string& name) {
    for (const ordered_json& one : result["approximations"])
      if (one["name"] == name) return one["divergence"];
    ADD_FAILURE() << "no approximation called " << name;
    return 0;
  }
};

// One visible and one hidden unit: four states, three statistics.
TEST_F(Fisher, OfTwoUnitsIsWhatAPenAndPaperGive) {
  const double a = -0.5, b = 0.25, w = 1.5;
  write_bytes(folder / "pair.npz",
              npz({{"W", {{1, 1}, {1.5F}}}, {"visible_bias", {{1}, {-0.5F}}}, {"hidden_bias", {{1}, {0.25F}}}}));
  const double z = 1 + std::exp(a) + std::exp(b) + std::exp(a + b + w);
  const double p = (std::exp(a) + std::exp(a + b + w)) / z, q = (std::exp(b) + std::exp(a + b + w)) / z,
               r = std::exp(a + b + w) / z;
  const ordered_json result = json({"fisher", "pair.npz"});
  EXPECT_EQ(keys(result),
            (std::vector<std::string>{"model", "method", "dimension", "damping", "states", "seed", "divergence",
                                      "approximations", "eigenvalues", "covariance_fractions"}));
  EXPECT_EQ(result["method"], "exact");
  EXPECT_EQ(result["dimension"], 3);
  double trace = 0;
  for (const ordered_json& value : result["eigenvalues"]) trace += value.get<double>();
  EXPECT_NEAR(trace, p * (1 - p) + q * (1 - q) + r * (1 - r), 1e-9);
  // Determinant of the covariance of (v, h, vh).
  const double c = r - p * q, f = r * (1 - p), g = r * (1 - q);
  const double vv = p * (1 - p), hh = q * (1 - q), mm = r * (1 - r);
  const double determinant = vv * (hh * mm - g * g) - c * (c * mm - g * f) + f * (c * g - hh * f);
  EXPECT_NEAR(divergence(result, "diagonal"), 0.5 * std::log(vv * hh * mm / determinant), 1e-3);
  EXPECT_NEAR(divergence(result, "fang"), 0, 1e-9) << "two units are a tree, where FANG is exact";
  EXPECT_TRUE(read_bytes(folder / "fisher-pair" / "eigenvectors.png").starts_with("\x89PNG"));
}

TEST_F(Fisher, OfARunWritesPagePictureAndNumbersBesideIt) {
  succeed(small_run("run", {"--updates", "200"}));
  const Outcome outcome = succeed({"fisher", "run", "--rank", "5", "--random-draws", "2"});
  for (const char* part : {"FANG", "centering", "rank 5", "largest eigenvalues", "fisher.html"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in " << outcome.out;
  const std::string page = read_bytes(folder / "run" / "fisher.html");
  for (const char* part : {"How well approximations fit G", "chart-spectrum", "gallery-eigenvectors"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  const ordered_json numbers = ordered_json::parse(read_bytes(folder / "run" / "fisher.json"));
  EXPECT_LT(divergence(numbers, "fang"), divergence(numbers, "centering"));
  EXPECT_LT(divergence(numbers, "centering"), divergence(numbers, "diagonal"));
}

TEST_F(Fisher, FromDrawsAgreesWithTheEnumerationOnWhichIsBetter) {
  succeed(small_run("run", {"--updates", "200"}));
  const ordered_json result = json({"fisher", "run", "--method", "sampled", "--samples", "1000", "--sweeps", "50",
                                    "--rank", "5", "--out", "sampled"});
  EXPECT_EQ(result["method"], "sampled");
  EXPECT_EQ(result["samples"], 1000);
  EXPECT_EQ(divergence(result, "diagonal"), 0);
  EXPECT_LT(divergence(result, "fang"), 0);
  EXPECT_GT(divergence(result, "isotropic"), 0);
  EXPECT_TRUE(fs::exists(folder / "sampled" / "fisher.html"));
  const Outcome few =
      succeed({"fisher", "run", "--method", "sampled", "--samples", "100", "--sweeps", "5", "--out", "few"});
  EXPECT_NE(few.err.find("--samples 1440 or more"), std::string::npos) << few.err;
}

TEST_F(Fisher, RefusesWhatItCannotDoWithSizesAndAdvice) {
  succeed({"train", "--data", "digits", "--hidden", "30", "--updates", "5", "--out", "wide"});
  refuses({"fisher", "wide", "--method", "exact"}, {"2^30", "2^20"});
  refuses({"fisher", "wide", "--method", "guess"}, {"'guess'", "exact", "sampled"});
  refuses({"fisher", "wide", "--samples", "4"}, {"--samples 4", "20"});
  refuses({"fisher", "wide", "--rank", "0"}, {"--rank"});
  refuses({"fisher", "nowhere"}, {"nowhere", ".npz"});
}

using Optimizers = Tool;

TEST_F(Optimizers, AreListedWhereOneIsUnknownAndTheirOptionsAreChecked) {
  refuses({"train", "--optimizer", "adam"}, {"'adam'", "fang", "centering", "sgd", "metric_free", "exact"});
  refuses({"train", "--damping", "-1"}, {"--damping", "-1"});
  refuses({"train", "--damping-of", "all"}, {"all", "centered", "plain"});
  refuses({"train", "--statistics-every", "0"}, {"--statistics-every", "1"});
  refuses({"train", "--optimizer", "exact", "--data", "digits", "--hidden", "40"}, {"2^40", "2^20"});
}

TEST_F(Optimizers, AllTrain) {
  for (const std::string name : {"fang", "centering", "enhanced", "sgd", "diagonal", "block_diagonal", "low_rank",
                                 "fang_random", "metric_free", "exact"}) {
    const ordered_json result = json({"train", "--data", "bars_and_stripes", "--hidden", "6", "--optimizer", name,
                                      "--updates", "60", "--out", name});
    EXPECT_EQ(result["updates"], 60) << name;
  }
}

// Nothing but the data is given. Sixteen independent fair bits would be at −11.1, the thirty patterns themselves at
// −3.4.
TEST_F(Optimizers, ByDefaultLearnBarsAndStripes) {
  succeed({"train", "--data", "bars_and_stripes", "--hidden", "20", "--out", "bars"});
  const ordered_json result = json({"evaluate", "bars", "--data", "bars_and_stripes"});
  EXPECT_EQ(result["log_likelihood"]["kind"], "exact");
  EXPECT_GT(result["log_likelihood"]["value"], -6);
}

// The base rates of the digits are at −30.6.
TEST_F(Optimizers, ByDefaultLearnDigits) {
  succeed({"train", "--data", "digits", "--hidden", "20", "--out", "digits"});
  const ordered_json result = json({"evaluate", "digits", "--data", "digits:test"});
  EXPECT_EQ(result["log_likelihood"]["kind"], "exact");
  EXPECT_GT(result["log_likelihood"]["value"], -25);
}

}  // namespace
}  // namespace harmonium::testing
