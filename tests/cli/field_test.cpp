// Models whose visible units are joined to each other, from the command line.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Field : public Tool {
 protected:
  [[nodiscard]] static Arguments tiny(const std::string& model, const Arguments& more = {}) {
    return small_run(model, Arguments{"--data", "bars_and_stripes", "--model", model} + more);
  }
};

TEST_F(Field, IsTrainedJudgedSampledAndReported) {
  for (const std::string model : {"mrf", "semi_restricted"}) {
    succeed(tiny(model));
    const ordered_json exact = json({"evaluate", model, "--data", "bars_and_stripes:test", "--method", "exact"});
    const ordered_json ais = json(
        {"evaluate", model, "--data", "bars_and_stripes:test", "--method", "ais", "--chains", "200", "--betas", "300"});
    // 300 steps on 16 units: an interval of a few hundredths, and an error within a tenth.
    EXPECT_NEAR(exact["log_likelihood"]["value"].get<double>(), ais["log_likelihood"]["value"].get<double>(), 0.1);
    succeed({"sample", model, "--sampler", "pt", "--sweeps", "20", "--out", "x.png"});
    succeed({"sample", model, "--sampler", "exact", "--out", "y.png"});
    EXPECT_TRUE(fs::exists(folder / "y.png"));
  }
  const std::string report = read_bytes(folder / "mrf/report.html");
  EXPECT_NE(report.find("Couplings"), std::string::npos);
  EXPECT_NE(report.find("Markov random field on bars_and_stripes"), std::string::npos);
}

TEST_F(Field, LearnsByEveryGradientThatSuitsIt) {
  for (const std::string gradient : {"pcd", "fpcd", "cd", "pl", "exact", "pt", "tempered"})
    succeed(small_run(gradient,
                      {"--data", "bars_and_stripes", "--model", "mrf", "--gradient", gradient, "--updates", "12"}));
  const Outcome refused = harmonium(tiny("mrf", {"--gradient", "mf_cd"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("mf_cd"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(folder / "mrf")) << "a mistake must show before anything is written";
}

TEST_F(Field, SaysWhichOptimizersAndSamplersDoNotKnowIt) {
  const Outcome optimizer = harmonium(tiny("mrf", {"--optimizer", "low_rank"}));
  EXPECT_EQ(optimizer.code, 2);
  EXPECT_NE(optimizer.err.find("edges inside a layer"), std::string::npos) << optimizer.err;
  EXPECT_FALSE(fs::exists(folder / "mrf")) << "a mistake must show before anything is written";
  succeed(tiny("mrf"));
  for (const std::string sampler : {"herding", "rates_fpcd", "wang_landau"}) {
    const Outcome refused = harmonium({"sample", "mrf", "--sampler", sampler});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("inside a layer"), std::string::npos) << refused.err;
  }
}

TEST_F(Field, OfSoftmaxGroupsIsAPottsModel) {
  // Rows of three one-hot groups of two values each, as a text table.
  std::string table;
  for (int row = 0; row < 40; ++row)
    for (int group = 0; group < 3; ++group)
      table += std::string((row * 7 + group * 3) % 5 < 2 ? "0,1" : "1,0") + (group < 2 ? "," : "\n");
  write_bytes(folder / "groups.csv", table);
  succeed(small_run("potts", {"--data", "groups.csv", "--visible", "softmax:2", "--model", "mrf"}));
  const ordered_json answer = json({"evaluate", "potts", "--data", "groups.csv"});
  EXPECT_EQ(answer["log_z"]["kind"], "exact");
  EXPECT_GT(answer["log_likelihood"]["value"].get<double>(), -3 * 0.7) << "worse than coins";
}

}  // namespace
}  // namespace harmonium::testing
