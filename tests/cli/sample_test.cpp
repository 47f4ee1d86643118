// `harmonium sample`: pictures and arrays of the right shape, units that can be held, and repeatable draws.
#include <cmath>
#include <limits>

#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Sample : public Tool {
 protected:
  // 64 visible and 5 hidden units with weights that couple them.
  void SetUp() override {
    Array weights{{64, 5}, std::vector<float>(320)};
    for (std::size_t i = 0; i < 320; ++i) weights.values[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
    write_bytes(folder / "run.npz", npz({{"W", weights},
                                         {"visible_bias", {{64}, std::vector<float>(64, -0.5F)}},
                                         {"hidden_bias", {{5}, std::vector<float>(5, 0.5F)}}}));
  }
  [[nodiscard]] Array drawn(const Arguments& more) const {
    succeed(Arguments{"sample", "run.npz", "--sweeps", "20", "--out", "x.npy"} + more);
    return read_npy(read_bytes(folder / "x.npy"));
  }
};

TEST_F(Sample, WritesAPngOfTheSamplesSideBySide) {
  const Outcome outcome = succeed({"sample", "run.npz", "-n", "6", "--sweeps", "5", "--out", "x.png"});
  EXPECT_NE(outcome.out.find("6 samples"), std::string::npos);
  EXPECT_NE(outcome.out.find("x.png"), std::string::npos);
  const std::string bytes = read_bytes(folder / "x.png");
  ASSERT_TRUE(bytes.starts_with("\x89PNG\r\n\x1A\n"));
  ASSERT_EQ(bytes.substr(12, 4), "IHDR");
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  const unsigned width = number(16), height = number(20);
  EXPECT_GE(width * height, 6U * 64U) << "six pictures of 8 × 8 do not fit in " << width << " × " << height;
  EXPECT_TRUE(bytes.ends_with(std::string("IEND\xAE\x42\x60\x82")));
}

TEST_F(Sample, WritesAnNpyOfBits) {
  const Array samples = drawn({"-n", "7"});
  EXPECT_EQ(samples.shape, (std::vector<std::size_t>{7, 64}));
  for (const float value : samples.values) EXPECT_TRUE(value == 0 || value == 1) << value;
  const ordered_json result = json({"sample", "run.npz", "-n", "3", "--sweeps", "2", "--out", "y.npy", "--seed", "5"});
  EXPECT_EQ(result["samples"], 3);
  EXPECT_EQ(result["sweeps"], 2);
  EXPECT_EQ(result["seed"], 5);
  EXPECT_EQ(result["out"], "y.npy");
}

TEST_F(Sample, GivesProbabilitiesWhereMeansAreAskedFor) {
  const Array means = drawn({"-n", "7", "--means"});
  EXPECT_EQ(means.shape, (std::vector<std::size_t>{7, 64}));
  bool between = false;
  for (const float value : means.values) {
    EXPECT_GE(value, 0);
    EXPECT_LE(value, 1);
    between = between || (value > 0 && value < 1);
  }
  EXPECT_TRUE(between);
}

TEST_F(Sample, RepeatsItselfForTheSameSeedOnly) {
  const Arguments question = {"sample", "run.npz", "-n", "5", "--sweeps", "10", "--out"};
  succeed(question + Arguments{"a.npy", "--seed", "1"});
  succeed(question + Arguments{"b.npy", "--seed", "1"});
  succeed(question + Arguments{"c.npy", "--seed", "2"});
  EXPECT_TRUE(read_bytes(folder / "a.npy") == read_bytes(folder / "b.npy"));
  EXPECT_FALSE(read_bytes(folder / "a.npy") == read_bytes(folder / "c.npy"));
}

TEST_F(Sample, KeepsKnownValuesAndDrawsTheRest) {
  const float free = std::numeric_limits<float>::quiet_NaN();
  Array known{{4, 64}, std::vector<float>(4 * 64, free)};
  for (std::size_t i = 0; i < known.values.size(); ++i)
    if (i % 3 != 0) known.values[i] = static_cast<float>(i / 3 % 2);
  write_bytes(folder / "known.npy", npy(known));
  for (const Arguments& more : {Arguments{}, Arguments{"--means"}}) {
    const Array samples = drawn(Arguments{"-n", "4", "--clamp", "known.npy"} + more);
    ASSERT_EQ(samples.shape, known.shape);
    for (std::size_t i = 0; i < known.values.size(); ++i) {
      EXPECT_TRUE(std::isfinite(samples.values[i]));
      if (!std::isnan(known.values[i])) {
        EXPECT_EQ(samples.values[i], known.values[i]) << "value " << i;
      }
    }
  }
}

TEST_F(Sample, HoldsOneRowOfKnownValuesForEverySample) {
  Array row{{64}, std::vector<float>(64, std::numeric_limits<float>::quiet_NaN())};
  row.values[0] = 1;
  write_bytes(folder / "row.npy", npy(row));
  const Array samples = drawn({"-n", "9", "--clamp", "row.npy"});
  ASSERT_EQ(samples.shape, (std::vector<std::size_t>{9, 64}));
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(samples.values[64 * i], 1);
}

TEST_F(Sample, RefusesWhatItCannotWriteOrHold) {
  write_bytes(folder / "samples.png", "earlier");
  write_bytes(folder / "narrow.npy", npy({{1, 3}, {0, 1, 0}}));
  write_bytes(folder / "two_rows.npy", npy({{2, 64}, std::vector<float>(128, 0)}));
  write_bytes(folder / "gray.npy", npy({{1, 64}, std::vector<float>(64, 7)}));
  refuses({"sample", "run.npz", "--out", "x.jpg"}, {"--out x.jpg", ".png", ".npy"});
  refuses({"sample", "run.npz", "--clamp", "nosuch.npy"}, {"nosuch.npy"});
  refuses({"sample", "run.npz", "--clamp", "narrow.npy"}, {"narrow.npy", "64"});
  refuses({"sample", "run.npz", "--clamp", "two_rows.npy", "-n", "5"}, {"2 rows", "5"});
  refuses({"sample", "run.npz", "--clamp", "gray.npy"}, {"gray.npy", "7", "[0, 1]"});
  refuses({"sample", "run.npz", "--clamp", "label=3"}, {"--clamp label=3", "'label'", "visible", "hidden"});
  refuses({"sample", "run.npz", "--clamp", "hidden=3"}, {"--clamp hidden=3", "class"});
  refuses({"sample", "run.npz", "-n", "0"}, {"-n 0"});
}

TEST_F(Tool, SamplesOfAHeldLabelLookLikeThatLabel) {
  std::string table;
  for (int i = 0; i < 50; ++i) table += "1,1,1,0,0,0,0\n0,0,0,1,1,1,1\n";
  write_bytes(folder / "halves.csv", table);
  // The exact gradient, because chains that change their mind slowly make a poor model of two patterns.
  succeed({"train",
           "--data",
           "halves.csv",
           "--label-column",
           "last",
           "--model",
           "classification_rbm",
           "--hidden",
           "4",
           "--gradient",
           "exact",
           "--optimizer",
           "centering",
           "--initial-weights",
           "0.1",
           "--rate-weights",
           "0.5",
           "--rate-bias",
           "0.5",
           "--updates",
           "200",
           "--batch",
           "50",
           "--out",
           "joint"});
  for (const int label : {0, 1}) {
    succeed({"sample", "joint", "--clamp", "label=" + std::to_string(label), "-n", "200", "--sweeps", "200", "--out",
             "x.npy"});
    const Array samples = read_npy(read_bytes(folder / "x.npy"));
    ASSERT_EQ(samples.shape, (std::vector<std::size_t>{200, 6}));
    double first_half = 0, second_half = 0;
    for (std::size_t i = 0; i < samples.values.size(); ++i)
      (i % 6 < 3 ? first_half : second_half) += samples.values[i] / 600;
    // A learnt model gives nearly 1 and 0, one that ignores the label 1/2 and 1/2 (standard error 0.035).
    EXPECT_GT(label == 0 ? first_half : second_half, 0.8) << "label " << label;
    EXPECT_LT(label == 0 ? second_half : first_half, 0.2) << "label " << label;
  }
  refuses({"sample", "joint", "--clamp", "label=2"}, {"--clamp label=2", "'2'", "2"});
  refuses({"sample", "joint", "--clamp", "label=-1"}, {"--clamp label=-1"});
}

}  // namespace
}  // namespace harmonium::testing
