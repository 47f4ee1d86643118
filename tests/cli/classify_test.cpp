// `harmonium classify`: the error of a model with labels, what it says about mistakes, and what it leaves in the run.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Classify : public Tool {
 protected:
  // A model of the digits that is much better than guessing.
  void train(const std::string& out, const Arguments& more = {}) const {
    succeed(Arguments{"train", "--out", out, "--model", "classification_rbm"} +
            with_defaults(more, {{"--hidden", "30"}, {"--updates", "300"}, {"--log-every", "50"}}));
  }
};

TEST_F(Classify, TellsDigitsApartByTheirTestPartAndRecordsIt) {
  train("run", {"--objective", "discriminative"});
  const ordered_json result = json({"classify", "run"});
  EXPECT_EQ(result["data"], "digits:test");
  EXPECT_LT(result["error"], 0.15);  // guessing is wrong in 0.9
  EXPECT_LT(result["low"], result["error"]);
  EXPECT_GT(result["high"], result["error"]);
  int n = 0, right = 0;
  for (std::size_t truth = 0; truth < 10; ++truth)
    for (std::size_t c = 0; c < 10; ++c) {
      n += result["confusion"][truth][c].get<int>();
      if (truth == c) right += result["confusion"][truth][c].get<int>();
    }
  EXPECT_EQ(n, result["n"]);
  EXPECT_EQ(n - right, result["wrong"]);
  EXPECT_DOUBLE_EQ(result["error"], static_cast<double>(n - right) / n);
  for (const ordered_json& mistake : result["mistakes"]) EXPECT_NE(mistake["truth"], mistake["predicted"]);
  EXPECT_EQ(ordered_json::parse(read_bytes(folder / "run/classifications.jsonl")), result);
  const std::string page = read_bytes(folder / "run/report.html");
  for (const std::string part : {"classification error, digits:test", "gallery-confusion", "gallery-mistakes"})
    EXPECT_NE(page.find(part), std::string::npos) << part;

  const Outcome outcome = succeed({"classify", "run", "--data", "digits:valid", "--out", "x.png"});
  for (const std::string part : {"error", "digits:valid", "true", "report.html", "x.png"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part;
  EXPECT_TRUE(read_bytes(folder / "x.png").starts_with("\x89PNG"));
  succeed({"classify", "run/model.safetensors", "--out", "x.html"});
  EXPECT_NE(read_bytes(folder / "x.html").find("gallery-mistakes"), std::string::npos);
}

TEST_F(Classify, SaysHowGrayValuesWereMadeBinary) {
  train("run", {"--updates", "100"});
  const auto binarization = [&](const Arguments& more) {
    return json(Arguments{"classify", "run", "--limit", "50"} + more)["binarization"];
  };
  EXPECT_EQ(binarization({}), "none (gray values as they are)");
  EXPECT_EQ(binarization({"--binarize", "stochastic", "--seed", "3"}), "stochastic (seed 3)");
  EXPECT_EQ(binarization({"--binarize", "threshold"}), "threshold");
  train("sharp", {"--updates", "10", "--binarize", "threshold"});
  EXPECT_EQ(json({"classify", "sharp"})["binarization"], "threshold");
}

TEST_F(Classify, RefusesWhatHasNoClasses) {
  succeed(small_run("plain"));
  refuses({"classify", "plain"}, {"plain", "label", "--model classification_rbm"});
  train("run", {"--updates", "10"});
  std::string table, far;
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 64; ++i) table += i == 0 ? "0" : ",0";
    table += "\n";
  }
  write_bytes(folder / "bare.csv", table);
  refuses({"classify", "run", "--data", "bare.csv"}, {"bare.csv", "no labels", "--label-column"});
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 64; ++i) far += "0,";
    far += row == 1 ? "12\n" : "2\n";
  }
  write_bytes(folder / "far.csv", far);
  refuses({"classify", "run", "--data", "far.csv", "--label-column", "last"}, {"row 1", "label 12", "0 … 9"});
  refuses({"classify", "run", "--out", "x.gif"}, {"x.gif", ".png"});
  refuses({"classify", "run", "--data", "bars_and_stripes"}, {"columns"});
}

// The whole way of an experiment: train, choose by validation rows, count errors on test rows; nothing is done twice.
TEST_F(Classify, IsWhatAnExperimentMeasures) {
  write_bytes(folder / "digits.toml",
              "kind = \"classification\"\ntitle = \"t\"\nquestion = \"q\"\ntest = \"digits:test\"\n"
              "[config]\nhidden = 20\nupdates = 200\nlog_every = 50\nobjective = \"discriminative\"\n"
              "[[run]]\nname = \"a\"\n"
              "[[expected]]\nrun = \"a\"\nat_most = 50.0\nsource = \"here\"\n");
  const Arguments command = {"reproduce", "digits.toml", "--out", "out"};
  const ordered_json found = json(command)["experiment"]["measured"];
  ASSERT_EQ(found.size(), 2U);
  const ordered_json test = json({"classify", "out/a"});
  EXPECT_EQ(found[0]["value"], 100 * test["error"].get<double>());
  EXPECT_EQ(found[0]["expected"], "≤ 50: met");
  EXPECT_EQ(found[1]["data"], "digits:valid");
  const ordered_json quick = json(Arguments{"reproduce", "digits.toml", "--quick", "--out", "quick"})["experiment"];
  EXPECT_EQ(quick["measured"][0]["expected"], nullptr) << "what is expected of the whole";
  const std::string model = model_bytes("out/a");
  EXPECT_EQ(json(command)["experiment"]["measured"], found);
  EXPECT_TRUE(model_bytes("out/a") == model);
  write_bytes(folder / "bad.toml", read_bytes(folder / "digits.toml") + "at_least = 1\n");
  refuses({"reproduce", "bad.toml", "--out", "other"}, {"bad.toml", "at_least", "at_most"});
  // Without validation data there is nothing to choose by, and nothing optimistic to tell.
  write_bytes(
      folder / "all.toml",
      "kind = \"classification\"\ntitle = \"t\"\nquestion = \"q\"\ntest = \"digits:test\"\n"
      "[config]\nvalid = \"none\"\nkeep = \"last\"\nhidden = 20\nupdates = 100\nobjective = \"discriminative\"\n"
      "[[run]]\nname = \"a\"\n");
  const ordered_json last = json({"reproduce", "all.toml", "--out", "last"})["experiment"]["measured"];
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0]["data"], "digits:test");
  EXPECT_EQ(last[0]["updates"], 100);
}

TEST_F(Classify, ObjectivesAboutLabelsNeedLabels) {
  refuses(small_run("run", {"--objective", "discriminative"}), {"--objective", "--model rbm", "classification_rbm"});
  const Arguments labelled = {"--model", "classification_rbm"};
  refuses(small_run("run", labelled + Arguments{"--objective", "both"}), {"both", "hybrid"});
  refuses(small_run("run", labelled + Arguments{"--objective", "discriminative", "--optimizer", "fang"}),
          {"fang", "--optimizer centering"});
  refuses(small_run("run", labelled + Arguments{"--objective", "hybrid", "--generative-weight", "0"}),
          {"--generative-weight", "positive"});
  refuses(small_run("run", {"--keep", "best", "--valid", "none"}), {"--keep best", "--valid"});
  refuses(small_run("run", labelled + Arguments{"--keep", "best", "--valid", "none"}), {"--keep best", "--valid"});
  refuses(small_run("run", labelled + Arguments{"--keep", "first"}), {"--keep first", "last", "best"});
  refuses(small_run("run", labelled + Arguments{"--keep", "best", "--data", "digits:all", "--valid", "digits:valid"}),
          {"--keep best", "digits:valid", "digits:all", "learnt from"});
}

// At a rate that makes the error jump, so that the last model is the best by chance only: of two runs on one way that
// end after 100 and after 110 updates, both would have to end at a new lowest error.
TEST_F(Classify, KeepsTheModelThatErredLeastOnValidationRows) {
  bool earlier = false;
  for (const std::string updates : {"100", "110"}) {
    train(updates, {"--objective", "discriminative", "--keep", "best", "--updates", updates, "--log-every", "10",
                    "--rate-weights", "30", "--rate-bias", "30", "--schedule", "constant", "--averaging", "1"});
    double lowest = 1;
    std::int64_t update = 0;
    for (const ordered_json& row : metrics_without_seconds(folder / updates))
      if (row["classification_error"] < lowest) {
        lowest = row["classification_error"];
        update = row["update"];
      }
    const ordered_json result = json({"classify", updates, "--data", "digits:valid"});
    EXPECT_EQ(result["updates"], update);
    EXPECT_DOUBLE_EQ(result["error"], lowest);
    earlier = earlier || std::to_string(update) != updates;
  }
  EXPECT_TRUE(earlier) << "the last model was the best both times: nothing was tested";
}

// A deep machine with a label layer on top: chosen by validation errors, classified by mean field, sampled class by
// class.
TEST_F(Classify, KnowsClassesInADeepMachine) {
  succeed({"train",  "--out",
           "deep",   "--data",
           "digits", "--model",
           "dbm",    "--layers",
           "40,20",  "--labels",
           "top",    "--pretrain",
           "rbm",    "--pretrain-updates",
           "300",    "--updates",
           "400",    "--rate-weights",
           "0.02",   "--keep",
           "best",   "--log-every",
           "100"});
  const ordered_json result = json({"classify", "deep"});
  EXPECT_LT(result["error"].get<double>(), 0.5) << "one in ten is right by chance";
  EXPECT_EQ(json({"evaluate", "deep", "--data", "digits:test", "--method", "ais", "--betas", "20"})["n"], 300);
  succeed({"sample", "deep", "--clamp", "label=3", "-n", "4", "--sweeps", "20", "--out", "threes.npy"});
  EXPECT_NE(read_bytes(folder / "deep/report.html").find("Samples of each class"), std::string::npos);
  EXPECT_TRUE(fs::exists(folder / "deep/pretraining/layer-2/model.safetensors"));
}

}  // namespace
}  // namespace harmonium::testing
