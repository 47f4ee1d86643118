// The real binary on a disk that fails: a library that is loaded before the system's makes one chosen call on a file
// fail (tests/hostile/failing_calls.c, where the script beside it tries every call of every command).
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class FailingCalls : public Tool {
 protected:
  void SetUp() override {
#if defined(HARMONIUM_SANITIZED)
    GTEST_SKIP() << "sanitizers want to be loaded first";
#endif
  }
  // What `arguments` come to where calls on files whose paths begin with `below` are counted: those that read, or those
  // that write. Call `at` has the fault.
  [[nodiscard]] Outcome with_fault(const Arguments& arguments, const std::string& kind, const std::string& below,
                                   const std::string& fault, std::size_t at) const {
    Process command = watched(arguments, kind, below);
    command.environment["FC_FAULT"] = fault;
    command.environment["FC_AT"] = std::to_string(at);
    return run(command);
  }
  // All calls without a fault, as "rename /where/config.toml".
  [[nodiscard]] std::vector<std::string> calls(const Arguments& arguments, const std::string& kind,
                                               const std::string& below) const {
    Process command = watched(arguments, kind, below);
    const fs::path log = folder / "calls";
    fs::remove(log);
    command.environment["FC_LOG"] = log.string();
    EXPECT_EQ(run(command).code, 0);
    std::vector<std::string> lines;
    std::istringstream text(read_bytes(log));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
  // Each of the first reads of `file` fails once: the command must say so, with the file, and nothing in the file may
  // be lost. (The script tries all of them.)
  void expect_no_read_passed_over(const Arguments& arguments, const std::string& file) const {
    const std::string before = read_bytes(folder / file);
    const std::vector<std::string> all = calls(arguments, "reads", file);
    std::size_t reads = 0;
    for (std::size_t at = 1; at <= all.size() && reads < 4; ++at) {
      if (!all[at - 1].starts_with("read ")) continue;
      ++reads;
      write_bytes(folder / file, before);
      const Outcome outcome = with_fault(arguments, "reads", file, "eio", at);
      EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << outcome.code << " at call " << at << ": " << outcome.err;
      EXPECT_NE(outcome.err.find(file), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.err.find("Input/output error"), std::string::npos) << outcome.err;
      EXPECT_TRUE(read_bytes(folder / file).starts_with(before)) << "lost by a failure of call " << at;
    }
    EXPECT_GE(reads, 1U);
  }

 private:
  [[nodiscard]] Process watched(const Arguments& arguments, const std::string& kind, const std::string& below) const {
    Process command = process(arguments);
    command.environment["LD_PRELOAD"] = HARMONIUM_FAILING_CALLS;
    command.environment["FC_UNDER"] = (folder / below).string();
    command.environment["FC_WHAT"] = kind;
    return command;
  }
};

TEST_F(FailingCalls, ThatReadDataLoseNoRowInSilence) {
  std::string table;
  for (int row = 0; row < 4000; ++row) table += row % 3 == 0 ? "0,1,1,0,1,0,0,1\n" : "1,0,1,1,0,1,1,0\n";
  write_bytes(folder / "rows.csv", table);
  expect_no_read_passed_over({"data", "info", "rows.csv"}, "rows.csv");
}

TEST_F(FailingCalls, ThatReadMetricsLoseNoLine) {
  succeed(small_run("run"));
  expect_no_read_passed_over({"resume", "run"}, "run/metrics.jsonl");
}

TEST_F(FailingCalls, ThatReadAnswersLoseNone) {
  succeed(small_run("run"));
  succeed({"evaluate", "run", "--data", "digits:test", "--method", "exact"});
  expect_no_read_passed_over({"evaluate", "run", "--method", "exact"}, "run/evaluations.jsonl");
}

TEST_F(FailingCalls, BeforeWhichARunIsKilledAtItsStartLeaveAFolderThatIsTakenAgain) {
  const Arguments train = small_run("run", {"--updates", "2"});
  const std::vector<std::string> all = calls(train, "writes", "run");
  const std::string model = model_bytes("run");
  int kills = 0;
  for (std::size_t at = 1; at <= all.size(); ++at) {
    if (all[at - 1].find("config.toml") == std::string::npos) continue;
    ++kills;
    fs::remove_all(folder / "run");
    EXPECT_EQ(with_fault(train, "writes", "run", "kill", at).code, -SIGKILL);
    succeed(fs::exists(folder / "run/config.toml") ? Arguments{"resume", "run"} : train);
    EXPECT_TRUE(model_bytes("run") == model) << "killed before " << all[at - 1];
  }
  EXPECT_GE(kills, 4) << "open, write, sync, rename";
}

TEST_F(FailingCalls, NeverLetACheckpointOutliveTheMetricsBeforeIt) {
  const std::vector<std::string> all = calls(small_run("run"), "writes", "run");
  bool synced = true;
  int checkpoints = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].ends_with("metrics.jsonl"))
      synced = all[i].starts_with("fsync") || (synced && !all[i].starts_with("write"));
    if (!all[i].starts_with("rename") || all[i].find("checkpoint/update-") == std::string::npos) continue;
    ++checkpoints;
    EXPECT_TRUE(synced) << "a line of metrics may be younger on disk than " << all[i];
    ASSERT_LT(i + 1, all.size());
    EXPECT_TRUE(all[i + 1].starts_with("fsync") && all[i + 1].ends_with("run/checkpoint")) << all[i + 1];
  }
  EXPECT_EQ(checkpoints, 9) << "eight on the way, and the last";
}

TEST_F(FailingCalls, ThatSyncAFolderAreFailures) {
  const Arguments train = small_run("run", {"--updates", "2"});
  const std::vector<std::string> all = calls(train, "writes", "run");
  const auto synced = std::ranges::find_if(
      all, [](const std::string& call) { return call.starts_with("fsync") && call.ends_with("run/checkpoint"); });
  ASSERT_NE(synced, all.end());
  fs::remove_all(folder / "run");
  const Outcome outcome = with_fault(train, "writes", "run", "eio", static_cast<std::size_t>(synced - all.begin()) + 1);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("run/checkpoint"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("fsync of its folder"), std::string::npos) << outcome.err;
}

}  // namespace
}  // namespace harmonium::testing
