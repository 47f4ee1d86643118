#include "harmonium/report/protocols.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

struct Answer {
  std::string data, binarization;
};

ComparedRun run_with(const std::string& name, const std::vector<Answer>& answers) {
  ComparedRun run;
  run.name = name;
  run.folder = "runs/" + name;
  for (const auto& [data, binarization] : answers) {
    Evaluation evaluation;
    evaluation.data = data;
    evaluation.n = 300;
    evaluation.binarization = binarization;
    evaluation.log_likelihood = Estimate();
    run.evaluations.push_back(std::move(evaluation));
  }
  return run;
}

std::vector<std::string> left_in(const ComparedRun& run) {
  std::vector<std::string> texts;
  for (const Evaluation& each : run.evaluations) texts.push_back(each.data + " " + each.binarization);
  return texts;
}

std::string refusal_of(std::vector<ComparedRun> runs) {
  try {
    (void)keep_common_protocols(runs);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Protocols, AreTheWordWithoutTheSeeds) {
  EXPECT_EQ(protocol_of("none"), "none");
  EXPECT_EQ(protocol_of("stochastic (seed 0)"), "stochastic");
  EXPECT_EQ(protocol_of("stochastic (seeds 0–4)"), "stochastic");
}

TEST(Protocols, ThatAllRunsShareLeaveNothingOut) {
  std::vector<ComparedRun> runs = {run_with("a", {{"mnist:test", "stochastic (seed 0)"}, {"mnist:test", "threshold"}}),
                                   run_with("b", {{"mnist:test", "threshold"}, {"mnist:test", "stochastic (seed 3)"}})};
  EXPECT_TRUE(keep_common_protocols(runs).empty());
  EXPECT_EQ(runs[0].evaluations.size(), 2U);
  EXPECT_EQ(runs[1].evaluations.size(), 2U);
}

TEST(Protocols, OfOneRunAloneOrOfDifferentDataNeedNoOther) {
  std::vector<ComparedRun> runs = {run_with("a", {{"mnist:test", "threshold"}, {"mnist:test", "stochastic (seed 0)"}}),
                                   run_with("b", {{"digits:test", "stochastic (seed 0)"}}), run_with("c", {})};
  EXPECT_TRUE(keep_common_protocols(runs).empty());
  EXPECT_EQ(runs[0].evaluations.size(), 2U);
}

TEST(Protocols, ThatSomeRunsLackAreLeftOutWithASentence) {
  std::vector<ComparedRun> runs = {
      run_with("a", {{"mnist:test", "stochastic (seed 0)"}, {"mnist:test", "threshold"}, {"mnist:train", "threshold"}}),
      run_with("b", {{"mnist:test", "stochastic (seed 0)"}})};
  const std::vector<std::string> sentences = keep_common_protocols(runs);
  EXPECT_EQ(sentences, std::vector<std::string>{"mnist:test: only binarization stochastic is common to all runs judged "
                                                "by it. Left out: threshold of a (1 answer)."});
  EXPECT_EQ(left_in(runs[0]), (std::vector<std::string>{"mnist:test stochastic (seed 0)", "mnist:train threshold"}))
      << "the other part was judged of one run only";
}

TEST(Protocols, WithoutACommonOneAreRefusedWithTheCommandForTheFewest) {
  const std::string refusal =
      refusal_of({run_with("a", {{"mnist:test", "threshold"}}), run_with("b", {{"mnist:test", "stochastic (seed 0)"}}),
                  run_with("c", {{"mnist:test", "threshold"}, {"mnist:test", "none"}})});
  for (const char* part : {"mnist:test", "a: threshold", "b: stochastic", "c: none and threshold",
                           "harmonium evaluate runs/b --data mnist:test --limit 300 --binarize threshold"})
    EXPECT_NE(refusal.find(part), std::string::npos) << part << " is not in: " << refusal;
  EXPECT_EQ(refusal.find("evaluate runs/a"), std::string::npos) << refusal;
}

TEST(Protocols, SharedByEveryPairOfRunsButNotByAllAreRefused) {
  EXPECT_NE(refusal_of({run_with("a", {{"d", "threshold"}, {"d", "none"}}),
                        run_with("b", {{"d", "none"}, {"d", "stochastic (seed 0)"}}),
                        run_with("c", {{"d", "stochastic (seed 0)"}, {"d", "threshold"}})}),
            "");
}

}  // namespace
}  // namespace harmonium
