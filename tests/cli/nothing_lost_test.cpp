// Run folders under bad luck: killed processes, two at once, changed data, full disks. Nothing is lost, nothing is
// guessed in silence.
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class NothingLost : public Tool {
 protected:
  // Runs `arguments`; once at least `update` updates are done, calls `then`, while the run waits.
  [[nodiscard]] Outcome meanwhile(const Arguments& arguments, int update,
                                  const std::function<void(pid_t)>& then) const {
    Process command = process(arguments);
    command.on_error_line = [&, called = false](pid_t child, const std::string& line) mutable {
      if (called || update_of(line).value_or(-1) < update) return;
      called = true;
      ::kill(child, SIGSTOP);  // else it may be done before anybody has looked
      then(child);
      ::kill(child, SIGCONT);
    };
    return run(command);
  }
  void interrupt(const Arguments& arguments, int update = 24) const {
    const Outcome outcome = meanwhile(arguments, update, [](pid_t child) { ::kill(child, SIGINT); });
    ASSERT_EQ(outcome.code, 130) << outcome.err;
  }
  [[nodiscard]] int saved(const std::string& run) const {
    return ordered_json::parse(read_bytes(folder / run / "checkpoint/latest.json"))[0]["update"];
  }
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  [[nodiscard]] Outcome to_full_device(const std::string& arguments) const {
    Process command = process({});
    command.command = {"/bin/sh", "-c", std::string("exec ") + HARMONIUM_BINARY + " " + arguments + " > /dev/full"};
    return run(command);
  }
  // As `refuses`, while another process writes into the folder.
  void refuses_now(const Arguments& arguments, const std::vector<std::string>& parts) const {
    const Outcome outcome = harmonium(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    for (const std::string& part : parts)
      EXPECT_TRUE(holds(outcome.err, part)) << part << " is not in: " << outcome.err;
  }
  void write_table(const std::string& name, int rows, int step) const {
    std::string text;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < 8; ++column)
        text += std::string((row * 5 + column * step) % 7 < 3 ? "1" : "0") + (column == 7 ? "\n" : ",");
    write_bytes(folder / name, text);
  }
};

// Killed at the very start.

TEST_F(NothingLost, AFolderWithNothingButAHalfWrittenConfigurationIsTakenAgain) {
  write_bytes(folder / "run/config.toml.4711.tmp", "data = \"dig");
  succeed(small_run("run"));
  EXPECT_FALSE(fs::exists(folder / "run/config.toml.4711.tmp"));
  EXPECT_FALSE(fs::exists(folder / "run/run.lock"));
}

TEST_F(NothingLost, EveryCommandClearsAwayWhatAKilledProcessHasLeft) {
  succeed(small_run("run", {"--model", "classification_rbm"}));
  // The number may live again as another process: that of this test does.
  const std::string left = "report.html." + std::to_string(::getpid()) + ".tmp";
  for (const Arguments& command :
       {Arguments{"evaluate", "run", "--method", "ais", "--betas", "10"}, Arguments{"classify", "run"},
        Arguments{"report", "run"}, Arguments{"sample", "run", "--sweeps", "1"}, Arguments{"models", "show", "run"},
        Arguments{"encode", "run"}, Arguments{"resume", "run"}}) {
    write_bytes(folder / "run" / left, "half");
    write_bytes(folder / "run/checkpoint" / left, "half");
    succeed(command);
    EXPECT_FALSE(fs::exists(folder / "run" / left)) << command.front();
    EXPECT_FALSE(fs::exists(folder / "run/checkpoint" / left)) << command.front();
  }
}

// Two at once.

TEST_F(NothingLost, ARunThatIsAliveCannotBeTrainedByASecondProcess) {
  succeed(small_run("whole", {"--updates", "2000"}));
  const Outcome first = meanwhile(small_run("run", {"--updates", "2000"}), 24, [&](pid_t child) {
    const std::string who = "process " + std::to_string(child);
    refuses_now({"resume", "run"}, {"run", who, "kill"});
    refuses_now(small_run("run"), {"run", who});
    refuses_now(small_run("run", {"--overwrite"}), {"run", who});
    // Others may look meanwhile, and leave its unfinished files alone.
    succeed({"sample", "run", "--sweeps", "1"});
    EXPECT_TRUE(holds(succeed({"evaluate", "run", "--method", "exact"}).err, "unfinished: update "));
  });
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(model_bytes("run") == model_bytes("whole")) << "the models differ";
  EXPECT_EQ(metrics_without_seconds(folder / "run"), metrics_without_seconds(folder / "whole"));
}

TEST_F(NothingLost, ALayerOfALiveRunCannotBeTrainedByASecondProcess) {
  const Outcome first =
      meanwhile(small_run("run", {"--model", "dbn", "--layers", "6,5", "--updates", "2000"}), 24, [&](pid_t child) {
        refuses_now({"resume", "run/layer-1"}, {"run/layer-1", "process " + std::to_string(child)});
      });
  EXPECT_EQ(first.code, 0) << first.err;
}

// Other data, another configuration.

TEST_F(NothingLost, ChangedDataAreRefusedAndGoOnOnlyOnPurpose) {
  write_table("d.csv", 60, 3);
  const Arguments train = small_run("run", {"--data", "d.csv"});
  ASSERT_NO_FATAL_FAILURE(interrupt(train));
  const std::string before = read_bytes(folder / "d.csv");
  write_table("d.csv", 44, 2);
  refuses({"resume", "run"}, {"run", "data are not those", "--accept-changed-data"});
  EXPECT_TRUE(holds(succeed({"models", "show", "run"}).err, "the data have changed"));
  succeed({"resume", "run", "--accept-changed-data"});
  succeed({"resume", "run"});  // accepted once is enough

  write_bytes(folder / "d.csv", before);
  ASSERT_NO_FATAL_FAILURE(interrupt(small_run("moved", {"--data", "d.csv"})));
  succeed(small_run("whole", {"--data", "d.csv"}));
  fs::rename(folder / "d.csv", folder / "elsewhere.csv");
  std::string config = read_bytes(folder / "moved/config.toml");
  config.replace(config.find("d.csv"), 5, "elsewhere.csv");
  write_bytes(folder / "moved/config.toml", config);
  succeed({"resume", "moved"});  // the same rows under another name
  EXPECT_EQ(metrics_without_seconds(folder / "moved"), metrics_without_seconds(folder / "whole"));
}

TEST_F(NothingLost, ChangedDataAreRefusedBetweenTheLayersOfAStack) {
  write_table("d.csv", 60, 3);
  ASSERT_NO_FATAL_FAILURE(interrupt(small_run("run", {"--data", "d.csv", "--model", "dbn", "--layers", "6,5"}), 84));
  write_table("d.csv", 60, 2);
  refuses({"resume", "run"}, {"data are not those", "--accept-changed-data"});
}

TEST_F(NothingLost, AChangedOrCutConfigurationIsRefusedNamingTheLine) {
  ASSERT_NO_FATAL_FAILURE(interrupt(small_run("run", {"--batch", "25"})));
  const std::string config = read_bytes(folder / "run/config.toml");
  std::string other = config;
  other.replace(other.find("batch = 25"), 10, "batch = 50");
  write_bytes(folder / "run/config.toml", other);
  refuses({"resume", "run"}, {"batch = 50", "batch = 25", "--accept-changed-config"});
  write_bytes(folder / "run/config.toml", config.substr(0, config.find("batch = 25")));  // cut at the end of a line
  refuses({"resume", "run"}, {"--accept-changed-config"});
  write_bytes(folder / "run/config.toml", config);
  succeed({"resume", "run"});
}

TEST_F(NothingLost, AnotherNumberOfThreadsIsWarnedOf) {
  ASSERT_NO_FATAL_FAILURE(interrupt(small_run("run", {"--threads", "2"})));
  EXPECT_TRUE(holds(succeed({"resume", "run", "--threads", "1"}).err, "--threads 2 avoids that"));
}

// Answers that cannot be kept.

TEST_F(NothingLost, AnAnswerThatCannotBeRecordedIsPrintedAndTheExitCodeTells) {
  succeed(small_run("run", {"--model", "classification_rbm"}));
  const auto limited = [&](const Arguments& arguments) {
    Process command = process(arguments);
    command.largest_file = 20;  // bytes: no record fits
    return run(command);
  };
  for (const Arguments& flags : {Arguments{}, Arguments{"--json"}}) {
    const Outcome judged = limited(Arguments{"evaluate", "run", "--method", "ais", "--betas", "10"} + flags);
    EXPECT_EQ(judged.code, 1);
    EXPECT_TRUE(holds(judged.out, flags.empty() ? "log Z" : "\"log_z\"")) << judged.out;
    EXPECT_TRUE(holds(judged.err, "could not be recorded") && holds(judged.err, "evaluations.jsonl")) << judged.err;
    const Outcome classified = limited(Arguments{"classify", "run"} + flags);
    EXPECT_EQ(classified.code, 1);
    EXPECT_TRUE(holds(classified.out, "error")) << classified.out;
    EXPECT_TRUE(holds(classified.err, "classifications.jsonl")) << classified.err;
  }
}

TEST_F(NothingLost, ADamagedLineBesideAnAnswerIsAWarning) {
  succeed(small_run("run"));
  write_bytes(folder / "run/evaluations.jsonl", "{\"model\": 1}\n");
  const Outcome judged = succeed({"evaluate", "run", "--method", "exact"});
  EXPECT_TRUE(holds(judged.out, "log Z"));
  EXPECT_TRUE(holds(judged.err, "run/evaluations.jsonl, line 1: damaged")) << judged.err;
  EXPECT_EQ(evaluations("run").size(), 1U);
  EXPECT_EQ(read_bytes(folder / "run/evaluations.jsonl.damaged"), "{\"model\": 1}\n");
}

TEST_F(NothingLost, AFailedWriteToStandardOutputIsAnError) {
  succeed(small_run("run"));
  for (const char* command : {"evaluate run --method exact --json", "evaluate run --method exact", "models show run",
                              "data info digits", "data list", "--help", "train --help", "report run --json"}) {
    const Outcome outcome = to_full_device(command);
    EXPECT_EQ(outcome.code, 1) << command;
    EXPECT_TRUE(holds(outcome.err, "standard output") && holds(outcome.err, "No space left")) << command << outcome.err;
  }
}

TEST_F(NothingLost, ATrackedRunWhoseJudgementCannotBeWrittenTellsByItsExitCode) {
  const Arguments train = small_run("run", {"--track", "exact", "--snapshots", "10,42"});
  // In the way of the temporary file that the answers would be written to.
  const Outcome first = meanwhile(train, 0, [&](pid_t child) {
    fs::create_directories(folder / "run" / ("evaluations.jsonl." + std::to_string(child) + ".tmp"));
  });
  EXPECT_EQ(first.code, 1) << first.err;
  EXPECT_TRUE(holds(first.err, "could not be judged") && holds(first.err, "harmonium resume run")) << first.err;
  EXPECT_TRUE(fs::exists(folder / "run/model.safetensors")) << "the model itself is well";
  succeed({"resume", "run"});
  EXPECT_EQ(evaluations("run").size(), 3U);
}

// Unfinished runs.

TEST_F(NothingLost, AnUnfinishedRunIsUsableAndMarkedEverywhere) {
  ASSERT_NO_FATAL_FAILURE(interrupt(small_run("run", {"--model", "classification_rbm"})));
  const std::string mark = "update " + std::to_string(saved("run")) + " of 60";
  const auto before = snapshot(folder / "run/checkpoint");
  const Arguments judge = {"evaluate", "run", "--data", "digits:test", "--method", "ais", "--betas", "20"};
  const Outcome judged = succeed(judge);
  EXPECT_TRUE(holds(judged.out, mark)) << judged.out;
  EXPECT_TRUE(holds(judged.err, "unfinished: " + mark)) << judged.err;
  EXPECT_EQ(json(judge)["unfinished"], mark);
  EXPECT_EQ(evaluations("run").at(0)["unfinished"], mark);
  EXPECT_EQ(json({"classify", "run"})["unfinished"], mark);
  EXPECT_TRUE(holds(read_bytes(folder / "run/classifications.jsonl"), mark));
  EXPECT_EQ(json({"sample", "run", "--sweeps", "1"})["unfinished"], mark);
  EXPECT_EQ(json({"encode", "run"})["unfinished"], mark);
  EXPECT_EQ(json({"reconstruct", "run"})["unfinished"], mark);
  EXPECT_EQ(json({"models", "show", "run"})["unfinished"], mark);
  EXPECT_EQ(json({"report", "run"})["unfinished"], mark);
  EXPECT_TRUE(holds(read_bytes(folder / "run/report.html"), mark));
  EXPECT_TRUE(before == snapshot(folder / "run/checkpoint")) << "looking must not change it";

  // It is the model that --finish writes, and later commands do not call that one unfinished.
  const ordered_json seen = json({"models", "show", "run"});
  succeed({"resume", "run", "--finish"});
  const ordered_json finished = json({"models", "show", "run"});
  EXPECT_EQ(seen["parameters"], finished["parameters"]);
  EXPECT_FALSE(finished.contains("unfinished"));
  EXPECT_FALSE(json(judge).contains("unfinished"));
}

TEST_F(NothingLost, AnUnfinishedNetIsUsable) {
  ASSERT_NO_FATAL_FAILURE(
      interrupt(small_run("run", {"--model", "mlp", "--layers", "9,7", "--valid", "digits:test", "--keep", "best"})));
  EXPECT_TRUE(json({"classify", "run"}).contains("unfinished"));
}

TEST_F(NothingLost, ACheckpointGivenForAModelIsExplained) {
  ASSERT_NO_FATAL_FAILURE(interrupt(small_run("run")));
  const std::string file = ordered_json::parse(read_bytes(folder / "run/checkpoint/latest.json"))[0]["file"];
  refuses({"evaluate", "run/checkpoint/" + file}, {file, "this is a checkpoint", "give the folder"});
}

// Another length.

TEST_F(NothingLost, ARunMayBeMadeLonger) {
  succeed(small_run("run", {"--schedule", "constant"}));
  succeed(small_run("long", {"--schedule", "constant", "--updates", "90"}));
  const Outcome longer = succeed({"resume", "run", "--updates", "90"});
  EXPECT_TRUE(holds(longer.err, "now ends at update 90 instead of 60")) << longer.err;
  EXPECT_TRUE(model_bytes("run") == model_bytes("long")) << "a constant rate does not depend on the length";
  succeed({"resume", "run"});
  EXPECT_TRUE(model_bytes("run") == model_bytes("long"));

  succeed(small_run("linear"));
  const Outcome linear = succeed({"resume", "linear", "--updates", "90"});
  EXPECT_TRUE(holds(linear.err, "--schedule linear depends on the length")) << linear.err;
  EXPECT_EQ(json({"models", "show", "linear"})["notes"]["updates"], "90");
}

TEST_F(NothingLost, ARunMayBeMadeShorterButNotShorterThanItIs) {
  ASSERT_NO_FATAL_FAILURE(interrupt(small_run("run", {"--snapshots", "10,58"})));
  const int done = saved("run");
  refuses({"resume", "run", "--updates", "3"}, {"--updates 3", "has done " + std::to_string(done), "--finish"});
  const std::string less = std::to_string(done + 2);
  succeed({"resume", "run", "--updates", less});
  EXPECT_EQ(json({"models", "show", "run"})["notes"]["updates"], less);
  EXPECT_FALSE(fs::exists(folder / "run/snapshots/update-00000058.safetensors"));
}

TEST_F(NothingLost, ALongerRunThatIsKilledGoesOn) {
  succeed(small_run("run", {"--schedule", "constant"}));
  succeed(small_run("long", {"--schedule", "constant", "--updates", "120"}));
  const Outcome killed =
      meanwhile({"resume", "run", "--updates", "120"}, 90, [](pid_t child) { ::kill(child, SIGKILL); });
  EXPECT_EQ(killed.code, -SIGKILL);
  EXPECT_FALSE(fs::exists(folder / "run/model.safetensors")) << "a model of 60 updates is not that of this run";
  succeed({"resume", "run"});
  EXPECT_TRUE(model_bytes("run") == model_bytes("long"));
}

TEST_F(NothingLost, AStackHasNoLengthOfItsOwn) {
  succeed(small_run("run", {"--model", "dbn", "--layers", "6,5"}));
  refuses({"resume", "run", "--updates", "90"}, {"--updates", "layers one by one"});
  refuses({"resume", "run", "--finish"}, {"--finish", "layers one by one"});
}

// What to do next.

TEST_F(NothingLost, TheNextStepNamesDataThatWereNotLearnt) {
  write_table("a.csv", 60, 3);
  write_table("b.csv", 30, 2);
  EXPECT_TRUE(holds(succeed(small_run("built-in")).out, "evaluate built-in --data digits:test"));
  EXPECT_TRUE(
      holds(succeed(small_run("valid", {"--data", "a.csv", "--valid", "b.csv"})).out, "evaluate valid --data b.csv"));
  const std::string alone = succeed(small_run("alone", {"--data", "a.csv"})).out;
  EXPECT_FALSE(holds(alone, "--data a.csv")) << alone;
  EXPECT_TRUE(holds(alone, "not trained on")) << alone;
}

}  // namespace
}  // namespace harmonium::testing
