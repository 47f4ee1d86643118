// `harmonium reproduce`: an experiment runs to its end whatever interrupts it, and says what it found against what was
// expected.
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

constexpr const char* experiment = R"(
kind = "training"
title = "Two optimizers on digits"
question = "Which is better?"
test = "digits:test"
train = "digits:train"
train_limit = 100

[config]
data = "digits"
limit = 200
hidden = 8
updates = 60
batch = 20
log_every = 5
checkpoint_every = 7
snapshots = "10,60"

[[run]]
name = "sgd"
optimizer = "sgd"

[[run]]
name = "centered"
rate_weights = 0.3

[[expected]]
run = "sgd"
updates = 60
value = -27
tolerance = 5
source = "a guess"

[[expected]]
run = "centered"
updates = 60
value = -1
tolerance = 0.5

[quick]
updates = 20
snapshots = "20"
test_limit = 50
)";

class Reproduce : public Tool {
 protected:
  Reproduce() { write_bytes(folder / "tiny.toml", experiment); }

  // Sends a signal at the first line that starts so.
  [[nodiscard]] Outcome stop(const std::string& start, int signal) const {
    Process command = process({"reproduce", "tiny.toml", "--out", "out"});
    command.on_error_line = [start, signal, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || !line.starts_with(start)) return;
      ::kill(child, signal);
      sent = true;
    };
    return run(command);
  }
  [[nodiscard]] ordered_json results(const std::string& out) const {
    return ordered_json::parse(read_bytes(folder / out / "tiny.results.json"));
  }
  [[nodiscard]] ordered_json measured_without_seconds(const std::string& out) const {
    ordered_json rows = results(out)["measured"];
    for (ordered_json& row : rows) row.erase("seconds");
    return rows;
  }
  void replace(const std::string& old, const std::string& text) const {
    std::string bytes = experiment;
    bytes.replace(bytes.find(old), old.size(), text);
    write_bytes(folder / "tiny.toml", bytes);
  }
};

TEST_F(Reproduce, DoesNotJudgeRunsThatOthersOnlyBeginWith) {
  replace("name = \"sgd\"", "name = \"sgd\"\njudged = false");
  const Outcome outcome = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_NE(outcome.err.find("for others to begin with"), std::string::npos) << outcome.err;
  EXPECT_TRUE(std::filesystem::exists(folder / "out" / "sgd" / "model.safetensors"));
  EXPECT_FALSE(std::filesystem::exists(folder / "out" / "sgd" / "evaluations.jsonl"));
  const ordered_json measured = results("out")["measured"];
  EXPECT_EQ(measured.size(), 4U) << "one run, two snapshots, two sets";
  for (const ordered_json& row : measured) EXPECT_EQ(row["run"], "centered");
  replace("name = \"sgd\"", "name = \"sgd\"\njudged = 3");
  refuses({"reproduce", "tiny.toml", "--out", "other"}, {"judged", "tiny.toml"});
}

TEST_F(Reproduce, ListsTheExperimentsItHasInside) {
  const ordered_json all = json({"reproduce"})["experiments"];
  std::set<std::string> names;
  for (const ordered_json& each : all) names.insert(each["name"].get<std::string>());
  for (const char* name : {"mnist_published", "mnist_fresh", "omniglot"}) EXPECT_TRUE(names.contains(name)) << name;
  const Outcome listed = succeed({"reproduce"});
  for (const ordered_json& each : all) {
    EXPECT_NE(listed.out.find(each["title"].get<std::string>()), std::string::npos) << listed.out;
    // Whole, but for the data, which this test's machine does not have.
    if (each["kind"] == "training") refuses({"reproduce", each["name"].get<std::string>()}, {"is not on this machine"});
  }
}

TEST_F(Reproduce, TrainsJudgesAndWritesWhatItFound) {
  const Outcome outcome = succeed({"reproduce", "tiny.toml"});
  EXPECT_NE(outcome.err.find("Two optimizers on digits"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("60 updates of sgd on digits"), std::string::npos) << outcome.err;
  const std::string out = "runs/reproduce/tiny";
  EXPECT_EQ(names_in(folder / out), (std::set<std::string>{"sgd", "centered", "tiny.results.json", "index.html"}));
  const ordered_json found = results(out);
  EXPECT_EQ(keys(found), (std::vector<std::string>{"title", "question", "measured", "commands", "seed", "machine",
                                                   "date", "not_measured"}));
  ASSERT_EQ(found["measured"].size(), 8U) << "two runs, two snapshots, two sets";
  for (const ordered_json& row : found["measured"]) {
    for (const char* key : {"what", "value", "low", "high", "kind", "expected", "source", "updates", "seconds"})
      EXPECT_TRUE(row.contains(key)) << key;
    EXPECT_EQ(row["kind"], "exact");
    EXPECT_EQ(row["expected"].is_number(), row["updates"] == 60 && row["data"] == "digits:test");
  }
  EXPECT_EQ(found["commands"], ordered_json::array({"harmonium reproduce tiny.toml"}));
  EXPECT_NE(found["machine"].get<std::string>().find("LibTorch"), std::string::npos);
}

TEST_F(Reproduce, PutsBothSidesOfASandwichAmongItsNumbers) {
  replace("test = \"digits:test\"\n", "test = \"digits:test\"\nmethod = \"sandwich\"\nchains = 20\nbetas = 50\n");
  (void)succeed({"reproduce", "tiny.toml", "--quick", "--out", "out"});
  const ordered_json rows = results("out")["measured"];
  ASSERT_EQ(rows.size(), 2U * 2 * 2) << "two runs, two data sets, two sides";
  for (std::size_t i = 0; i < rows.size(); i += 2) {
    const ordered_json &estimate = rows[i], &bound = rows[i + 1];
    ordered_json said;
    for (const ordered_json& each : evaluations(fs::path("out") / estimate["run"].get<std::string>()))
      if (each["data"] == estimate["data"]) said = each;
    const double gap = said["gap"];
    EXPECT_NEAR(bound["value"].get<double>(), estimate["value"].get<double>() - gap, 1e-9);
    EXPECT_LE(bound["low"].get<double>(), bound["value"].get<double>());
    EXPECT_GE(bound["high"].get<double>(), bound["value"].get<double>());
    EXPECT_EQ(bound["kind"], "lower bound");
    EXPECT_EQ(bound["data"], estimate["data"]);
  }
}

TEST_F(Reproduce, SaysWhichExpectedValuesWereMissedAndStillSucceeds) {
  const Outcome outcome = succeed({"reproduce", "tiny.toml", "--out", "out"});
  for (const char* part : {"expected −27 ± 5", "within tolerance", "expected −1 ± 0.5", "MISSED",
                           "of 2 expected values 1 were met, 1 missed, 0 not measured"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in: " << outcome.out;
  const std::string page = read_bytes(folder / "out/index.html");
  for (const char* part : {"Which is better?", "MISSED", "within tolerance", "sgd, test, expected", "against updates"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(Reproduce, DoesTheShortVersionInAFolderOfItsOwn) {
  const Outcome outcome = succeed({"reproduce", "tiny.toml", "--quick"});
  EXPECT_NE(outcome.out.find("2 not measured"), std::string::npos) << outcome.out;
  const ordered_json found = results("runs/reproduce/tiny-quick");
  EXPECT_EQ(found["title"], "Two optimizers on digits (quick)");
  EXPECT_EQ(found["measured"].size(), 4U);
  EXPECT_EQ(found["measured"][0]["updates"], 20);
  EXPECT_NE(found["measured"][0]["what"].get<std::string>().find("50 rows"), std::string::npos);
  EXPECT_EQ(found["not_measured"].size(), 2U);
}

TEST_F(Reproduce, RepeatsNothingThatIsDone) {
  succeed({"reproduce", "tiny.toml", "--out", "out"});
  const ordered_json before = results("out")["measured"];
  const std::string model = model_bytes("out/sgd");
  const Outcome again = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_EQ(again.err.find("training "), std::string::npos) << again.err;
  EXPECT_EQ(again.err.find("enumerating "), std::string::npos) << again.err;
  EXPECT_EQ(results("out")["measured"], before);
  EXPECT_TRUE(model_bytes("out/sgd") == model);
}

TEST_F(Reproduce, GoesOnWhereItWasKilledAndEndsWithTheSameNumbers) {
  succeed({"reproduce", "tiny.toml", "--out", "whole"});
  for (const char* moment :
       {"training sgd, run 1 of 2: 30/60", "enumerating 2 of 2", "training centered, run 2 of 2: 24/60"})
    EXPECT_EQ(stop(moment, SIGKILL).code, -SIGKILL) << moment;
  const Outcome last = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_EQ(last.err.find("training sgd"), std::string::npos) << "that run was finished: " << last.err;
  EXPECT_EQ(measured_without_seconds("whole"), measured_without_seconds("out"));
}

TEST_F(Reproduce, SavesOnCtrlCAndSaysHowToGoOn) {
  const Outcome outcome = stop("training centered, run 2 of 2: 24/60", SIGINT);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("harmonium reproduce tiny.toml --out out"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "out/tiny.results.json"));
  const Outcome last = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_NE(last.err.find("continues at update"), std::string::npos) << last.err;
  EXPECT_EQ(results("out")["measured"].size(), 8U);
}

TEST_F(Reproduce, PrintsOneJsonObject) {
  const ordered_json result = json({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_EQ(result["page"], "out/index.html");
  EXPECT_EQ(result["results"], "out/tiny.results.json");
  EXPECT_EQ(result["experiment"], results("out"));
}

TEST_F(Reproduce, RefusesToMixTwoConfigurationsInOneFolder) {
  succeed({"reproduce", "tiny.toml", "--out", "out"});
  replace("hidden = 8", "hidden = 9");
  refuses({"reproduce", "tiny.toml", "--out", "out"}, {"out/sgd", "another configuration", "--out"});
}

TEST_F(Reproduce, RefusesBadExperimentsBeforeAnythingIsWritten) {
  refuses({"reproduce", "nothing"}, {"no experiment 'nothing'", "mnist_published"});
  refuses({"reproduce", "missing.toml"}, {"no experiment file missing.toml"});
  const std::vector<std::array<std::string, 3>> mistakes = {
      {"\"training\"", "\"dancing\"", "'dancing'"},
      {"kind = \"training\"", "", "kind"},
      {"hidden = 8", "hiden = 8", "'hiden'"},
      {"train_limit = 100", "trian_limit = 100", "'trian_limit'"},
      {"updates = 20\n", "updats = 20\n", "'updats'"},
      {"test = \"digits:test\"", "", "test"},
      {"test = \"digits:test\"", "test = \"digits:tset\"", "tset"},
      {"optimizer = \"sgd\"", "optimizer = \"dance\"", "dance"},
      {"name = \"centered\"", "name = \"sgd\"", "two runs named 'sgd'"},
      {"name = \"centered\"", "name = \"../sgd\"", "letters, digits"},
      {"run = \"sgd\"", "run = \"sdg\"", "'sdg'"},
      {"snapshots = \"10,60\"", "snapshots = \"10,61\"", "--snapshots 10,61"},
      {"value = -27", "value = \"good\"", "a number is needed"},
      {"[quick]", "[quick", "line"},
  };
  for (const auto& [old, text, part] : mistakes) {
    replace(old, text);
    refuses({"reproduce", "tiny.toml"}, {part});
  }
}

}  // namespace
}  // namespace harmonium::testing
