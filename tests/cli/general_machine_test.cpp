// General Boltzmann machines from the command line.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class GeneralMachine : public Tool {
 protected:
  [[nodiscard]] static Arguments tiny(const std::string& out, const Arguments& more = {}) {
    return small_run(out, Arguments{"--data", "bars_and_stripes", "--model", "boltzmann"} +
                              with_defaults(more, {{"--hidden", "4"}, {"--particles", "50"}, {"--threads", "1"}}));
  }
};

TEST_F(GeneralMachine, IsTrainedJudgedSampledEncodedAndReported) {
  succeed(tiny("run", {"--inference", "gibbs"}));
  const Arguments question = {"evaluate", "run", "--data", "bars_and_stripes:test", "--method"};
  const ordered_json exact = json(question + Arguments{"exact"});
  EXPECT_EQ(exact["log_z"]["kind"], "exact");
  EXPECT_NE(exact["hidden"]["method"].get<std::string>().find("2^4 states of hidden"), std::string::npos);
  const ordered_json ais = json(question + Arguments{"ais", "--chains", "200", "--betas", "300"});
  // 300 steps on 20 units: an interval of a few hundredths, and an error within a tenth.
  EXPECT_NEAR(exact["log_likelihood"]["value"].get<double>(), ais["log_likelihood"]["value"].get<double>(), 0.1);
  const ordered_json both = json(question + Arguments{"sandwich", "--chains", "200", "--betas", "300"});
  EXPECT_NEAR(both["upper_log_z"]["value"].get<double>(), exact["log_z"]["value"].get<double>(), 0.2);
  // Both ways together: between them but for a few hundredths of noise.
  EXPECT_NEAR(both["bennett"]["value"].get<double>(), exact["log_z"]["value"].get<double>(), 0.1);
  refuses(question + Arguments{"raise"}, {"--method raise", "sandwich"});
  refuses(question + Arguments{"ais", "--sum-out", "even"}, {"--sum-out", "joined to each other"});
  for (const std::string sampler : {"gibbs", "pt", "tempered", "exact"})
    succeed({"sample", "run", "--sampler", sampler, "--sweeps", "20", "--out", sampler + ".npy"});
  succeed({"encode", "run", "--data", "bars_and_stripes:test", "--out", "codes.csv"});
  succeed({"reconstruct", "run", "--data", "bars_and_stripes:test"});
  succeed({"report", "run"});
  const std::string report = read_bytes(folder / "run/report.html");
  for (const std::string part : {"General Boltzmann machine on bars_and_stripes", "Filters",
                                 "Couplings between visible units", "Couplings between units of hidden"})
    EXPECT_NE(report.find(part), std::string::npos) << part;
}

TEST_F(GeneralMachine, HasRowsByAnnealingOrMeanFieldWhereHiddenStatesAreMany) {
  succeed(small_run("run", {"--model", "boltzmann", "--hidden", "40", "--inference", "gibbs", "--particles", "50"}));
  const Arguments question = {"evaluate", "run",     "--data", "digits:test", "--limit", "10",           "--method",
                              "ais",      "--betas", "50",     "--row-betas", "30",      "--row-chains", "4"};
  const ordered_json annealed = json(question), bounded = json(question + Arguments{"--rows-by", "mean_field"});
  EXPECT_EQ(annealed["hidden"]["method"], "annealing with data held");
  EXPECT_TRUE(annealed["hidden"]["gap"].is_number());
  EXPECT_EQ(bounded["hidden"]["method"], "mean field");
}

TEST_F(GeneralMachine, LearnsByEveryGradientAndInferenceThatSuitsIt) {
  for (const std::string gradient : {"pcd", "fpcd", "exact", "pt", "tempered"})
    succeed(tiny(gradient, {"--gradient", gradient, "--updates", "12"}));
  for (const std::string inference : {"mean_field", "mean_field_then_gibbs", "annealing", "exact"})
    succeed(tiny("by_" + inference, {"--inference", inference, "--updates", "12"}));
  for (const std::string within : {"visible", "hidden", "none"})
    succeed(tiny("within_" + within, {"--within", within, "--updates", "12"}));
  succeed(tiny("damped", {"--mean-field-damping", "0.5", "--updates", "12"}));
  succeed({"evaluate", "within_hidden", "--data", "bars_and_stripes:test", "--method", "ais", "--betas", "20"});
  for (const std::string gradient : {"cd", "mf_cd", "pl"})
    refuses(tiny("refused", {"--gradient", gradient}), {"--gradient " + gradient, "pcd"});
  succeed(tiny("cd", {"--gradient", "cd", "--within", "visible", "--updates", "12"}));
}

TEST_F(GeneralMachine, RefusesOptionsThatMakeNoSense) {
  refuses(tiny("a", {"--within", "all"}), {"--within all", "both, visible, hidden and none"});
  refuses(tiny("b", {"--inference", "guess"}), {"--inference guess", "annealing"});
  refuses(tiny("c", {"--inference", "gibbs", "--within", "visible"}), {"--inference gibbs", "--within visible"});
  refuses(tiny("d", {"--mean-field-damping", "1"}), {"--mean-field-damping 1"});
  refuses(tiny("e", {"--mean-field-damping", "0.5", "--inference", "gibbs"}), {"--mean-field-damping belongs to"});
  refuses(tiny("f", {"--start-temperature", "0.5", "--inference", "annealing"}), {"--start-temperature 0.5"});
  refuses(tiny("g", {"--start-temperature", "5"}), {"--start-temperature belongs to --inference annealing"});
  refuses(tiny("h", {"--annealing-sweeps", "0", "--inference", "annealing"}), {"--annealing-sweeps 0"});
  refuses(tiny("i", {"--posterior-sweeps", "3"}), {"--posterior-sweeps belongs to"});
  refuses(tiny("j", {"--visible", "gaussian"}), {"--visible gaussian", "bernoulli or softmax", "--within hidden"});
  refuses(tiny("k", {"--hidden", "gaussian:4"}), {"--hidden gaussian:4", "bernoulli or softmax"});
  refuses(tiny("l", {"--inference", "exact", "--hidden", "16"}), {"--inference exact", "15 binary units"});
  refuses(tiny("m", {"--optimizer", "low_rank"}), {"--optimizer low_rank", "edges inside a layer"});
  refuses(tiny("n", {"--mean-field-steps", "1"}), {"--mean-field-steps 1"});
  refuses(tiny("o", {"--hidden", "0"}), {"--hidden 0"});
  refuses(small_run("p", {"--within", "both"}), {"--within", "boltzmann"});
}

}  // namespace
}  // namespace harmonium::testing
