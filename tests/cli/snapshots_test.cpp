// `train --snapshots` keeps the model at chosen updates, the same ones after a kill; `evaluate --snapshots` judges
// them.
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Snapshots : public Tool {
 protected:
  [[nodiscard]] fs::path path(const std::string& run, int update) const {
    const std::string digits = std::to_string(update);
    return folder / run / "snapshots" / ("update-" + std::string(8 - digits.size(), '0') + digits + ".safetensors");
  }
  // A model file without the one note that may differ between equal runs.
  [[nodiscard]] static std::pair<ordered_json, std::string> without_seconds(const fs::path& path) {
    const std::string bytes = read_bytes(path);
    std::size_t length = 0;
    for (int i = 7; i >= 0; --i)
      length = length * 256 + static_cast<unsigned char>(bytes.at(static_cast<std::size_t>(i)));
    ordered_json header = ordered_json::parse(bytes.substr(8, length));
    EXPECT_GT(std::stod(header["__metadata__"]["note.seconds"].get<std::string>()), 0);
    header["__metadata__"].erase("note.seconds");
    return {header, bytes.substr(8 + length)};
  }
  const Arguments judge = {"evaluate", "run", "--snapshots", "--data", "digits:test"};
};

TEST_F(Snapshots, AreWrittenAtTheUpdatesAskedForAndOnlyThere) {
  succeed(small_run("run", {"--snapshots", "10,42"}));
  EXPECT_EQ(names_in(folder / "run/snapshots"),
            (std::set<std::string>{"update-00000010.safetensors", "update-00000042.safetensors"}));
  const Outcome shown = succeed({"models", "show", path("run", 42).string()});
  EXPECT_NE(shown.out.find("42"), std::string::npos) << shown.out;
  succeed(small_run("none"));
  EXPECT_FALSE(fs::exists(folder / "none/snapshots"));
}

TEST_F(Snapshots, DoNotChangeTheRunTheyAreTakenOf) {
  succeed(small_run("plain"));
  succeed(small_run("watched", {"--snapshots", "log"}));
  EXPECT_TRUE(model_bytes("plain") == model_bytes("watched"));
  EXPECT_EQ(names_in(folder / "watched/snapshots").size(), 5U) << "1, 3, 10, 30, 60";
  // The last one is the final model, but for its note of the time.
  EXPECT_TRUE(
      without_seconds(path("watched", 60)).second ==
      model_bytes("plain").substr(model_bytes("plain").size() - without_seconds(path("watched", 60)).second.size()));
}

TEST_F(Snapshots, OfAKilledAndResumedRunHoldTheSameParameters) {
  const Arguments flags = {"--snapshots", "5,14,21,25,50,60"};
  succeed(small_run("whole", flags));
  Process command = process(small_run("killed", flags));
  command.on_error_line = [](pid_t child, const std::string& line) {
    if (update_of(line).value_or(-1) >= 24) ::kill(child, SIGKILL);
  };
  ASSERT_EQ(run(command).code, -SIGKILL);
  succeed({"resume", "killed"});
  ASSERT_EQ(names_in(folder / "whole/snapshots"), names_in(folder / "killed/snapshots"));
  for (const int update : {5, 14, 21, 25, 50, 60})
    EXPECT_TRUE(without_seconds(path("whole", update)) == without_seconds(path("killed", update))) << update;
}

TEST_F(Snapshots, AreRemovedWhereARunIsReplaced) {
  succeed(small_run("run", {"--snapshots", "10"}));
  succeed(small_run("run", {"--overwrite"}));
  EXPECT_FALSE(fs::exists(folder / "run/snapshots"));
}

TEST_F(Snapshots, OfABadListAreRefusedBeforeAnythingIsWritten) {
  refuses(small_run("run", {"--snapshots", "often"}), {"--snapshots often", "100,300,1000"});
  refuses(small_run("run", {"--snapshots", "10,61"}), {"--snapshots 10,61", "61", "60"});
}

TEST_F(Snapshots, AreJudgedTogetherWithTheFinalModelAndTheAnswersAreKept) {
  succeed(small_run("run", {"--snapshots", "10,42"}));
  const ordered_json result = json(judge);
  EXPECT_EQ(result["asked"], 3);
  EXPECT_EQ(result["known"], 0);
  std::vector<int> updates;
  double seconds = 0;
  for (const ordered_json& each : result["evaluations"]) {
    updates.push_back(each["updates"]);
    EXPECT_GE(each["seconds"], seconds);
    seconds = each["seconds"];
    EXPECT_EQ(each["log_likelihood"]["kind"], "exact");
  }
  EXPECT_EQ(updates, (std::vector<int>{10, 42, 60}));
  EXPECT_EQ(evaluations("run"), result["evaluations"].get<std::vector<ordered_json>>());
  // The final model is judged as on its own.
  EXPECT_EQ(json({"evaluate", "run", "--data", "digits:test"})["log_likelihood"],
            result["evaluations"][2]["log_likelihood"]);
  EXPECT_EQ(evaluations("run").size(), 3U);
}

TEST_F(Snapshots, ThatWereJudgedTheSameWayAreNotJudgedAgain) {
  succeed(small_run("run", {"--snapshots", "10,42"}));
  succeed(judge);
  EXPECT_EQ(json(judge)["asked"], 0);
  EXPECT_EQ(json(judge + Arguments{"--limit", "20"})["asked"], 3) << "other rows are another question";
  const Arguments annealed = judge + Arguments{"--method", "ais", "--chains", "10", "--betas"};
  EXPECT_EQ(json(annealed + Arguments{"20"})["asked"], 3) << "so is another method";
  EXPECT_EQ(json(annealed + Arguments{"20"})["asked"], 0);
  EXPECT_EQ(json(annealed + Arguments{"30"})["asked"], 3) << "and more steps";
  // What an interrupted command has not answered is all that is left to do.
  const std::vector<ordered_json> rows = evaluations("run");
  std::string without_one;
  for (const ordered_json& row : rows)
    if (!(row["updates"] == 42 && row["log_z"]["betas"] == 30)) without_one += row.dump() + "\n";
  write_bytes(folder / "run/evaluations.jsonl", without_one);
  EXPECT_EQ(json(annealed + Arguments{"30"})["asked"], 1);
  EXPECT_EQ(evaluations("run").size(), rows.size());
}

TEST_F(Snapshots, AreJudgedOfRunsOnlyAndByDataOnly) {
  succeed(small_run("run", {"--snapshots", "10"}));
  refuses({"evaluate", "run/model.safetensors", "--snapshots", "--data", "digits:test"}, {"run folder"});
  refuses({"evaluate", "run", "--snapshots"}, {"--data"});
}

}  // namespace
}  // namespace harmonium::testing
