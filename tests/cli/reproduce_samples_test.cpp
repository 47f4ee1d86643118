// `harmonium reproduce` of kind "samples": runs are trained and judged, their samples shown side by side, and an order
// that was expected is held against what was found.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

constexpr const char* samples_experiment = R"(
kind = "samples"
title = "Long and short"
question = "Does training help?"
test = "digits:test"

[config]
data = "digits"
hidden = 8
batch = 20
snapshots = "none"

[[run]]
name = "long"
updates = 300

[[run]]
name = "short"
updates = 2

[samples]
starts = ["noise"]
count = 10
sweeps = 50
trace = 20
order = ["long", "short"]

[samples.quick]
sweeps = 5

[quick]
test_limit = 50
)";

class ReproduceSamples : public Tool {
 protected:
  ReproduceSamples() { write_bytes(folder / "tiny.toml", samples_experiment); }
};

TEST_F(ReproduceSamples, ShowsSamplesSideBySideAndHoldsTheOrderAgainstThem) {
  const Outcome outcome = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_NE(outcome.out.find("order by log-likelihood: long"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(": held"), std::string::npos) << outcome.out;
  EXPECT_EQ(names_in(folder / "out"), (std::set<std::string>{"long", "short", "tiny.results.json", "index.html"}));
  const ordered_json found = ordered_json::parse(read_bytes(folder / "out/tiny.results.json"));
  std::map<std::string, ordered_json> rows;
  for (const ordered_json& row : found["measured"]) rows[row["what"].get<std::string>()] = row;
  const std::string who = ", 10 chains of gibbs from noise, 50 sweeps: ";
  for (const std::string run : {"long", "short"}) {
    EXPECT_TRUE(rows.contains(run + who + "mean distance to the nearest labelled row"));
    EXPECT_TRUE(rows.contains(run + who + "changes of class per chain and 100 sweeps"));
  }
  EXPECT_EQ(rows.at("order by log-likelihood")["expected"], "held");
  const std::string page = read_bytes(folder / "out/index.html");
  for (const char* part : {"gallery-long-noise", "gallery-short-noise", "Does training help?", "Expected order"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(ReproduceSamples, RepeatsNothingThatIsDoneAndSaysWhereTheOrderFails) {
  succeed({"reproduce", "tiny.toml", "--out", "out"});
  const ordered_json before = ordered_json::parse(read_bytes(folder / "out/tiny.results.json"))["measured"];
  std::string text = samples_experiment;
  const std::string order = R"(["long", "short"])";
  text.replace(text.find(order), order.size(), R"(["short", "long"])");
  write_bytes(folder / "tiny.toml", text);
  const Outcome again = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_EQ(again.err.find("sampling "), std::string::npos) << again.err;
  EXPECT_NE(again.out.find("NOT HELD"), std::string::npos) << again.out;
  const ordered_json after = ordered_json::parse(read_bytes(folder / "out/tiny.results.json"))["measured"];
  ASSERT_EQ(before.size(), after.size());
  EXPECT_EQ(before[2], after[2]) << "a number of samples";
}

TEST_F(ReproduceSamples, RefusesBadExperimentsBeforeAnythingIsWritten) {
  const std::vector<std::array<std::string, 3>> mistakes = {
      {"sweeps = 50", "swepes = 50", "'swepes'"},
      {"sweeps = 5\n", "swepes = 5\n", "'swepes'"},
      {"\"noise\"", "\"nosie\"", "nosie"},
      {"\"short\"]", "\"brief\"]", "'brief'"},
      {"trace = 20", "trace = 20\nsampler = \"dance\"", "dance"},
      {"trace = 20", "trace = 20\nsampler = \"herding\"", "one chain"},
      {"trace = 20", "trace = 0", "trace"},
  };
  for (const auto& [old, replacement, part] : mistakes) {
    std::string text = samples_experiment;
    text.replace(text.find(old), old.size(), replacement);
    write_bytes(folder / "tiny.toml", text);
    refuses({"reproduce", "tiny.toml", "--out", "out"}, {part});
  }
}

}  // namespace
}  // namespace harmonium::testing
