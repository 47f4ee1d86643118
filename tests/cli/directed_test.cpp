// Autoregressive models and belief nets as users meet them: log p of single rows, ensembles of orders, completions.
#include <cmath>
#include <limits>

#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class DirectedModels : public Tool {
 protected:
  [[nodiscard]] double mean_of_rows(const std::string& file) const {
    std::istringstream lines(read_bytes(folder / file));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, "row,log_likelihood");
    double sum = 0;
    int rows = 0;
    for (; std::getline(lines, line); ++rows) {
      EXPECT_TRUE(line.starts_with(std::to_string(rows) + ",")) << line;
      sum += std::stod(line.substr(line.find(',') + 1));
    }
    EXPECT_EQ(rows, 30);
    return sum / rows;
  }
  [[nodiscard]] ordered_json judged(const std::string& run, const Arguments& more = {}) const {
    return json(Arguments{"evaluate", run, "--data", "digits:test", "--limit", "30"} + more);
  }
};

TEST_F(DirectedModels, WriteTheLogLikelihoodOfEveryRowWhoseMeanIsTheAnswer) {
  const std::vector<Arguments> models = {
      {"--model", "fvbn"},
      {"--model", "neural_autoregressive", "--group", "2"},
      {"--model", "made", "--layers", "8", "--masks", "2"},
      {"--model", "orderless_nade", "--layers", "8", "--orders", "2", "--refinements", "2"},
      {"--model", "pixel_net", "--channels", "4", "--blocks", "2"},
      {"--model", "sbn", "--latent", "8,4", "--objective", "rws:3"},
      {"--model", "vae", "--latent", "6,3", "--layers", "8/5", "--objective", "iwae:3"},
      {"--model", "ladder", "--latent", "4,3", "--channels", "8", "--free-nats", "0.5", "--warm-up", "20"},
      {"--model", "rbm"}};
  for (const Arguments& model : models) {
    SCOPED_TRACE(model[1]);
    succeed(small_run(model[1], model));
    const ordered_json answer = judged(model[1], {"--rows-out", "rows.csv", "--importance", "50"});
    EXPECT_NEAR(mean_of_rows("rows.csv"), answer.at("log_likelihood").at("value").get<double>(), 1e-9);
    (void)judged(model[1], {"--rows-out", "rows.npy", "--importance", "50"});
    EXPECT_TRUE(read_bytes(folder / "rows.npy").starts_with("\x93NUMPY"));
  }
  refuses({"evaluate", "fvbn", "--data", "digits:test", "--rows-out", "rows.txt"}, {"rows.txt", ".npy or .csv"});
  refuses({"evaluate", "rbm", "--rows-out", "rows.csv"}, {"--rows-out", "--data"});
}

TEST_F(DirectedModels, LearnByEveryObjectiveAndBaseline) {
  const std::vector<Arguments> ways = {{"sbn", "straight_through"},
                                       {"sbn", "concrete:2"},
                                       {"sbn", "bihm:3"},
                                       {"sbn", "em:2"},
                                       {"sbn", "elbo:1", "--baseline", "optimal"},
                                       {"sbn", "elbo:3", "--baseline", "mean", "--normalize", "yes"},
                                       {"vae", "stick"},
                                       {"vae", "plain_iwae:3"}};
  for (const Arguments& way : ways) {
    SCOPED_TRACE(way[1]);
    Arguments more = {"--model", way[0], "--objective", way[1], "--latent", "6", "--overwrite"};
    more.insert(more.end(), way.begin() + 2, way.end());
    EXPECT_EQ(json(small_run("way", more)).at("updates").get<int>(), 60);
  }
}

// Σ_x p*(x) over all sixteen rows; Z² from 2000 rows is known to a few per cent.
TEST_F(DirectedModels, OfTwoNetsThatMeetHalfwayHaveProbabilitiesThatAddUpToOne) {
  std::string table = "a,b,c,d\n";
  for (int number = 0; number < 16; ++number)
    table += std::to_string(number & 1) + "," + std::to_string(number >> 1 & 1) + "," +
             std::to_string(number >> 2 & 1) + "," + std::to_string(number >> 3) + "\n";
  write_bytes(folder / "all.csv", table);
  succeed({"train", "--data", "all.csv", "--model", "sbn", "--latent", "3", "--objective", "bihm:5", "--updates", "100",
           "--out", "net"});
  const auto judged_by = [&](const Arguments& more) {
    return json(Arguments{"evaluate", "net", "--data", "all.csv", "--rows-out", "rows.csv"} + more);
  };
  const ordered_json answer = judged_by({"--method", "bihm", "--importance", "4000"});
  EXPECT_EQ(answer.at("log_likelihood").at("kind"), "estimate");
  EXPECT_NE(answer.at("verdict").get<std::string>().find("log Z²"), std::string::npos);
  std::istringstream lines(read_bytes(folder / "rows.csv"));
  double sum = 0;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && std::isdigit(static_cast<unsigned char>(line[0])) != 0)
      sum += std::exp(std::stod(line.substr(line.find(',') + 1)));
  EXPECT_NEAR(sum, 1, 0.05);
  const ordered_json bound = judged_by({"--importance", "4000"});
  EXPECT_EQ(bound.at("log_likelihood").at("kind"), "lower bound");
  refuses({"evaluate", "net", "--data", "all.csv", "--method", "ais"}, {"--method ais", "bihm", "--importance"});
}

TEST_F(DirectedModels, WithAutoregressiveLayersAreTrainedJudgedSampledAndStudied) {
  const Arguments nades = {"--model", "sbn", "--latent", "8,4", "--layer", "nade", "--objective", "rws:3"};
  const Arguments mixed = {"--model",        "sbn",     "--latent",       "3",           "--inference-layer",
                           "autoregressive", "--prior", "autoregressive", "--objective", "vimco:3"};
  for (const auto& [name, options] : {std::pair{"nades", nades}, {"mixed", mixed}}) {
    SCOPED_TRACE(name);
    succeed(small_run(name, options));
    const ordered_json answer = judged(name, {"--importance", "50", "--rows-out", "rows.csv"});
    EXPECT_EQ(answer.at("log_likelihood").at("kind"), "lower bound");
    EXPECT_NEAR(mean_of_rows("rows.csv"), answer.at("log_likelihood").at("value").get<double>(), 1e-9);
    succeed({"sample", name, "-n", "4", "--out", "x.npy"});
    EXPECT_EQ(read_npy(read_bytes(folder / "x.npy")).values.size(), 256U);
    succeed({"report", name});
    succeed({"encode", name, "--data", "digits:test", "--out", "codes.csv"});
    refuses({"evaluate", name, "--data", "digits:test", "--method", "mean_field"}, {"mean_field", "factorial"});
  }
  const ordered_json study = json({"gradients", "mixed", "--draws", "2", "--rows", "1", "--repetitions", "20"});
  EXPECT_EQ(study.dump().find("straight_through"), std::string::npos);
  EXPECT_NE(study.dump().find("vimco:2"), std::string::npos);
  refuses(small_run("x", {"--model", "sbn", "--layer", "nade", "--objective", "concrete"}), {"concrete", "relaxed"});
  refuses(small_run("x", {"--model", "sbn", "--layer", "darn"}), {"darn", "autoregressive"});
  refuses(small_run("x", {"--model", "neural_autoregressive", "--group", "100000"}), {"--group", "weights", "nade"});
}

TEST_F(DirectedModels, UnderAnRbmAreTrainedJudgedAndSampled) {
  const Arguments options = {"--model", "sbn",    "--latent",          "10,24", "--objective", "rws:3",
                             "--prior", "rbm:24", "--prior-particles", "50"};
  succeed(small_run("whole", options));
  const ordered_json whole = judged("whole", {"--method", "sandwich", "--chains", "50", "--betas", "200",
                                              "--importance", "50", "--rows-out", "rows.csv"});
  EXPECT_EQ(whole.at("importance"), 50);
  EXPECT_EQ(whole.at("log_likelihood").at("kind"), "estimate of a lower bound");
  EXPECT_TRUE(whole.at("gap").is_number() && whole.at("upper_log_z").is_object());
  for (const char* part : {"log Z of the prior", "own", "Gibbs chains"})
    EXPECT_NE(whole.at("verdict").get<std::string>().find(part), std::string::npos) << whole.at("verdict");
  EXPECT_NEAR(mean_of_rows("rows.csv"), whole.at("log_likelihood").at("value").get<double>(), 1e-9);
  const ordered_json alone = json({"evaluate", "whole", "--method", "ais", "--chains", "50", "--betas", "100"});
  EXPECT_TRUE(alone.at("log_likelihood").is_null());
  succeed({"sample", "whole", "-n", "4", "--sweeps", "5", "--out", "x.npy"});
  EXPECT_EQ(read_npy(read_bytes(folder / "x.npy")).values.size(), 256U);
  refuses({"evaluate", "whole", "--data", "digits:test", "--method", "bihm"}, {"--method bihm", "RBM"});
  refuses({"gradients", "whole"}, {"factorial prior"});
  refuses(small_run("x", {"--model", "sbn", "--prior", "rbm:0"}), {"--prior rbm:0", "factorial"});
  refuses(small_run("x", {"--model", "sbn", "--prior-rate", "0.1"}), {"--prior-rate", "--prior rbm:N"});
}

TEST_F(DirectedModels, AreJudgedByAsManyOrdersAsAskedFor) {
  succeed(small_run("any", {"--model", "orderless_nade", "--layers", "8", "--orders", "2"}));
  const ordered_json two = judged("any"), five = judged("any", {"--orders", "5"}),
                     again = judged("any", {"--orders", "2"});
  EXPECT_EQ(two.at("log_likelihood").at("kind"), "exact");
  EXPECT_NE(five.at("log_likelihood").at("method").get<std::string>().find("5 orders"), std::string::npos);
  EXPECT_NE(five.at("log_likelihood").at("value"), two.at("log_likelihood").at("value"));
  EXPECT_EQ(again.at("log_likelihood").at("value"), two.at("log_likelihood").at("value"));
  succeed(small_run("nade", {"--model", "nade"}));
  refuses({"evaluate", "nade", "--data", "digits:test", "--orders", "5"}, {"--orders 5", "NADE"});
}

TEST_F(DirectedModels, CompleteRowsAndKeepWhatIsKnown) {
  succeed(small_run("any", {"--model", "orderless_nade", "--layers", "8"}));
  succeed(small_run("net", {"--model", "made", "--layers", "8"}));
  succeed(small_run("pixels", {"--model", "pixel_net", "--channels", "4", "--blocks", "2"}));
  succeed(small_run("vae", {"--model", "vae", "--layers", "8", "--latent", "2"}));
  Array known{{2, 64}, std::vector<float>(128, std::numeric_limits<float>::quiet_NaN())};
  for (std::size_t i = 0; i < 64; i += 2) known.values[i] = known.values[65 + i] = static_cast<float>(i % 4 == 0);
  write_bytes(folder / "known.npy", npy(known));
  const auto drawn = [&](const std::string& run, const std::string& file) {
    succeed({"sample", run, "--clamp", file, "-n", "2", "--out", "x.npy"});
    return read_npy(read_bytes(folder / "x.npy"));
  };
  const Array filled = drawn("any", "known.npy");
  ASSERT_EQ(filled.values.size(), 128U);
  for (std::size_t i = 0; i < 128; ++i)
    if (std::isnan(known.values[i]))
      EXPECT_TRUE(filled.values[i] == 0 || filled.values[i] == 1);
    else
      EXPECT_EQ(filled.values[i], known.values[i]) << i;
  refuses({"sample", "net", "--clamp", "known.npy", "-n", "2", "--out", "x.npy"}, {"same known"});
  refuses({"sample", "vae", "--clamp", "known.npy", "-n", "2", "--out", "x.npy"},
          {"--clamp known.npy", "orderless_nade"});
  refuses({"sample", "pixels", "--clamp", "known.npy", "-n", "2", "--out", "x.npy"}, {"same known"});
  Array upper{{64}, std::vector<float>(64, std::numeric_limits<float>::quiet_NaN())};
  for (std::size_t i = 0; i < 32; ++i) upper.values[i] = 1;
  write_bytes(folder / "upper.npy", npy(upper));
  for (const char* run : {"net", "pixels"}) {
    const Array lower = drawn(run, "upper.npy");
    for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(lower.values[i], 1) << run << " " << i;
  }
}

TEST_F(DirectedModels, OfPicturesAskForTheirShapeAndForOptionsThatGoTogether) {
  std::string table;
  for (int row = 0; row < 40; ++row)
    for (int i = 0; i < 6; ++i) table += std::string(row * (i + 3) % 5 < 2 ? "1" : "0") + (i < 5 ? "," : "\n");
  write_bytes(folder / "bits.csv", table);
  const Arguments of_table = {"train", "--model",    "pixel_net", "--data",   "bits.csv", "--updates",
                              "3",     "--channels", "4",         "--blocks", "2"};
  refuses(of_table + Arguments{"--out", "x"}, {"bits.csv", "rows of 6", "--shape HEIGHTxWIDTH"});
  succeed(of_table + Arguments{"--shape", "2x3", "--out", "picture"});
  EXPECT_EQ(json({"evaluate", "picture", "--data", "bits.csv"}).at("log_likelihood").at("kind"), "exact");
  const auto fails = [&](const Arguments& options, const std::vector<std::string>& words) {
    refuses(Arguments{"train", "--model", "pixel_net", "--data", "digits", "--out", "x"} + options, words);
  };
  fails({"--kernel", "4"}, {"--kernel 4", "odd"});
  fails({"--blocks", "2", "--attention", "3"}, {"--attention 3", "--blocks"});
  fails({"--dropout", "1"}, {"--dropout", "below 1"});
  fails({"--visible", "gaussian"}, {"--visible gaussian", "binary pictures"});
}

// Real values in other units are the same model: every number of a log-density differs by the logarithm of the unit.
TEST_F(DirectedModels, OfRealValuesAnswerInTheUnitsOfTheData) {
  std::string one, hundred, grades;
  for (int row = 0; row < 60; ++row) {
    const double a = std::sin(1.7 * row), b = 0.5 * a + std::cos(2.9 * row);
    one += std::to_string(a) + "," + std::to_string(b) + "\n";
    hundred += std::to_string(100 * a) + "," + std::to_string(b) + "\n";
    grades += std::to_string(a) + "," + std::to_string(row % 5 + 0.5) + "\n";
  }
  write_bytes(folder / "one.csv", one);
  write_bytes(folder / "hundred.csv", hundred);
  write_bytes(folder / "grades.csv", grades);
  const auto value = [&](const std::string& name) {
    succeed({"train", "--model", "rnade", "--data", name + ".csv", "--scale", "standardize", "--hidden", "5",
             "--orders", "2", "--dropout", "0.2", "--updates", "30", "--out", name});
    const ordered_json found = json({"evaluate", name, "--data", name + ".csv"}).at("log_likelihood");
    EXPECT_EQ(found.at("kind"), "exact");
    EXPECT_NE(found.at("method").get<std::string>().find("standardized columns add"), std::string::npos);
    return found.at("value").get<double>();
  };
  EXPECT_NEAR(value("one") - value("hundred"), std::log(100.0), 1e-3);
  succeed({"sample", "one", "-n", "4", "--out", "x.npy"});
  EXPECT_EQ(read_npy(read_bytes(folder / "x.npy")).values.size(), 8U);
  refuses({"train", "--model", "rnade", "--data", "grades.csv", "--out", "x"},
          {"column 2", "5 different", "--columns"});
  succeed({"train", "--model", "orderless_nade", "--data", "one.csv", "--visible", "gaussian", "--components", "3",
           "--layers", "5", "--orders", "2", "--updates", "5", "--out", "any"});
  EXPECT_EQ(json({"evaluate", "any", "--data", "one.csv"}).at("log_likelihood").at("kind"), "exact");
  refuses({"train", "--model", "orderless_nade", "--components", "3", "--out", "x"}, {"--components 3", "bernoulli"});
  refuses({"train", "--model", "rnade", "--data", "one.csv", "--orders", "3", "--order", "raster", "--out", "x"},
          {"--orders 3", "raster"});
  refuses({"train", "--model", "rnade", "--data", "digits", "--visible", "bernoulli", "--out", "x"}, {"real values"});
}

TEST_F(DirectedModels, WithRealLatentsAreAnnealedRowByRow) {
  write_bytes(folder / "old.toml", "model = \"vae\"\nlatent = 3\nlayers = \"8\"\nupdates = 20\n");  // as ever
  succeed({"train", "old.toml", "--out", "vae"});
  succeed(small_run("pictures", {"--model", "ladder", "--net", "conv", "--latent", "1,2", "--channels", "4"}));
  succeed(small_run("painter", {"--model", "draw", "--steps", "2", "--latent", "2", "--hidden", "8"}));
  for (const char* run : {"vae", "pictures", "painter"}) {
    SCOPED_TRACE(run);
    const Arguments ais = {"--method", "ais", "--chains", "2", "--betas", "3", "--importance", "20"};
    const ordered_json some = judged(run, ais + Arguments{"--rows", "10"});
    EXPECT_EQ(some.at("n"), 10);
    EXPECT_EQ(some.at("log_likelihood").at("kind"), "lower bound");
    EXPECT_EQ(some.at("log_likelihood").at("method"), "ais from the encoder, 10 of 30 rows");
    EXPECT_EQ(some.at("log_likelihood").at("betas"), 3);
    EXPECT_NE(some.at("verdict").get<std::string>().find("all 30 rows"), std::string::npos);
    const ordered_json all = judged(run, ais + Arguments{"--base", "prior", "--rows-out", "rows.csv"});
    EXPECT_EQ(all.at("log_likelihood").at("method"), "ais from the prior");
    EXPECT_NEAR(mean_of_rows("rows.csv"), all.at("log_likelihood").at("value").get<double>(), 1e-9);
  }
  const Arguments again = {"evaluate", "vae",      "--data", "digits:test", "--limit", "30",    "--method",
                           "ais",      "--chains", "2",      "--betas",     "3",       "--rows"};
  EXPECT_NE(succeed(again + Arguments{"10"}).out.find("2 chains × 3 β of each row"), std::string::npos);
  const Outcome partial = harmonium(again + Arguments{"10", "--rows-out", "rows.csv"});  // the answer is not lost
  EXPECT_EQ(partial.code, 2);
  EXPECT_NE(partial.err.find("--rows-out rows.csv"), std::string::npos) << partial.err;
  refuses(again + Arguments{"1"}, {"--rows 1"});
  refuses({"evaluate", "vae", "--data", "digits:test", "--method", "sandwich"}, {"--method sandwich", "ais"});
  refuses({"evaluate", "vae", "--data", "digits:test", "--method", "ais", "--base", "uniform"},
          {"--base uniform", "prior"});
}

TEST_F(DirectedModels, ShowWhatTheirLatentVariablesDo) {
  succeed(small_run("plane", {"--model", "vae", "--layers", "8", "--latent", "2"}));
  succeed(small_run("pictures", {"--model", "vae", "--net", "conv", "--channels", "4", "--latent", "5", "--binarize",
                                 "levels", "--components", "2"}));
  succeed(small_run("painter", {"--model", "draw", "--steps", "2", "--latent", "3", "--hidden", "8"}));
  succeed(small_run("rbm", {}));
  const auto rows_of = [&](const Arguments& more) {
    const ordered_json answer = json(Arguments{"sample"} + more + Arguments{"--out", "x.npy"});
    const Array shown = read_npy(read_bytes(folder / "x.npy"));
    EXPECT_EQ(shown.shape, (std::vector<std::size_t>{answer.at("samples").get<std::size_t>(), 64}));
    for (const float value : shown.values) EXPECT_TRUE(value >= 0 && value <= 1) << value;
    return answer.at("samples").get<int>();
  };
  EXPECT_EQ(rows_of({"plane", "--grid", "-n", "9"}), 9);
  for (const char* run : {"pictures", "painter"}) {
    EXPECT_EQ(rows_of({run, "--traverse", "-n", "3"}), 3 * 9);
    EXPECT_EQ(rows_of({run, "--interpolate", "4", "-n", "2", "--data", "digits:test"}), 2 * 6);
    EXPECT_EQ(rows_of({run, "--posterior", "-n", "2"}), 2 * 12);
  }
  succeed({"sample", "plane", "--grid", "--out", "plane.png"});
  EXPECT_TRUE(read_bytes(folder / "plane.png").starts_with("\x89PNG"));
  refuses({"sample", "pictures", "--grid"}, {"--grid", "5", "--traverse"});
  refuses({"sample", "plane", "--grid", "-n", "5"}, {"-n 5", "4 would do"});
  refuses({"sample", "plane", "--grid", "--traverse"}, {"one of them"});
  refuses({"sample", "plane", "--interpolate", "1"}, {"--interpolate 1"});
  refuses({"sample", "plane", "--traverse", "--clamp-label", "3"}, {"--clamp"});
  refuses({"sample", "rbm", "--traverse"}, {"rbm", "no latent variables with a decoder", "evaluate"});
}

TEST_F(DirectedModels, KeepPicturesGrayAndCountProbabilitiesOfTheirLevels) {
  succeed(small_run("gray", {"--model", "vae", "--layers", "8", "--latent", "3", "--binarize", "levels"}));
  const ordered_json answer = judged("gray", {"--importance", "50"});
  EXPECT_EQ(answer.at("binarization"), "levels (probabilities of 17 stored values)");
  const double value = answer.at("log_likelihood").at("value").get<double>();
  EXPECT_NEAR(answer.at("bits_per_dimension").get<double>(), -value / (64 * std::log(2.0)), 1e-9);
  EXPECT_LT(answer.at("bits_per_dimension").get<double>(), std::log2(17.0)) << "worse than equal probabilities";
  ASSERT_EQ(answer.at("bounds").size(), 3U) << "of 1, 10 and 50 draws";
  EXPECT_EQ(answer.at("bounds")[2].at("draws"), 50);
  EXPECT_EQ(answer.at("bounds")[2].at("value"), answer.at("log_likelihood").at("value"));
  EXPECT_TRUE(answer.at("heavy_rows").is_number());
  EXPECT_NE(succeed({"evaluate", "gray", "--data", "digits:test", "--limit", "30", "--importance", "50"})
                .out.find("probabilities of the stored gray levels"),
            std::string::npos);
  succeed(small_run("bits", {"--model", "vae", "--layers", "8", "--latent", "3"}));
  (void)judged("bits", {"--importance", "50"});
  refuses({"compare", "gray", "bits"}, {"levels", "stochastic"});
  refuses({"evaluate", "gray", "--data", "digits:test", "--binarize", "stochastic"}, {"gray level"});
  refuses({"train", "--data", "digits", "--model", "vae", "--net", "conv", "--layers", "20", "--out", "x"},
          {"--layers 20", "--net conv"});
  refuses({"train", "--data", "digits", "--model", "vae", "--channels", "8", "--out", "x"}, {"--net conv"});
  refuses({"train", "--data", "digits", "--model", "vae", "--net", "conv", "--halvings", "9", "--out", "x"},
          {"--halvings 9", "8 × 8"});
}

TEST_F(DirectedModels, SayWhichObjectivesABeliefNetHas) {
  refuses({"train", "--model", "sbn", "--objective", "reinforce", "--out", "x"}, {"reinforce", "vimco", "nvil"});
  refuses({"train", "--model", "sbn", "--objective", "vimco:1", "--out", "x"}, {"--objective vimco:1", "2"});
  refuses({"train", "--model", "sbn", "--objective", "vimco:2", "--baseline", "net", "--out", "x"},
          {"--baseline", "nvil"});
  refuses({"train", "--model", "vae", "--objective", "vimco", "--out", "x"}, {"vimco", "iwae"});
  refuses({"train", "--model", "sbn", "--latent", "20,x", "--out", "x"}, {"--latent 20,x", "200,200"});
  refuses({"train", "--model", "made", "--masks", "0", "--out", "x"}, {"--masks 0"});
  refuses({"train", "--model", "orderless_nade", "--refinements", "0", "--out", "x"}, {"--refinements 0"});
  EXPECT_NE(succeed({"train", "--model", "sbn", "--help"}).out.find("vimco:K"), std::string::npos);
}

}  // namespace
}  // namespace harmonium::testing
