// Deep Boltzmann machines that are trained with a sampled posterior, and judged by annealing rows.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class DeepMachine : public Tool {
 protected:
  [[nodiscard]] static Arguments deep_run(const std::string& out, const Arguments& more = {}) {
    Arguments all = {"train", "--data",  "digits", "--limit",     "200", "--model",   "dbm", "--layers",
                     "30,40", "--batch", "50",     "--particles", "50",  "--updates", "60",  "--threads",
                     "1",     "--out",   out};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_F(DeepMachine, TrainedWithASampledPosteriorIsJudgedByAnnealingRows) {
  succeed(deep_run("run", {"--inference", "gibbs"}));
  const Arguments question = {"evaluate", "run",     "--data", "digits:test", "--limit", "20",           "--method",
                              "ais",      "--betas", "200",    "--row-betas", "50",      "--row-chains", "4"};
  const ordered_json annealed = json(question);
  EXPECT_EQ(annealed["hidden"]["method"], "annealing with data held");
  EXPECT_EQ(annealed["hidden"]["chains"], 4);
  EXPECT_EQ(annealed["hidden"]["betas"], 50);
  EXPECT_TRUE(annealed["hidden"]["gap"].is_number());
  EXPECT_EQ(annealed["log_likelihood"]["kind"], "estimate");

  Arguments bound = question;
  bound.insert(bound.end(), {"--rows-by", "mean_field"});
  const ordered_json bounded = json(bound);
  EXPECT_EQ(bounded["hidden"]["method"], "mean field");
  EXPECT_TRUE(bounded["hidden"]["gap"].is_null());
  EXPECT_EQ(bounded["log_likelihood"]["kind"], "estimate of a lower bound");
  // Both are answers of their own, in the record as on the terminal.
  EXPECT_EQ(evaluations("run").size(), 2U);
  EXPECT_EQ(evaluations("run").front()["hidden"], annealed["hidden"]);
}

TEST_F(DeepMachine, TrainedByMeanFieldIsBoundedAsBeforeUnlessAsked) {
  succeed(deep_run("run"));
  const Arguments question = {"evaluate", "run",      "--data", "digits:test", "--limit",
                              "5",        "--method", "ais",    "--betas",     "50"};
  EXPECT_EQ(json(question)["hidden"]["method"], "mean field");
  Arguments asked = question;
  asked.insert(asked.end(), {"--rows-by", "ais", "--row-betas", "20"});
  EXPECT_EQ(json(asked)["hidden"]["method"], "annealing with data held");
}

TEST_F(DeepMachine, SaysWhichWaysOfInferenceThereAre) {
  refuses(deep_run("a", {"--inference", "guess"}), {"--inference guess", "there are mean_field, gibbs"});
  refuses(deep_run("b", {"--posterior-sweeps", "3"}), {"--posterior-sweeps belongs to --inference gibbs"});
  refuses(small_run("c", {"--inference", "gibbs"}), {"--inference", "dbm"});
}

}  // namespace
}  // namespace harmonium::testing
