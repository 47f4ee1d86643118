// `harmonium sample`: pictures and arrays of the right shape, units that can be held, repeatable draws, and every
// sampler with what it says of its chains.
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

TEST_F(Sample, ShowsRealValuesBetweenTheEndsOfTheData) {
  std::string text;
  for (int row = 0; row < 40; ++row)
    for (int column = 0; column < 4; ++column)
      text += std::to_string(100 + (row * 7 + column * 3) % 11) + ".5" + (column == 3 ? "\n" : ",");
  write_bytes(folder / "real.csv", text);
  succeed({"train", "--data", "real.csv", "--visible", "gaussian", "--hidden", "2", "--updates", "3", "--rate-weights",
           "1e-4", "--rate-bias", "1e-4", "--out", "real"});
  for (const std::string seed : {"1", "2"})
    succeed({"sample", "real", "-n", "4", "--sweeps", "5", "--seed", seed, "--out", seed + ".png"});
  EXPECT_NE(read_bytes(folder / "1.png"), read_bytes(folder / "2.png")) << "all white where values are cut at 1";
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

TEST_F(Sample, CompletesEveryRowOfATextTableWithoutBeingToldHowMany) {
  std::string text;
  for (int row = 0; row < 3; ++row) {
    text += row == 1 ? "0" : "1";
    for (int column = 1; column < 64; ++column) text += column % 2 == 0 ? ",1" : column % 3 == 0 ? ",NaN" : ",";
    text += "\n";
  }
  write_bytes(folder / "halves.csv", text);
  const Array samples = drawn({"--clamp", "halves.csv"});
  ASSERT_EQ(samples.shape, (std::vector<std::size_t>{3, 64}));
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(samples.values[64 * row], row == 1 ? 0 : 1);
    for (std::size_t column = 2; column < 64; column += 2) EXPECT_EQ(samples.values[64 * row + column], 1);
  }
  EXPECT_EQ(drawn({"--clamp", "halves.csv", "-n", "6", "--per-chain", "2"}).shape.at(0), 6U);
  EXPECT_EQ(drawn({"--clamp", "halves.csv", "--per-chain", "2"}).shape.at(0), 6U);
  refuses({"sample", "run.npz", "--clamp", "halves.csv", "-n", "5"}, {"3 rows", "5 samples", "without -n"});
}

TEST_F(Sample, RefusesWhatItCannotWriteOrHold) {
  write_bytes(folder / "samples.png", "earlier");
  write_bytes(folder / "narrow.npy", npy({{1, 3}, {0, 1, 0}}));
  write_bytes(folder / "two_rows.npy", npy({{2, 64}, std::vector<float>(128, 0)}));
  write_bytes(folder / "gray.npy", npy({{1, 64}, std::vector<float>(64, 7)}));
  refuses({"sample", "run.npz", "--out", "x.jpg"}, {"--out x.jpg", ".png", ".npy"});
  refuses({"sample", "run.npz", "--clamp", "nosuch.npy"}, {"nosuch.npy"});
  write_bytes(folder / "picture.png", "\x89PNG\r\n\x1a\n");
  refuses({"sample", "run.npz", "--clamp", "picture.png"}, {"--clamp picture.png", "NPY", "text table"});
  refuses({"sample", "run.npz", "--clamp", "narrow.npy"}, {"narrow.npy", "64"});
  refuses({"sample", "run.npz", "--clamp", "two_rows.npy", "-n", "5"}, {"2 rows", "5"});
  refuses({"sample", "run.npz", "--clamp", "gray.npy"}, {"gray.npy", "7", "[0, 1]"});
  refuses({"sample", "run.npz", "--clamp", "label=3"}, {"--clamp label=3", "'label'", "visible", "hidden"});
  refuses({"sample", "run.npz", "--clamp", "hidden=3"}, {"--clamp hidden=3", "class"});
  refuses({"sample", "run.npz", "-n", "0"}, {"-n 0"});
}

class Samplers : public Tool {
 protected:
  void SetUp() override {
    succeed(small_run("run", {"--hidden", "6", "--gradient", "exact", "--updates", "100", "--initial-weights", "0.1"}));
  }
  [[nodiscard]] ordered_json diagnosed(const std::string& sampler, const Arguments& more = {}) const {
    return json(Arguments{"sample", "run", "--sampler", sampler, "--diagnose", "--out", "x.npy"} +
                with_defaults(more, {{"-n", "20"}, {"--sweeps", "50"}, {"--trace", "100"}}))["diagnosis"];
  }
};

TEST_F(Samplers, AllDrawStatesOfTheModelAndSayHowManyTheyAreWorth) {
  for (const std::string sampler :
       {"gibbs", "parallel_tempering", "tempered_transitions", "herding", "rates_fpcd", "exact"}) {
    SCOPED_TRACE(sampler);
    const ordered_json found = diagnosed(sampler);
    const Array samples = read_npy(read_bytes(folder / "x.npy"));
    EXPECT_EQ(samples.shape, (std::vector<std::size_t>{20, 64}));
    for (const float value : samples.values) EXPECT_TRUE(value == 0 || value == 1) << value;
    EXPECT_EQ(found["chains"], sampler == "herding" ? 1 : 20);
    EXPECT_EQ(found["steps"], 100);
    const double time = found["slowest_autocorrelation_time"];
    EXPECT_GE(time, 1);
    EXPECT_GE(time, found["autocorrelation_time_of_log_f"].get<double>());
    EXPECT_NEAR(found["effective_samples"].get<double>() * time, 100 * found["chains"].get<double>(), 1e-6);
    const ordered_json classes = found["classes"];
    EXPECT_EQ(classes["classes"], 10);
    double states = 0;
    for (const ordered_json& each : classes["histogram"]) states += each.get<double>();
    EXPECT_EQ(states, 100 * found["chains"].get<double>());
    EXPECT_NE(classes["assigned_by"].get<std::string>().find("digits"), std::string::npos);
  }
}

// Every sampler but herding and rates-FPCD, which are biased, gives the activity of exact draws. That of a picture has
// a standard deviation of 0.048, a difference of two means of 200 one of 0.0048: four of those are allowed, three times
// (false-alarm rate 1e-4).
TEST_F(Samplers, AgreeWithExactDraws) {
  std::map<std::string, double> activity;
  for (const std::string sampler : {"exact", "gibbs", "pt", "tempered"}) {
    succeed({"sample", "run", "--sampler", sampler, "-n", "200", "--sweeps", "50", "--out", "x.npy"});
    const Array samples = read_npy(read_bytes(folder / "x.npy"));
    for (const float value : samples.values) activity[sampler] += value / static_cast<double>(samples.values.size());
    EXPECT_NEAR(activity[sampler], activity["exact"], 0.02) << sampler;
  }
}

TEST_F(Samplers, SayWhatIsTheirOwn) {
  const ordered_json tempering = diagnosed("pt", {"--rungs", "5"})["sampler"];
  EXPECT_EQ(tempering["ladder"].size(), 5U);
  EXPECT_EQ(tempering["exchange_acceptance"].size(), 4U);
  EXPECT_GT(tempering["round_trips"], 0);
  const double acceptance = diagnosed("tempered", {"--rungs", "5"})["sampler"]["acceptance"];
  EXPECT_GT(acceptance, 0);
  EXPECT_LE(acceptance, 1);
  const ordered_json herding = diagnosed("herding")["sampler"];
  EXPECT_EQ(herding["steps"], 150);
  EXPECT_GT(herding["moment_error"], 0);
}

// 20 × 500 independent values: the relative standard error of τ is √(14 / 10 000) = 0.04; the largest of seven is
// below 1.25 but for one case in 1e6.
TEST_F(Samplers, FindNoMemoryInExactDraws) {
  const ordered_json found = diagnosed("exact", {"--trace", "500"});
  EXPECT_LT(found["slowest_autocorrelation_time"], 1.25);
  const ordered_json classes = found["classes"];
  EXPECT_NEAR(classes["jumps_per_100_steps"].get<double>(), classes["jumps_per_100_if_independent"].get<double>(), 3);
}

TEST_F(Samplers, RatesFpcdWithoutAFastRateForgetsAsSlowlyAsGibbsSampling) {
  // Not the same draws: sweeps of the tool begin with the other layer.
  const double slow = diagnosed("gibbs", {"--trace", "500"})["slowest_autocorrelation_time"];
  const double off = diagnosed("rates_fpcd", {"--trace", "500", "--fast-rate", "0"})["slowest_autocorrelation_time"];
  EXPECT_NEAR(off / slow, 1, 0.4);
}

TEST_F(Samplers, LayStatesOfOneChainInARow) {
  const Arguments question = {"sample", "run", "--sweeps", "10", "--every", "3", "--out"};
  succeed(question + Arguments{"film.npy", "-n", "8", "--per-chain", "4"});
  const Array film = read_npy(read_bytes(folder / "film.npy"));
  ASSERT_EQ(film.shape, (std::vector<std::size_t>{8, 64}));
  // States of the same two chains, three sweeps apart, are those of runs that stop there.
  for (const int state : {0, 1, 3}) {
    succeed({"sample", "run", "--sweeps", std::to_string(10 + 3 * state), "-n", "2", "--out", "last.npy"});
    const Array last = read_npy(read_bytes(folder / "last.npy"));
    for (std::size_t chain = 0; chain < 2; ++chain)
      for (std::size_t i = 0; i < 64; ++i)
        ASSERT_EQ(film.values[(4 * chain + static_cast<std::size_t>(state)) * 64 + i], last.values[64 * chain + i]);
  }
  EXPECT_EQ(json(question + Arguments{"film.png", "--per-chain", "4"})["chains"], 10);
}

TEST_F(Samplers, StartWhereTheyAreTold) {
  const auto activity = [&](const std::string& start) {
    succeed({"sample", "run", "--start", start, "--sweeps", "0", "-n", "200", "--out", "x.npy"});
    double sum = 0;
    const Array samples = read_npy(read_bytes(folder / "x.npy"));
    for (const float value : samples.values) sum += value;
    // The corner of the picture is never on in the digits.
    return std::pair{sum / static_cast<double>(samples.values.size()), samples.values[0]};
  };
  // 12 800 coins: 0.5 ± 0.0044, five standard errors.
  EXPECT_NEAR(activity("noise").first, 0.5, 0.022);
  EXPECT_LT(activity("data").first, 0.45);
  refuses({"sample", "run", "--start", "nowhere"}, {"--start nowhere", "biases", "noise", "data"});
}

TEST_F(Samplers, WangLandauGivesTheDensityOfStatesAndLogZ) {
  Array weights{{6, 4}, std::vector<float>(24)};
  for (std::size_t i = 0; i < 24; ++i) weights.values[i] = static_cast<float>(i * 37 % 19) / 9 - 1;
  write_bytes(folder / "tiny.npz", npz({{"W", weights},
                                        {"visible_bias", {{6}, std::vector<float>(6, -0.5F)}},
                                        {"hidden_bias", {{4}, std::vector<float>(4, 0.5F)}}}));
  const ordered_json found = json({"sample", "tiny.npz", "--sampler", "wang_landau", "--out", "density.json"});
  EXPECT_EQ(found["flat"], true);
  // Its own standard error, five times, and a floor for an error that came out small.
  EXPECT_NEAR(found["log_z"].get<double>(), found["exact_log_z"].get<double>(),
              5 * found["standard_error"].get<double>() + 0.01);
  double all = 0;
  for (const ordered_json& each : found["log_states"]) all += std::exp(each.get<double>());
  EXPECT_NEAR(all, 64, 1e-6) << "states of six visible units";
  EXPECT_EQ(ordered_json::parse(read_bytes(folder / "density.json")), found);
  succeed({"sample", "tiny.npz", "--sampler", "wang_landau", "--bin-width", "3", "--out", "density.html"});
  EXPECT_NE(read_bytes(folder / "density.html").find("log number of states"), std::string::npos);
  succeed(small_run("large", {"--hidden", "150", "--updates", "5"}));
  refuses({"sample", "large", "--sampler", "wang_landau"}, {"214 units", "evaluate", "parallel_tempering"});
  refuses({"sample", "tiny.npz", "--sampler", "wang_landau", "--out", "x.png"}, {".html", ".json"});
}

TEST_F(Samplers, RefuseWhatTheyCannotDo) {
  write_bytes(folder / "model.safetensors", model_bytes("run"));
  refuses({"sample", "run", "--sampler", "dance"},
          {"unknown sampler 'dance'", "gibbs", "parallel_tempering", "wang_landau"});
  refuses({"sample", "run", "--sampler", "pt", "--clamp", "x.npy"}, {"--clamp x.npy", "gibbs", "parallel_tempering"});
  refuses({"sample", "model.safetensors", "--sampler", "herding"}, {"herding", "model.safetensors", "--data"});
  refuses({"sample", "model.safetensors", "--start", "data"}, {"--start data", "--data"});
  refuses({"sample", "run", "--sampler", "rates_fpcd", "--data", "bars_and_stripes"},
          {"bars_and_stripes", "columns", "64"});
  refuses({"sample", "run", "--rungs", "5"}, {"--rungs 5", "gibbs", "parallel_tempering"});
  refuses({"sample", "run", "--sampler", "pt", "--rungs", "1"}, {"--rungs 1"});
  refuses({"sample", "run", "-n", "10", "--per-chain", "4"}, {"-n 10", "--per-chain 4", "12"});
  refuses({"sample", "run", "--diagnose", "--trace", "3"}, {"--trace 3"});
  refuses({"sample", "run", "--diagnose", "--labels", "bars_and_stripes"}, {"bars_and_stripes"});
  refuses({"sample", "run", "--every", "0"}, {"--every 0"});
  succeed({"sample", "model.safetensors", "--sampler", "herding", "--data", "digits", "--sweeps", "5", "-n", "3"});
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
  // All classes at once, one after the other; one of them by its short form.
  succeed({"sample", "joint", "--clamp-label", "all", "-n", "400", "--sweeps", "200", "--out", "all.npy"});
  const Array all = read_npy(read_bytes(folder / "all.npy"));
  ASSERT_EQ(all.shape, (std::vector<std::size_t>{400, 6}));
  double as_held = 0;
  for (std::size_t i = 0; i < all.values.size(); ++i)
    if ((i % 6 < 3) == (i < 1200)) as_held += all.values[i] / 1200;
  EXPECT_GT(as_held, 0.8);
  succeed({"sample", "joint", "--clamp", "label=1", "--sweeps", "20", "--out", "x.npy"});
  succeed({"sample", "joint", "--clamp-label", "1", "--sweeps", "20", "--out", "y.npy"});
  EXPECT_TRUE(read_bytes(folder / "x.npy") == read_bytes(folder / "y.npy"));
  EXPECT_EQ(json({"sample", "joint", "--clamp-label", "all", "--sweeps", "5", "--means", "--out", "x.png"})["samples"],
            20);
  refuses({"sample", "joint", "--clamp-label", "all", "-n", "5"}, {"-n 5", "2 classes", "6"});
  refuses({"sample", "joint", "--clamp-label", "all", "--sampler", "pt"}, {"--clamp-label all", "gibbs"});
  refuses({"sample", "joint", "--clamp-label", "some"}, {"--clamp-label some", "all"});
  refuses({"sample", "joint", "--clamp-label", "2"}, {"label=2", "'2'"});
  refuses({"sample", "joint", "--clamp", "label=2"}, {"--clamp label=2", "'2'", "2"});
  refuses({"sample", "joint", "--clamp", "label=-1"}, {"--clamp label=-1"});
}

TEST_F(Tool, AJointModelTellsTheClassOfAStateByItsOwnLabel) {
  succeed(small_run("joint", {"--model", "classification_rbm"}));
  const ordered_json classes = json({"sample", "joint", "-n", "5", "--sweeps", "20", "--diagnose", "--trace", "50",
                                     "--out", "x.npy"})["diagnosis"]["classes"];
  EXPECT_NE(classes["assigned_by"].get<std::string>().find("'label'"), std::string::npos);
  EXPECT_EQ(classes["classes"], 10);
  EXPECT_TRUE(classes["assignment_accuracy"].is_null());
}

}  // namespace
}  // namespace harmonium::testing
