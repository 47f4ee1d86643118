// `train --keep best` and `--patience` for Boltzmann machines: the model is chosen by the log-likelihood of validation
// data, which is followed along the training.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class KeepBest : public Tool {
 protected:
  // Forty digits at a large rate are soon learnt by heart; twenty hidden units are too many to enumerate at every line
  // of metrics and few enough to judge exactly afterwards.
  [[nodiscard]] static Arguments overfitting_run(const std::string& out, const Arguments& more = {}) {
    return Arguments{"train",  "--out",          out,        "--data",
                     "digits", "--limit",        "40",       "--batch",
                     "20",     "--hidden",       "20",       "--updates",
                     "1500",   "--log-every",    "25",       "--checkpoint-every",
                     "1000",   "--rate-weights", "0.02",     "--rate-bias",
                     "0.05",   "--binarize",     "threshold"} +
           more;
  }
  [[nodiscard]] double exact(const std::string& run) const {
    return json({"evaluate", run, "--data", "digits:valid", "--method", "exact", "--binarize",
                 "threshold"})["log_likelihood"]["value"];
  }
};

TEST_F(KeepBest, IsTheDefaultWithValidationDataAndBetterThanTheLastModel) {
  const Outcome best = succeed(overfitting_run("best"));
  succeed(overfitting_run("last", {"--keep", "last"}));
  EXPECT_GT(exact("best"), exact("last") + 1) << "the run was meant to overfit";
  // What was kept is said wherever one looks.
  const ordered_json shown = json({"models", "show", "best"});
  const std::string update = shown["notes"]["updates"];
  EXPECT_LT(std::stoi(update), 1500);
  EXPECT_EQ(shown["notes"]["chosen_by"], "digits:valid");
  EXPECT_NE(best.err.find("at update " + update + " of 1500; kept that model. The last one overfits"),
            std::string::npos)
      << best.err;
  EXPECT_NE(read_bytes(folder / "best/report.html").find("model of update " + update), std::string::npos);
  EXPECT_EQ(json({"models", "show", "last"})["notes"]["updates"], "1500");
  // Following the likelihood takes nothing from the training: its metrics are those of the other run.
  const auto with = metrics_without_seconds(folder / "best"), without = metrics_without_seconds(folder / "last");
  ASSERT_EQ(with.size(), without.size());
  for (std::size_t i = 0; i < with.size(); ++i) EXPECT_EQ(with[i]["gradient_norm"], without[i]["gradient_norm"]);
  EXPECT_TRUE(with.back().contains("validation_log_likelihood"));
}

TEST_F(KeepBest, StopsWherePatienceEnds) {
  succeed(overfitting_run("run", {"--patience", "200"}));
  const int kept = std::stoi(json({"models", "show", "run"})["notes"]["updates"].get<std::string>());
  const int last = metrics_without_seconds(folder / "run").back()["update"];
  EXPECT_EQ(last, kept + 200);
  EXPECT_LT(last, 1500);
}

TEST_F(KeepBest, IsRefusedWhereNothingCanChoose) {
  refuses(small_run("run", {"--keep", "best", "--valid", "none"}), {"--keep best", "--valid"});
  refuses(small_run("run", {"--patience", "20", "--valid", "none"}), {"--patience"});
  refuses({"train", "--out", "run", "--data", "corpus", "--visible", "counts", "--keep", "best", "--updates", "5"},
          {"--keep best", "word counts", "--keep last"});
}

TEST_F(KeepBest, LeavesLabelsAndWordCountsAsTheyWere) {
  succeed(small_run("classes", {"--model", "classification_rbm"}));
  EXPECT_NE(read_bytes(folder / "classes/config.toml").find("keep = \"last\""), std::string::npos)
      << read_bytes(folder / "classes/config.toml");
}

}  // namespace
}  // namespace harmonium::testing
