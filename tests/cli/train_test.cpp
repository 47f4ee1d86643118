// `harmonium train`: what it leaves behind, what it says, and that equal orders give equal bytes.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Train : public Tool {};

TEST_F(Train, WritesEveryFileOfARunFolder) {
  succeed(small_run("run"));
  EXPECT_EQ(names_in(folder / "run"),
            (std::set<std::string>{"config.toml", "metrics.jsonl", "checkpoint", "model.safetensors", "report.html",
                                   "trained_rows.safetensors"}));
  EXPECT_TRUE(fs::exists(folder / "run/checkpoint/latest.json"));
  EXPECT_NE(read_bytes(folder / "run/report.html").find("</html>"), std::string::npos);
}

TEST_F(Train, LogsMetricsFromTheStartToTheLastUpdate) {
  succeed(small_run("run", {"--updates", "58"}));
  std::vector<int> updates;
  for (const ordered_json& row : metrics_without_seconds(folder / "run")) {
    updates.push_back(row.at("update"));
    for (const char* metric : {"pseudo_log_likelihood", "free_energy_gap", "reconstruction_error"})
      EXPECT_TRUE(row.at(metric).is_number()) << metric;
    // Before the first update there is no gradient to measure.
    EXPECT_EQ(row.contains("gradient_norm"), updates.back() > 0);
    if (updates.back() > 0) {
      EXPECT_GT(row.at("gradient_norm"), 0);
    }
  }
  EXPECT_EQ(updates, (std::vector<int>{0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 58}));
}

TEST_F(Train, MeasuresAShortRunSeldom) {
  succeed({"train", "--data", "digits", "--limit", "200", "--hidden", "8", "--updates", "300", "--keep", "last",
           "--out", "run"});
  EXPECT_EQ(metrics_without_seconds(folder / "run").size(), 11U) << "a line costs as much as several updates";
}

TEST_F(Train, SaysWhereUpperLayersSayNothing) {
  const Arguments deep = {"--model", "dbm", "--layers", "8,6"};
  const std::string warning = "% of the units above the first hidden layer are active";
  EXPECT_NE(succeed(small_run("asleep", deep)).err.find("0 " + warning), std::string::npos);
  EXPECT_NE(read_bytes(folder / "asleep/metrics.jsonl").find("\"awake_units\":0.0"), std::string::npos);
  const Outcome awake = succeed(
      small_run("awake", deep + Arguments{"--initial-weights", "3", "--rate-weights", "1e-9", "--rate-bias", "1e-9"}));
  EXPECT_EQ(awake.err.find(warning), std::string::npos) << awake.err;
  EXPECT_NE(read_bytes(folder / "awake/report.html").find("Awake units"), std::string::npos);
  EXPECT_EQ(succeed(small_run("shallow")).err.find(warning), std::string::npos);
}

TEST_F(Train, PrintsOneJsonObjectWithTheDocumentedKeys) {
  const ordered_json result = json(small_run("run"));
  EXPECT_EQ(keys(result),
            (std::vector<std::string>{"updates", "seconds", "updates_per_second", "model", "report", "metrics"}));
  EXPECT_EQ(result["updates"], 60);
  EXPECT_GT(result["seconds"], 0);
  EXPECT_NEAR(result["updates_per_second"].get<double>() * result["seconds"].get<double>(), 60, 1e-6);
  EXPECT_EQ(result["model"], "run/model.safetensors");
  EXPECT_EQ(result["report"], "run/report.html");
  const ordered_json last = metrics_without_seconds(folder / "run").back();
  for (const auto& [name, value] : result["metrics"].items()) EXPECT_EQ(value, last.at(name)) << name;
}

TEST_F(Train, SaysWhereTheModelIsAndWhatToDoNext) {
  const Outcome outcome = succeed(small_run("run"));
  for (const char* part : {"trained 60 updates", "run/model.safetensors", "run/report.html", "harmonium evaluate run"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in: " << outcome.out;
  EXPECT_NE(outcome.err.find("training 60/60"), std::string::npos);
  EXPECT_EQ(outcome.err.find('\r'), std::string::npos) << "a bar was drawn where there is no terminal";
}

TEST_F(Train, NumbersItsFoldersWhereNoneIsGiven) {
  const Arguments tiny = {"train", "--data", "digits", "--limit", "50", "--hidden", "2", "--updates", "2", "--json"};
  EXPECT_EQ(json(tiny)["model"], "runs/digits-1/model.safetensors");
  EXPECT_EQ(json(tiny)["model"], "runs/digits-2/model.safetensors");
  EXPECT_EQ(names_in(folder / "runs"), (std::set<std::string>{"digits-1", "digits-2"}));
}

TEST_F(Train, ReplacesARunOnlyWhenToldToAndKeepsWhatIsNotItsOwn) {
  succeed(small_run("run"));
  succeed({"evaluate", "run"});
  write_bytes(folder / "run/notes.txt", "a person's");
  refuses(small_run("run", {"--seed", "1"}), {"run", "resume", "--overwrite"});
  const std::string before = model_bytes("run");
  succeed(small_run("run", {"--seed", "1", "--overwrite"}));
  EXPECT_FALSE(model_bytes("run") == before);
  EXPECT_EQ(read_bytes(folder / "run/notes.txt"), "a person's");
  EXPECT_FALSE(fs::exists(folder / "run/evaluations.jsonl")) << "the evaluation of another model";
}

TEST_F(Train, GivesTheSameBytesForTheSameSeedAndOthersForAnother) {
  succeed(small_run("one"));
  succeed(small_run("two"));
  succeed(small_run("other", {"--seed", "1"}));
  EXPECT_TRUE(model_bytes("one") == model_bytes("two")) << "the models differ";
  EXPECT_EQ(metrics_without_seconds(folder / "one"), metrics_without_seconds(folder / "two"));
  EXPECT_FALSE(model_bytes("one") == model_bytes("other")) << "the models are equal";
}

TEST_F(Train, GivesTheSameModelOnOneThreadAndOnTwo) {
  const auto train = [&](const Arguments& arguments, const std::string& threads) {
    Process command = process(arguments + Arguments{"--threads", threads});
    command.environment["OMP_NUM_THREADS"] = std::nullopt;
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  };
  train(small_run("one"), "1");
  train(small_run("two"), "2");
  EXPECT_TRUE(model_bytes("one") == model_bytes("two")) << "the models differ";

  // Larger matrix products are summed in another order by some BLAS libraries when they have more threads.
  const Arguments large = {"--limit", "0", "--hidden", "300", "--batch", "600", "--updates", "20"};
  train(small_run("large_one", large), "1");
  train(small_run("large_two", large), "2");
  const ordered_json one = metrics_without_seconds(folder / "large_one").back();
  const ordered_json two = metrics_without_seconds(folder / "large_two").back();
  for (const auto& [name, value] : one.items()) EXPECT_NEAR(value, two.at(name), 1e-3) << name;
}

class Recipe : public Tool {
 protected:
  void SetUp() override {
    write_bytes(folder / "recipe.toml",
                "data = \"digits\"\nlimit = 200\nhidden = 8\nupdates = 60\nbatch = 20\nlog_every = 5\n"
                "checkpoint_every = 7\nkeep = \"last\"\nrate_weights = 0.2\nmomentum = 0.5\noptimizer = \"sgd\"\n");
  }
};

TEST_F(Recipe, MeansTheSameAsItsFlags) {
  succeed({"train", "recipe.toml", "--out", "file"});
  succeed(small_run("flags", {"--rate-weights", "0.2", "--momentum", "0.5", "--optimizer", "sgd"}));
  EXPECT_TRUE(model_bytes("file") == model_bytes("flags")) << "the models differ";
  EXPECT_EQ(read_bytes(folder / "file/config.toml"), read_bytes(folder / "flags/config.toml"));
}

TEST_F(Recipe, GivesWayToFlags) {
  succeed({"train", "recipe.toml", "--seed", "3", "--rate-weights", "0.05", "--hidden", "6", "--out", "file"});
  succeed(small_run(
      "flags", {"--momentum", "0.5", "--optimizer", "sgd", "--seed", "3", "--rate-weights", "0.05", "--hidden", "6"}));
  EXPECT_TRUE(model_bytes("file") == model_bytes("flags")) << "the models differ";
}

TEST_F(Recipe, OfARunReproducesItByteForByte) {
  succeed({"train", "recipe.toml", "--seed", "9", "--out", "first"});
  succeed({"train", "first/config.toml", "--out", "again"});
  EXPECT_TRUE(model_bytes("first") == model_bytes("again")) << "the models differ";
  EXPECT_EQ(read_bytes(folder / "first/config.toml"), read_bytes(folder / "again/config.toml"));
}

TEST_F(Recipe, SurvivesAPathWithQuotesAndBackslashes) {
  const std::string table = "it's \"odd\\.csv";
  write_bytes(folder / table, "0,1,1\n1,0,0\n");
  succeed({"train", "--data", table, "--hidden", "2", "--updates", "3", "--out", "first"});
  succeed({"train", "first/config.toml", "--out", "again"});
  EXPECT_TRUE(model_bytes("first") == model_bytes("again")) << "the models differ";
}

}  // namespace
}  // namespace harmonium::testing
