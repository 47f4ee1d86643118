// `harmonium compare`: a table, a page, and what it says of runs that cannot be compared.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Compare : public Tool {
 protected:
  void train(const std::string& out, const Arguments& more = {}) const {
    succeed(small_run(out, Arguments{"--snapshots", "10,60"} + more));
  }
  void judge(const std::string& run, const Arguments& more = {}) const {
    succeed(Arguments{"evaluate", run, "--snapshots", "--data", "digits:test"} + more);
  }
};

TEST_F(Compare, WritesAPageAndATableWithEveryAnswer) {
  train("sgd", {"--optimizer", "sgd"});
  train("centering");
  for (const char* run : {"sgd", "centering"}) judge(run);
  const Outcome outcome = succeed({"compare", "sgd", "centering"});
  for (const char* part : {"run", "optimizer", "digits:test, 300 rows, stochastic (seed 0)", "exact", "compare.html"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in: " << outcome.out;
  EXPECT_EQ(std::ranges::count(outcome.out, '\n'), 6) << "a head, two snapshots of two runs, the page: " << outcome.out;
  const std::string page = read_bytes(folder / "compare.html");
  for (const char* part : {"against updates", "against training time", "sgd, test", "Pseudo-log-likelihood"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(Compare, PrintsJsonAndWritesWhereItIsTold) {
  train("run");
  judge("run");
  const ordered_json result = json({"compare", "run", "--out", "page.html"});
  EXPECT_EQ(result["page"], "page.html");
  EXPECT_TRUE(fs::exists(folder / "page.html"));
  EXPECT_FALSE(fs::exists(folder / "compare.html"));
  const ordered_json& run = result["runs"][0];
  EXPECT_EQ(run["name"], "run");
  EXPECT_EQ(run["optimizer"], "fang");
  EXPECT_EQ(run["evaluations"].size(), 2U);
  EXPECT_EQ(run["evaluations"][0]["updates"], 10);
  EXPECT_TRUE(run["judge"].is_null());
}

TEST_F(Compare, ListsRunsWithoutAnswersWithTheCommandThatGivesThem) {
  train("run");
  const Outcome outcome = succeed({"compare", "run"});
  const std::string command = "harmonium evaluate run --snapshots --data digits:test";
  EXPECT_NE(outcome.out.find(command), std::string::npos) << outcome.out;
  EXPECT_EQ(json({"compare", "run"})["runs"][0]["judge"], command);
}

TEST_F(Compare, TellsRunsOfTheSameNameApartByTheirPaths) {
  train("one/run");
  train("other/run");
  const ordered_json runs = json({"compare", "one/run", "other/run/"})["runs"];
  EXPECT_EQ(runs[0]["name"], "one/run");
  EXPECT_EQ(runs[1]["name"], "other/run/");
}

TEST_F(Compare, RefusesRunsJudgedUnderDifferentBinarizationsAndSaysHowToJudgeThemAlike) {
  train("one");
  train("other");
  judge("one");
  judge("other", {"--binarize", "threshold"});
  const std::string command =
      "harmonium evaluate other --snapshots --data digits:test --limit 300 --binarize stochastic";
  refuses({"compare", "one", "other"},
          {"digits:test", "one: stochastic", "other: threshold", "different quantities", command});

  // The command it gave is all that was missing.
  judge("other", {"--limit", "300", "--binarize", "stochastic"});
  const Outcome outcome = succeed({"compare", "one", "other"});
  EXPECT_NE(outcome.out.find("Left out: threshold of other (2 answers)"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("rows, threshold"), std::string::npos) << outcome.out;
  const ordered_json result = json({"compare", "one", "other"});
  EXPECT_EQ(result["left_out"].size(), 1U);
  for (const ordered_json& run : result["runs"]) EXPECT_EQ(run["evaluations"].size(), 2U);
  EXPECT_NE(read_bytes(folder / "compare.html").find("Left out"), std::string::npos);
}

TEST_F(Compare, TakesOtherSeedsForTheSameProtocol) {
  train("one");
  train("other");
  judge("one");
  judge("other", {"--seed", "7", "--draws", "2"});
  EXPECT_TRUE(json({"compare", "one", "other"})["left_out"].empty());
  EXPECT_NE(read_bytes(folder / "compare.html").find("seeds 7"), std::string::npos);
}

TEST_F(Compare, RefusesAFolderThatIsNoRunAndSaysWhatToGive) {
  fs::create_directory(folder / "empty");
  refuses({"compare", "empty"}, {"empty is not a run folder", "harmonium train"});
  refuses({"compare", "nowhere"}, {"nowhere is not a run folder", "harmonium train"});
  refuses({"compare"}, {"runs"});
}

}  // namespace
}  // namespace harmonium::testing
