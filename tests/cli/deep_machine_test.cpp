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

// The layers of an RBM below and new ones above. With new weights of zero nothing that is exact changes: log Z grows by
// log 2 for each of the ten new units, and log p stays. Afterwards the run needs the RBM no more.
TEST_F(DeepMachine, BeginsWithAnRbmAndGoesOnWithoutIt) {
  succeed({"train", "--data", "digits", "--limit", "200", "--hidden", "12", "--updates", "200", "--out", "rbm"});
  const auto deeper = [&](const std::string& out, const Arguments& more) {
    return Arguments{"finetune",    "rbm", "--to",      "deeper", "--layers",           "12,10", "--batch",   "50",
                     "--particles", "50",  "--updates", "60",     "--checkpoint-every", "10",    "--threads", "1",
                     "--out",       out} +
           more;
  };
  succeed(deeper("still", {"--initial-weights", "0"}));
  const auto judged = [&](const std::string& model) {
    return json({"evaluate", model, "--data", "digits:test", "--limit", "20", "--method", "exact"});
  };
  const ordered_json before = judged("rbm"), after = judged("still/start.safetensors");
  EXPECT_NEAR(after["log_likelihood"]["value"].get<double>(), before["log_likelihood"]["value"].get<double>(), 1e-3);
  EXPECT_NEAR(after["log_z"]["value"].get<double>(), before["log_z"]["value"].get<double>() + 10 * std::log(2), 1e-3);

  succeed(deeper("whole", {"--inference", "gibbs"}));
  Process stopped = process(deeper("stopped", {"--inference", "gibbs", "--log-every", "10"}));
  stopped.on_error_line = [sent = false](pid_t child, const std::string& line) mutable {
    if (sent || update_of(line).value_or(-1) < 20) return;
    ::kill(child, SIGINT);
    sent = true;
  };
  EXPECT_EQ(run(stopped).code, 130);
  std::filesystem::rename(folder / "rbm", folder / "elsewhere");
  succeed({"resume", "stopped"});
  EXPECT_TRUE(model_bytes("whole") == model_bytes("stopped"));
  std::filesystem::rename(folder / "elsewhere", folder / "rbm");

  const Arguments train = {"train", "--data",    "digits", "--model", "dbm", "--start",
                           "rbm",   "--updates", "5",      "--out",   "x"};
  refuses(train + Arguments{"--layers", "13,10"}, {"--layers 13,10", "rbm", "bernoulli:12", "bernoulli:13"});
  refuses(train + Arguments{"--layers", "12"}, {"1 hidden layers already"});
  refuses(train + Arguments{"--layers", "12,10", "--pretrain", "rbm"}, {"--start", "--pretrain"});
  succeed({"train", "--data", "digits", "--limit", "200", "--model", "mlp", "--layers", "5", "--updates", "5", "--out",
           "net"});
  refuses({"finetune", "net", "--to", "deeper", "--out", "x"}, {"net", "RBM or a deep Boltzmann machine"});
}

}  // namespace
}  // namespace harmonium::testing
