// Runs that fail through no mistake in their input: divergence, a full disk, a folder that cannot be.
#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Divergence : public Tool {
 protected:
  static void expect_advice(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 1);
    for (const char* part : {"diverged at update ", "largest magnitude in '", "--rate-weights", "--rate-bias"})
      EXPECT_NE(outcome.err.find(part), std::string::npos) << part << " is not in: " << outcome.err;
  }
};

TEST_F(Divergence, StopsTheRunNamingUpdateAndTensorWithAdvice) {
  expect_advice(harmonium(small_run("run", {"--rate-weights", "1e7"})));
  EXPECT_FALSE(fs::exists(folder / "run/model.safetensors"));
  EXPECT_FALSE(fs::exists(folder / "run/checkpoint")) << "a checkpoint of a diverged state";
}

TEST_F(Divergence, LeavesTheLastGoodCheckpoint) {
  // Inertia makes the steps grow from a tolerable beginning: the first checkpoints are sound.
  const Outcome outcome = harmonium(small_run("run", {"--rate-weights", "300", "--rate-bias", "300", "--momentum",
                                                      "0.99", "--schedule", "constant", "--checkpoint-every", "1"}));
  expect_advice(outcome);
  const std::string at = "diverged at update ";
  const int diverged = std::stoi(outcome.err.substr(outcome.err.find(at) + at.size()));
  const auto saved = ordered_json::parse(read_bytes(folder / "run/checkpoint/latest.json"))[0]["update"].get<int>();
  EXPECT_GE(saved, 1);
  EXPECT_LT(saved, diverged);
  // It can be read: the run goes on from there, and fails at the same place.
  expect_advice(harmonium({"resume", "run"}));
}

class FullDisk : public Tool {
 protected:
  // Files may not grow beyond `bytes`, which fails with the same kind of error as a full disk.
  [[nodiscard]] Outcome limited(const Arguments& arguments, rlim_t bytes) const {
    Process command = process(arguments);
    command.largest_file = bytes;
    return run(command);
  }
  static void expect_failure_to_write(const Outcome& outcome, const std::string& file) {
    EXPECT_EQ(outcome.code, 1);
    EXPECT_NE(outcome.err.find(file), std::string::npos) << file << " is not in: " << outcome.err;
    EXPECT_EQ(outcome.err.find("internal error"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
};

TEST_F(FullDisk, IsReportedWithTheCheckpointThatCouldNotBeWritten) {
  expect_failure_to_write(limited(small_run("run", {"--log-every", "60"}), 2000),
                          "run/checkpoint/update-00000007.safetensors");
  EXPECT_EQ(names_in(folder / "run/checkpoint"), std::set<std::string>{}) << "a half-written file was left";
}

TEST_F(FullDisk, InTheMiddleOfTheMetricsIsMendedByResuming) {
  succeed(small_run("whole", {"--log-every", "1", "--checkpoint-every", "1000"}));
  expect_failure_to_write(limited(small_run("run", {"--log-every", "1", "--checkpoint-every", "1000"}), 3000),
                          "run/metrics.jsonl");
  succeed({"resume", "run"});
  EXPECT_TRUE(model_bytes("run") == model_bytes("whole")) << "the models differ";
  EXPECT_EQ(metrics_without_seconds(folder / "run"), metrics_without_seconds(folder / "whole"));
}

TEST_F(FullDisk, LeavesTheModelAndTheReportOfAFinishedRunAsTheyWere) {
  succeed(small_run("run", {"--log-every", "60"}));
  const std::string model = model_bytes("run"), report = read_bytes(folder / "run/report.html");
  const auto files = names_in(folder / "run");
  expect_failure_to_write(limited({"resume", "run"}, 2000), "run/model.safetensors");
  EXPECT_TRUE(model_bytes("run") == model);
  EXPECT_EQ(names_in(folder / "run"), files);
  expect_failure_to_write(limited({"report", "run"}, 2000), "run/report.html");
  const Outcome judged = limited({"evaluate", "run"}, 20);
  EXPECT_EQ(judged.code, 1);
  EXPECT_NE(judged.err.find("run/evaluations.jsonl"), std::string::npos) << judged.err;
  EXPECT_NE(judged.out.find("log Z"), std::string::npos) << "the answer is printed whatever becomes of the record";
  EXPECT_TRUE(read_bytes(folder / "run/report.html") == report);
  EXPECT_EQ(names_in(folder / "run"), files);
}

TEST_F(FullDisk, LeavesEarlierSamplesAsTheyWere) {
  write_bytes(folder / "model.npz", npz({{"W", {{4, 2}, std::vector<float>(8, 0)}},
                                         {"visible_bias", {{4}, std::vector<float>(4, 0)}},
                                         {"hidden_bias", {{2}, std::vector<float>(2, 0)}}}));
  write_bytes(folder / "x.npy", "earlier");
  write_bytes(folder / "x.png", "earlier");
  const auto before = snapshot(folder);
  for (const char* file : {"x.npy", "x.png"})
    expect_failure_to_write(limited({"sample", "model.npz", "--sweeps", "1", "--out", file}, 10), file);
  EXPECT_TRUE(before == snapshot(folder));
}

TEST_F(FullDisk, OrAPathThroughAFileIsReportedWithTheFolderThatCannotBeMade) {
  write_bytes(folder / "file", "text");
  expect_failure_to_write(harmonium(small_run("file/run")), "file/run");
  EXPECT_EQ(read_bytes(folder / "file"), "text");
  succeed(small_run("run"));
  expect_failure_to_write(harmonium({"sample", "run", "--sweeps", "1", "--out", "no/such/folder/x.png"}),
                          "no/such/folder/x.png");
}

}  // namespace
}  // namespace harmonium::testing
