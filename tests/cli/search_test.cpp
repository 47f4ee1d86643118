// `harmonium search` and experiments made of searches: settings drawn, chosen by validation data, tested by others, in
// child processes that may be stopped at any moment.
#include <signal.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

constexpr const char* search_recipe = R"(
data = "digits"
limit = 100
hidden = 4
batch = 20
updates = 40
optimizer = "sgd"
averaging = 1

[search]
runs = 3
tests = 2
valid_limit = 50
test_limit = 60

[search.ranges]
rate_weights = { low = 1e-2, high = 1 }
rate_bias = "rate_weights"
)";

class Search : public Tool {
 protected:
  Search() { write_bytes(folder / "recipe.toml", search_recipe); }

  [[nodiscard]] static std::string replaced(std::string text, const std::string& old, const std::string& by) {
    return text.replace(text.find(old), old.size(), by);
  }
  void change(const std::string& old, const std::string& by) const {
    write_bytes(folder / "recipe.toml", replaced(search_recipe, old, by));
  }
  [[nodiscard]] ordered_json search(const Arguments& more = {}) const {
    return json(Arguments{"search", "recipe.toml"} + with_defaults(more, {{"--jobs", "2"}}));
  }
  // Without what may differ between equal searches.
  [[nodiscard]] static ordered_json scores(const ordered_json& found) {
    ordered_json all;
    for (const char* kind : {"trials", "tests"})
      for (const ordered_json& run : found[kind]) all[run["name"]] = {run["settings"], run["seed"], run["score"]};
    return all;
  }
};

TEST_F(Search, ChoosesTheBestTrialByValidationDataAndTestsItByOthers) {
  const ordered_json found = search();
  ASSERT_EQ(found["trials"].size(), 3U);
  double best = -1e9;
  std::string best_name;
  std::set<double> rates;
  std::set<std::int64_t> seeds;
  for (const ordered_json& trial : found["trials"]) {
    EXPECT_EQ(trial["settings"]["rate_bias"], trial["settings"]["rate_weights"]);
    EXPECT_EQ(trial["updates"], 40);
    EXPECT_TRUE(trial["failure"].is_null());
    EXPECT_EQ(trial["judged"]["rows"], 50);
    EXPECT_EQ(trial["judged"]["kind"], "exact");
    rates.insert(trial["settings"]["rate_weights"].get<double>());
    seeds.insert(trial["seed"].get<std::int64_t>());
    if (trial["score"] > best) {
      best = trial["score"];
      best_name = trial["name"];
    }
  }
  EXPECT_EQ(rates.size(), 3U);
  EXPECT_EQ(found["chosen"]["trial"], best_name);
  double sum = 0;
  for (const ordered_json& test : found["tests"]) {
    EXPECT_EQ(test["settings"], found["chosen"]["settings"]);
    EXPECT_EQ(test["judged"]["data"], "digits:test");
    EXPECT_EQ(test["judged"]["rows"], 60);
    seeds.insert(test["seed"].get<std::int64_t>());
    sum += test["score"].get<double>();
  }
  EXPECT_EQ(seeds.size(), 5U) << "every run has its own";
  EXPECT_NEAR(found["tested"]["mean"].get<double>(), sum / 2, 1e-9);
  // Each is a run like any other, and `evaluate` says the same about it.
  const std::string folder_of_best = "runs/search-recipe/" + best_name;
  const ordered_json judged = json({"evaluate", folder_of_best, "--data", "digits:valid", "--limit", "50"});
  EXPECT_NEAR(judged["log_likelihood"]["value"].get<double>(), best, 1e-6);
  const ordered_json again = json({"train", "runs/search-recipe/jobs/" + best_name + ".toml", "--out", "again"});
  EXPECT_EQ(model_bytes("again"), model_bytes(folder_of_best));
  for (const char* name : {"search.json", "index.html", "search.toml"})
    EXPECT_TRUE(fs::exists(folder / "runs/search-recipe" / name)) << name;
}

TEST_F(Search, GrowsWithoutDoingAnythingAgain) {
  const ordered_json first = search({"--runs", "1", "--tests", "1"});
  const std::string trial = read_bytes(folder / "runs/search-recipe/trial-01/metrics.jsonl");
  const ordered_json more = search({"--runs", "2", "--tests", "1"});
  EXPECT_EQ(more["trials"].size(), 2U);
  EXPECT_EQ(more["trials"][0], first["trials"][0]) << "seconds and all";
  EXPECT_EQ(read_bytes(folder / "runs/search-recipe/trial-01/metrics.jsonl"), trial);
}

TEST_F(Search, RefusesAFolderOfAnotherSearch) {
  change("runs = 3", "runs = 1");
  (void)search({"--tests", "0"});
  change("high = 1 ", "high = 2 ");
  refuses({"search", "recipe.toml"}, {"runs/search-recipe holds another search", "high = 1", "high = 2", "--out"});
  change("hidden = 4", "hidden = 5");
  refuses({"search", "recipe.toml"}, {"holds another search", "hidden = \"4\"", "hidden = \"5\""});
  write_bytes(folder / "mine/letter.txt", "dear");
  refuses({"search", "recipe.toml", "--out", "mine"}, {"mine holds files that are not a search"});
}

TEST_F(Search, NamesWhatIsWrongInTheFile) {
  const std::string range = "rate_weights = { low = 1e-2, high = 1 }";
  struct Case {
    std::string old, by;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {range, "rate = { low = 1, high = 2 }", {"recipe.toml, line 17, 'rate'", "no such option"}},
      {range, "rate_weights = { low = 2, high = 1 }", {"line 17, 'rate_weights'", "low = 2 is not below high = 1"}},
      {range, "rate_weights = { low = 1 }", {"line 17", "needs low and high"}},
      {range, "rate_weights = { low = 0, high = 1, scale = \"log\" }", {"line 17", "needs low > 0"}},
      {range, "rate_weights = []", {"line 17, 'rate_weights'", "the list is empty"}},
      {range, "sweeps = { low = 0.5, high = 2 }", {"line 17, 'sweeps'", "whole number"}},
      {range, "gradient = { low = 1, high = 2 }", {"line 17, 'gradient'", "give a list"}},
      {range, "seed = [1, 2]", {"line 17, 'seed'", "cannot be searched"}},
      {range, "sweeps = [1, 2]", {"'rate_bias = \"rate_weights\"'", "not searched"}},
      {"tests = 2", "test_runs = 2", {"line 12, 'test_runs'", "no such entry of [search]"}},
      {"tests = 2", "score = \"error\"", {"needs a model that knows classes"}},
      {"limit = 100", "valid = \"none\"", {"validation data", "valid ="}},
      {range, "gradient = [\"pdc\"]\nrate_weights = [0.1, 0.2]", {"pdc"}},
  };
  for (const Case& each : cases) {
    change(each.old, each.by);
    refuses({"search", "recipe.toml"}, each.parts);
  }
}

TEST_F(Search, ATrialThatDivergesFailsAloneAndIsNotTriedAgain) {
  change("rate_weights = { low = 1e-2, high = 1 }", "rate_weights = [0.1, 1e30]");
  const ordered_json found = search({"--runs", "4", "--tests", "0"});
  int failed = 0;
  for (const ordered_json& trial : found["trials"]) {
    const bool wild = trial["settings"]["rate_weights"] == 1e30;
    failed += wild;
    EXPECT_EQ(trial["score"].is_null(), wild);
    if (wild) {
      EXPECT_NE(trial["failure"].get<std::string>().find("training diverged"), std::string::npos) << trial;
    }
  }
  EXPECT_TRUE(failed > 0 && failed < 4) << "another seed is needed";
  EXPECT_EQ(found["chosen"]["settings"]["rate_weights"], 0.1);
  EXPECT_EQ(scores(search({"--runs", "4", "--tests", "0"})), scores(found));

  change("rate_weights = { low = 1e-2, high = 1 }", "rate_weights = [1e30]");
  const Outcome outcome = harmonium({"search", "recipe.toml", "--runs", "1", "--out", "lost"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("every trial failed; the first: training diverged"), std::string::npos) << outcome.err;
}

TEST_F(Search, StoppedOrKilledItGoesOnAndEndsTheSame) {
  change("updates = 40", "updates = 1500\ncheckpoint_every = 100");
  const ordered_json whole = search({"--tests", "0", "--out", "whole"});
  for (const int signal : {SIGINT, SIGKILL}) {
    SCOPED_TRACE(signal);
    const std::string out = "stopped-" + std::to_string(signal);
    Process command = process({"search", "recipe.toml", "--jobs", "2", "--tests", "0", "--out", out});
    command.on_error_line = [signal, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || !line.starts_with("searching 1/")) return;
      ::kill(child, signal);
      sent = true;
    };
    const Outcome stopped = run(command);
    EXPECT_EQ(stopped.code, signal == SIGKILL ? -SIGKILL : 130) << stopped.err;
    if (signal != SIGKILL) {
      EXPECT_NE(stopped.err.find("harmonium search recipe.toml --tests 0 --out " + out), std::string::npos)
          << stopped.err;
    }
    EXPECT_FALSE(fs::exists(folder / out / "search.json"));
    EXPECT_EQ(scores(search({"--tests", "0", "--out", out})), scores(whole));
    for (const char* name : {"trial-01", "trial-02", "trial-03"})
      EXPECT_EQ(model_bytes(out + "/" + name), model_bytes(std::string("whole/") + name)) << name;
  }
}

TEST_F(Search, TriesATrialAgainThatTheSystemKilled) {
  change("updates = 40", "updates = 4000");
  const ordered_json whole = search({"--tests", "0", "--out", "whole"});
  Process command = process({"search", "recipe.toml", "--jobs", "1", "--tests", "0", "--out", "killed"});
  command.on_error_line = [sent = false](pid_t child, const std::string& line) mutable {
    if (sent || !line.starts_with("searching 1/")) return;
    // The next trial is about to be started.
    for (int attempt = 0; !sent && attempt < 500; ++attempt) {
      std::ifstream children("/proc/" + std::to_string(child) + "/task/" + std::to_string(child) + "/children");
      for (pid_t trial = 0; !sent && children >> trial; sent = true) ::kill(trial, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  };
  const Outcome first = run(command);
  EXPECT_EQ(first.code, 1);
  EXPECT_NE(first.err.find("could not be run: killed by signal 9"), std::string::npos) << first.err;
  EXPECT_NE(first.err.find("the same command runs them again"), std::string::npos) << first.err;
  EXPECT_FALSE(fs::exists(folder / "killed/search.json")) << "nothing is chosen without it";
  EXPECT_EQ(scores(search({"--tests", "0", "--out", "killed"})), scores(whole));
}

TEST_F(Search, RunsTrialsAgainThatAFullDiskHasStopped) {
  const ordered_json whole = search({"--tests", "0", "--out", "whole"});
  Process command = process({"search", "recipe.toml", "--jobs", "1", "--tests", "0", "--out", "full"});
  command.largest_file = 1500;  // no checkpoint fits
  const Outcome full = run(command);
  EXPECT_EQ(full.code, 1);
  EXPECT_NE(full.err.find("trial-01 could not be run: cannot write"), std::string::npos) << full.err;
  EXPECT_EQ(full.err.find("every trial has failed"), std::string::npos) << full.err;
  // As version 0.1 left it.
  write_bytes(folder / "full/jobs/trial-02.failed.json",
              R"({"reason": "cannot write x: No space left on device", "exit_code": 1})");
  EXPECT_EQ(scores(search({"--tests", "0", "--out", "full"})), scores(whole));
}

TEST_F(Search, TimesARunOnceAndKeepsItsNumberOfUpdates) {
  const ordered_json first = search({"--runs", "1", "--tests", "1", "--seconds", "0.05", "--jobs", "1"});
  const std::string timing = read_bytes(folder / "runs/search-recipe/timing.json");
  const ordered_json more = search({"--runs", "2", "--tests", "1", "--seconds", "0.05", "--jobs", "1"});
  EXPECT_EQ(read_bytes(folder / "runs/search-recipe/timing.json"), timing);
  const double speed = ordered_json::parse(timing)["updates_per_second"]["run"];
  const auto expected = std::max<std::int64_t>(1, std::llround(speed * 0.05));
  for (const char* kind : {"trials", "tests"})
    for (const ordered_json& run : more[kind]) EXPECT_EQ(run["updates"], expected) << run;
  EXPECT_EQ(more["trials"][0], first["trials"][0]);
  EXPECT_FALSE(fs::exists(folder / "runs/search-recipe/timing"));
}

TEST_F(Search, JudgesAClassificationRbmByItsErrors) {
  change("limit = 100\nhidden = 4", "model = \"classification_rbm\"\nhidden = 20");
  std::string text = read_bytes(folder / "recipe.toml");
  write_bytes(folder / "recipe.toml",
              replaced(replaced(text, "updates = 40", "updates = 800"), "tests = 2", "tests = 0\nscore = \"error\""));
  const ordered_json found = search();
  double least = 1;
  for (const ordered_json& trial : found["trials"]) {
    const double error = trial["score"], wrong = error * 50;
    EXPECT_NEAR(wrong, std::round(wrong), 1e-9) << "a number of the 50 rows";
    least = std::min(least, error);
  }
  EXPECT_EQ(found["lower_is_better"], true);
  EXPECT_EQ(found["chosen"]["score"], least);
  EXPECT_LT(least, 0.5) << "guessing would be 0.9";
}

TEST_F(Search, JudgesByPseudoLikelihoodToo) {
  change("tests = 2", "tests = 0\nscore = \"pseudo_log_likelihood\"");
  const ordered_json found = search({"--runs", "1"});
  EXPECT_TRUE(found["tested"].is_null());
  const double score = found["trials"][0]["score"];
  EXPECT_TRUE(score < 0 && score > -64 * std::log(2.0)) << score;
}

constexpr const char* two_variants = R"(
kind = "search"
title = "Two ways on digits"
question = "Which is better?"
runs = 2
tests = 2
valid_limit = 50
test_limit = 50

[config]
data = "digits"
limit = 100
hidden = 4
updates = 200
batch = 20
optimizer = "sgd"

[ranges]
rate_weights = { low = 0.05, high = 0.5 }
rate_bias = "rate_weights"

[[variant]]
name = "PCD"

[[variant]]
name = "no learning"
[variant.ranges]
rate_weights = { low = 1e-9, high = 1e-8 }

[[expected_order]]
better = "PCD"
than = "no learning"
source = "reason"

[[expected_order]]
better = "no learning"
than = "PCD"

[[expected]]
variant = "PCD"
value = -1
tolerance = 0.5
source = "a dream"

[[expected_setting]]
variant = "PCD"
option = "rate_weights"
value = 0.1
source = "habit"

[quick]
runs = 1
tests = 1
updates = 20
)";

TEST_F(Search, AnExperimentComparesTheTestedChoicesOfItsVariants) {
  write_bytes(folder / "two.toml", two_variants);
  const Outcome outcome = succeed({"reproduce", "two.toml", "--out", "out"});
  for (const char* part :
       {"PCD is above no learning by", "the expected order held (reason)", "the expected order did NOT hold",
        "expected −1.000 ± 0.500 (a dream): MISSED", "expected 0.1 (habit)"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in " << outcome.out;
  const ordered_json found = ordered_json::parse(read_bytes(folder / "out/two.results.json"));
  ASSERT_EQ(found["measured"].size(), 5U) << "two means, two orders, a setting";
  for (const ordered_json& row : found["measured"])
    for (const char* key : {"what", "value", "low", "high", "kind", "expected", "source"})
      EXPECT_TRUE(row.contains(key)) << key << " in " << row;
  const ordered_json& mean = found["measured"][0];
  const ordered_json search = ordered_json::parse(read_bytes(folder / "out/PCD/search.json"));
  EXPECT_EQ(mean["value"], search["tested"]["mean"]);
  EXPECT_EQ(mean["kind"], "mean of 2 runs");
  EXPECT_EQ(mean["settings"], search["chosen"]["settings"]);
  EXPECT_EQ(mean["within"], false);
  EXPECT_NEAR(found["measured"][2]["value"].get<double>(),
              mean["value"].get<double>() - found["measured"][1]["value"].get<double>(), 1e-9);
  EXPECT_EQ(found["measured"][2]["expected"], "above 0: held");
  EXPECT_EQ(found["measured"][3]["expected"], "above 0: NOT held");
  EXPECT_EQ(found["measured"][4]["value"], search["chosen"]["settings"]["rate_weights"]);
  EXPECT_TRUE(fs::exists(folder / "out/index.html"));
  // Nothing is left to do.
  EXPECT_EQ(succeed({"reproduce", "two.toml", "--out", "out"}).out, outcome.out);

  const ordered_json quick = json({"reproduce", "two.toml", "--quick"})["experiment"];
  EXPECT_EQ(quick["measured"][0]["kind"], "mean of 1 runs");
  EXPECT_EQ(quick["measured"][0]["updates"], 20);
}

TEST_F(Search, AnExperimentNamesWhatIsWrongInItsFile) {
  struct Case {
    std::string old, by;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases = {
      {"than = \"no learning\"", "than = \"CD\"", {"two.toml, line", "there is no variant 'CD'"}},
      {"better = \"PCD\"", "beter = \"PCD\"", {"two.toml, line", "needs `better`"}},
      {"source = \"reason\"", "seconds = 3", {"two.toml, line", "no variant trains for 3 seconds"}},
      {"name = \"no learning\"", "name = \"PCD\"", {"two variants named 'PCD'"}},
      {"[quick]", "[quick]\nbatches = 3", {"'batches'", "no such option"}},
      {"runs = 2", "runs = 2\nrun = 3", {"'run'", "no such entry of a search experiment"}},
  };
  for (const Case& each : cases) {
    write_bytes(folder / "two.toml", replaced(two_variants, each.old, each.by));
    refuses({"reproduce", "two.toml"}, each.parts);
  }
}

}  // namespace
}  // namespace harmonium::testing
