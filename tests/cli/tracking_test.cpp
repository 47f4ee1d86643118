// `train --track`: likelihoods found while training goes on, the same ones whatever stops the run, and never at the
// model's expense.
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Track : public Tool {
 protected:
  [[nodiscard]] std::vector<ordered_json> answers(const std::string& run) const {
    std::vector<ordered_json> rows = evaluations(run);
    std::ranges::sort(rows, {}, [](const ordered_json& row) { return row["updates"].get<int>(); });
    return rows;
  }
  // Without what may differ between equal runs.
  [[nodiscard]] std::vector<ordered_json> timeless(const std::string& run) const {
    std::vector<ordered_json> rows = answers(run);
    for (ordered_json& row : rows)
      for (const char* key : {"seconds", "model"}) row.erase(key);
    return rows;
  }
  // A signal at the first line of standard error that starts so.
  [[nodiscard]] Outcome stop(const Arguments& arguments, int signal, const std::string& start) const {
    Process command = process(arguments);
    command.on_error_line = [signal, start, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || !line.starts_with(start)) return;
      ::kill(child, signal);
      sent = true;
    };
    return run(command);
  }
  // Each answer takes longer than all of the training.
  [[nodiscard]] static Arguments slow_run(const std::string& out) {
    return small_run(out,
                     {"--track", "ais", "--track-chains", "50", "--track-betas", "6000", "--snapshots", "10,20,42"});
  }
};

TEST_F(Track, AnswersForEverySnapshotAndTheFinalModelAsEvaluateWould) {
  const Outcome outcome = succeed(small_run("run", {"--track", "exact", "--snapshots", "10,42"}));
  std::vector<ordered_json> tracked = answers("run");
  ASSERT_EQ(tracked.size(), 3U);
  EXPECT_EQ(tracked[0]["data"], "digits:valid");
  EXPECT_EQ(tracked[0]["binarization"], "stochastic (seed 0)");
  EXPECT_EQ(tracked[2]["model"], "run");
  EXPECT_NE(outcome.out.find("log-likelihood of"), std::string::npos) << outcome.out;
  EXPECT_NE(read_bytes(folder / "run/report.html").find("Log-likelihood of digits against updates"), std::string::npos);

  const Arguments judge = {"evaluate",
                           "run",
                           "--snapshots",
                           "--data",
                           "digits:valid",
                           "--limit",
                           std::to_string(tracked[0]["n"].get<int>())};
  EXPECT_EQ(json(judge)["asked"], 0) << "it is the same question";
  fs::remove(folder / "run/evaluations.jsonl");
  auto judged = json(judge)["evaluations"].get<std::vector<ordered_json>>();
  // Only a run that has ended knows which rows it has learnt from.
  for (auto* all : {&judged, &tracked})
    for (ordered_json& each : *all)
      for (const char* key : {"trained_rows", "trained_rows_note"}) each.erase(key);
  EXPECT_EQ(judged, tracked);
}

TEST_F(Track, TakesLogarithmicSnapshotsUnlessToldAndChangesNoByteOfTheModel) {
  succeed(small_run("plain"));
  succeed(small_run("tracked", {"--track", "ais", "--track-chains", "10", "--track-betas", "50"}));
  EXPECT_TRUE(model_bytes("plain") == model_bytes("tracked"));
  EXPECT_EQ(metrics_without_seconds(folder / "plain"), metrics_without_seconds(folder / "tracked"));
  std::vector<int> updates;
  for (const ordered_json& row : answers("tracked")) {
    updates.push_back(row["updates"]);
    EXPECT_EQ(row["log_z"]["method"], "ais");
    EXPECT_EQ(row["log_z"]["chains"], 10);
    EXPECT_EQ(row["log_z"]["betas"], 50);
  }
  EXPECT_EQ(updates, (std::vector<int>{1, 3, 10, 30, 60}));
  const std::string config = read_bytes(folder / "tracked/config.toml");
  EXPECT_NE(config.find("snapshots = \"log\""), std::string::npos) << config;
}

TEST_F(Track, ShowsTheLatestAnswerInTheProgressOfTraining) {
  // Enough updates that the first answers come before the last line.
  const Outcome outcome = succeed(
      small_run("run", {"--track", "exact", "--updates", "3000", "--log-every", "100", "--checkpoint-every", "1000"}));
  bool shown = false;
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);)
    shown = shown || (update_of(line) && line.find("log-lik −") != std::string::npos);
  EXPECT_TRUE(shown) << outcome.err;
}

TEST_F(Track, OfARunWithoutValidationDataJudgesByWhatItLearns) {
  succeed(small_run("run", {"--track", "auto", "--valid", "none", "--binarize", "threshold", "--snapshots", "60"}));
  ASSERT_EQ(answers("run").size(), 1U);
  EXPECT_EQ(answers("run")[0]["data"], "digits");
  EXPECT_EQ(answers("run")[0]["n"], 200);
  EXPECT_EQ(answers("run")[0]["binarization"], "threshold");
  EXPECT_EQ(answers("run")[0]["log_z"]["kind"], "exact");
}

class StoppedTrack : public Track, public ::testing::WithParamInterface<int> {};

TEST_P(StoppedTrack, AnswersAllOnceItIsResumed) {
  const bool killed = GetParam() == SIGKILL;
  succeed(slow_run("whole"));
  const std::vector<ordered_json> all = timeless("whole");
  ASSERT_EQ(all.size(), 4U);
  // While it trains …
  const Outcome early = stop(slow_run("run"), GetParam(), "training 24/60");
  EXPECT_EQ(early.code, killed ? -SIGKILL : 130) << early.err;
  EXPECT_LT(answers("run").size(), 2U);
  // … and while it waits for answers.
  const Outcome late = stop({"resume", "run"}, GetParam(), "judging ");
  EXPECT_EQ(late.code, killed ? -SIGKILL : 130) << late.err;
  EXPECT_TRUE(fs::exists(folder / "run/model.safetensors"));
  EXPECT_LT(answers("run").size(), 4U);
  if (!killed) {
    EXPECT_NE(late.err.find("harmonium resume run"), std::string::npos) << late.err;
    EXPECT_EQ(late.out, "");
  }
  succeed({"resume", "run"});
  EXPECT_EQ(timeless("run"), all);
  EXPECT_TRUE(model_bytes("run") == model_bytes("whole"));
  EXPECT_EQ(names_in(folder / "run"), names_in(folder / "whole")) << "nothing half-written is left";
}

INSTANTIATE_TEST_SUITE_P(By, StoppedTrack, ::testing::Values(SIGINT, SIGKILL),
                         [](const auto& signal) { return signal.param == SIGINT ? "CtrlC" : "Force"; });

TEST_F(Track, ThatCannotJudgeASnapshotSaysSoAndTrainingGoesOn) {
  succeed(small_run("whole"));
  ASSERT_EQ(stop(slow_run("run"), SIGKILL, "training 24/60").code, -SIGKILL);
  write_bytes(folder / "run/snapshots/update-00000010.safetensors", "garbage");
  const Outcome outcome = harmonium({"resume", "run"});
  EXPECT_EQ(outcome.code, 1) << "the model is there, an answer is not";
  EXPECT_NE(outcome.err.find("--track: run/snapshots/update-00000010.safetensors could not be judged"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(model_bytes("run") == model_bytes("whole"));
  EXPECT_GE(answers("run").size(), 3U);
}

TEST_F(Track, InAWayThatDoesNotExistOrCannotWorkIsRefusedBeforeAnythingIsRemoved) {
  succeed(small_run("run"));
  const auto refused = [&](const Arguments& flags, const std::vector<std::string>& parts) {
    refuses(small_run("run", Arguments{"--overwrite"} + flags), parts);
  };
  refused({"--track", "often"}, {"--track often", "ais", "exact"});
  refused({"--track", "ais", "--track-chains", "0"}, {"--track-chains", "at least 1"});
  refused({"--track", "ais", "--track-betas", "0"}, {"--track-betas", "at least 1"});
  refused({"--track", "exact", "--hidden", "40"}, {"--track exact", "2^25", "--track ais"});
  refused({"--track", "ais", "--binarize", "none"}, {"--track ais", "digits"});
}

}  // namespace
}  // namespace harmonium::testing
