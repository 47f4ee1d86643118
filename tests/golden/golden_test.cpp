// Run folders that an older version of the tool has written (make_fixtures says how) must stay what they are: this
// version goes on with them, trains the same models from their config.toml, and finds the same things out about them.
//
// Where processor, compiler and LibTorch are those of fixtures/machine.json, models are compared byte for byte and
// answers number by number. Elsewhere sums are rounded in another order, and this is what is still claimed:
//
//  - the same tensors with the same shapes and finite values, the same metadata; the same names in all answers;
//  - values within `tolerance` where nothing that is drawn or kept depends on computed numbers ("sampled": false).
//    The other runs compare random numbers with probabilities, 20 chains × 72 units × 40 updates of them, and a
//    probability that differs by 1e-7 makes one draw in 1e7 differ: in a run of a hundred, after which its
//    chains and its model take another way, as good as the first. Such a difference is printed and is no failure;
//  - estimates inside the interval of the older answer, other numbers within 0.001 of them.
//
// Where results change on purpose: make the fixtures again, and say why in the commit.
#include <cmath>
#include <iostream>

#include "tests/cli/tool.h"
#include "tests/golden/machine.h"
#include "tests/golden/stored_tensors.h"

namespace harmonium::testing {
namespace {

// A sum of up to 200 products in another order differs by about √200 × 2^-24 ≈ 1e-6 of its terms. 40 updates add up 40
// such differences of the gradient, and a step divides by as little as the damping of 0.01 or Adam's root of a small
// mean square: 1e-6 × 40 × 0.05 (a rate) / 0.01 = 2e-4, relative to the largest value of a tensor. Five times that.
constexpr double tolerance = 1e-3;

const fs::path fixtures = fs::path(HARMONIUM_GOLDEN_FOLDER) / "fixtures";

std::vector<std::string> fixture_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fixtures))
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

const std::string& difference_from_here() {
  static const std::string difference =
      difference_from_machine(ordered_json::parse(read_bytes(fixtures / "machine.json")), HARMONIUM_BINARY);
  return difference;
}
bool same_machine() { return difference_from_here().empty(); }

// What equal runs may differ in.
ordered_json without_seconds(const ordered_json& value) {
  ordered_json result = value;
  if (value.is_object())
    for (const char* name : {"seconds", "updates_per_second"}) result.erase(name);
  if (value.is_structured())
    for (auto& each : result) each = without_seconds(each);
  return result;
}

// What is not as it was, a line each. `sampled`: whether another rounding may have led to other values.
class Comparison {
 public:
  Comparison(bool exact, bool sampled) : exact_(exact), sampled_(sampled) {}

  void compare_models(const std::string& then, const std::string& now) {
    if (then == now) return;
    compare_tensors(parse_stored_tensors(then), parse_stored_tensors(now));
    if (exact_ && failures.empty()) fail("the bytes of the file differ, though tensors and metadata do not");
  }

  void compare_tensors(const StoredTensors& then, const StoredTensors& now) {
    compare_metadata(then.metadata, now.metadata);
    for (const auto& [name, tensor] : now.tensors)
      if (!then.tensors.contains(name)) fail("a new tensor: " + name);
    for (const auto& [name, tensor] : then.tensors) {
      if (const auto found = now.tensors.find(name); found == now.tensors.end())
        fail("no tensor " + name);
      else if (found->second.shape != tensor.shape)
        fail("another shape of " + name);
      else
        compare_values(name, tensor.values, found->second.values);
    }
  }

  // Lines of metrics, answers of commands and codes. `where` says what is compared.
  void compare_json(const std::string& where, const ordered_json& then, const ordered_json& now) {
    if (then.is_number() && now.is_number()) {
      const double a = then, b = now;
      if (exact_ ? a != b : !(std::abs(a - b) <= 1e-3 * std::max(1.0, std::abs(a))))
        fail(where + ": " + now.dump() + ", not " + then.dump());
    } else if (then.is_object() && now.is_object()) {
      for (const auto& [name, value] : then.items()) {  // a later version may say more, never less
        if (!now.contains(name))
          fail(where + ": no '" + name + "' in " + now.dump());
        else if (!depends_on_rounding(name))
          compare_member(where, name, then, now);
      }
    } else if (then.is_array() && now.is_array() && then.size() == now.size()) {
      for (std::size_t i = 0; i < then.size(); ++i)
        compare_json(where + "[" + std::to_string(i) + "]", then[i], now[i]);
    } else if (then != now) {
      fail(where + ": " + now.dump() + ", not " + then.dump());
    }
  }

  std::string failures = {}, notes = {};

 private:
  void fail(const std::string& line) { failures += "  " + line + "\n"; }

  void compare_metadata(std::map<std::string, std::string> then, std::map<std::string, std::string> now) {
    // The model that is kept may be that of another update.
    if (!exact_ && sampled_) then.erase("note.updates"), now.erase("note.updates");
    if (then == now) return;
    fail("metadata " + ordered_json(now).dump() + ", not " + ordered_json(then).dump());
  }

  void compare_values(const std::string& name, const std::vector<float>& then, const std::vector<float>& now) {
    double largest = 0, difference = 0;
    bool finite = true;
    for (std::size_t i = 0; i < then.size(); ++i) {
      finite = finite && std::isfinite(now[i]);
      largest = std::max<double>(largest, std::abs(then[i]));
      difference = std::max(difference, std::abs(double{then[i]} - now[i]));
    }
    if (!finite) return fail(name + " has values that are not finite");
    if (difference <= (exact_ ? 0 : tolerance * largest)) return;
    std::ostringstream line;  // not std::to_string, to which the last bits of a float are zeros
    line << name << " differs by up to " << difference << ", its values reach " << largest;
    if (exact_ || !sampled_)
      fail(line.str());
    else
      notes += "  " + line.str() + "\n";
  }

  // What a draw or a near tie can change a lot.
  [[nodiscard]] bool depends_on_rounding(const std::string& name) const {
    static const std::set<std::string> names = {"effective_samples", "largest_weight", "pareto_k", "gap",
                                                "verdict",           "mistakes"};
    return !exact_ && names.contains(name);
  }

  void compare_member(const std::string& where, const std::string& name, const ordered_json& then,
                      const ordered_json& now) {
    // An estimate: its ends move with its draws, and its value stays between them.
    const bool estimate = then.contains("low") && then.contains("high") && then["low"] != then["high"];
    if (!exact_ && estimate && (name == "low" || name == "high")) return;
    if (!exact_ && estimate && name == "value" && now[name] >= then["low"] && now[name] <= then["high"]) return;
    compare_json(where + "." + name, then[name], now[name]);
  }

  bool exact_, sampled_;
};

class OldRun : public Tool, public ::testing::WithParamInterface<std::string> {
 protected:
  OldRun() {
    // Data that are neither built in nor generated are named as if they lay beside the run.
    if (fs::exists(fixture / "groups.csv")) fs::copy(fixture / "groups.csv", folder);
    fs::copy(fixture / "run", folder / "run", fs::copy_options::recursive);
    answers = ordered_json::parse(read_bytes(fixture / "answers.json"));
  }

  [[nodiscard]] Comparison comparison() const { return {same_machine(), answers.at("sampled").get<bool>()}; }

  static void report(const std::string& what, const Comparison& done) {
    EXPECT_TRUE(done.failures.empty()) << what << ":\n"
                                       << done.failures
                                       << (same_machine() ? "" : "on another machine: " + difference_from_here() + "\n")
                                       << "Where this is meant: tests/golden/make_fixtures, and why in the commit.\n";
    if (!done.notes.empty())
      std::cout << what << ", on another machine (" << difference_from_here() << "), which may be:\n" << done.notes;
  }

  // Everything that a finished run has written, against the run that was never interrupted.
  void expect_the_old_end(const fs::path& run) const {
    Comparison model = comparison();
    model.compare_models(read_bytes(fixture / "expected.safetensors"), read_bytes(run / "model.safetensors"));
    report("model.safetensors", model);

    const fs::path metrics = fixture / "expected_metrics.jsonl";  // a stack has none of its own
    if (fs::exists(metrics) && (same_machine() || !answers["sampled"])) {
      Comparison rows = comparison();
      rows.compare_json("line", ordered_json(read_lines(metrics)), ordered_json(metrics_without_seconds(run)));
      report("metrics.jsonl", rows);
    }

    if (!fs::exists(fixture / "run" / "snapshots")) return;
    const std::string middle = "update-00000020.safetensors", end = "update-00000040.safetensors";
    EXPECT_EQ(names_in(run / "snapshots"), (std::set<std::string>{middle, end}));
    // A snapshot says in its metadata how long it took to get there.
    const auto tensors = [](const fs::path& file) {
      return StoredTensors{.tensors = parse_stored_tensors(read_bytes(file)).tensors};
    };
    Comparison snapshots = comparison();
    snapshots.compare_tensors(tensors(fixture / "run" / "snapshots" / middle), tensors(run / "snapshots" / middle));
    snapshots.compare_tensors(tensors(fixture / "expected.safetensors"), tensors(run / "snapshots" / end));
    report("snapshots", snapshots);
  }

  // What was trained before the end of the old process is not trained again: lines of metrics are there still, with the
  // seconds that it took then. Without this, a run that begins anew would look like one that has gone on.
  void expect_the_old_beginning() const {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(fixture / "run")) {
      if (entry.path().filename() != "metrics.jsonl") continue;
      const fs::path place = fs::relative(entry.path(), fixture);
      const auto then = read_lines(entry.path()), now = read_lines(folder / place);
      ASSERT_LE(then.size(), now.size()) << place;
      for (std::size_t i = 0; i < then.size(); ++i) EXPECT_EQ(then[i], now[i]) << place << ", line " << i + 1;
      ++files;
    }
    EXPECT_GT(files, 0);
  }

  [[nodiscard]] static std::vector<ordered_json> read_lines(const fs::path& file) {
    std::vector<ordered_json> rows;
    std::istringstream lines(read_bytes(file));
    for (std::string line; std::getline(lines, line);) rows.push_back(ordered_json::parse(line));
    return rows;
  }

  const fs::path fixture = fixtures / GetParam();
  ordered_json answers;
};

TEST_P(OldRun, GoesOnToTheModelItWouldHaveBecome) {
  ASSERT_FALSE(fs::exists(folder / "run" / "model.safetensors")) << "the fixture is not one of a killed run";
  succeed({"resume", "run", "--threads", "1"});
  expect_the_old_beginning();
  expect_the_old_end(folder / "run");
}

TEST_P(OldRun, IsTrainedAgainFromItsConfiguration) {
  succeed({"train", "run/config.toml", "--out", "again", "--threads", "1"});
  expect_the_old_end(folder / "again");
}

TEST_P(OldRun, AnswersAsItDid) {
  fs::copy(fixture / "expected.safetensors", folder / "run" / "model.safetensors");
  if (fs::exists(fixture / "evaluations.jsonl")) fs::copy(fixture / "evaluations.jsonl", folder / "run");
  ASSERT_FALSE(answers["questions"].empty());
  for (const ordered_json& question : answers["questions"]) {
    const auto command = question["command"].get<Arguments>();
    std::string name;
    for (const std::string& word : command) name += (name.empty() ? "" : " ") + word;
    SCOPED_TRACE(name);
    // Numbers of a question are about a model that is there: no draw of its training is in them.
    // Codes come from the machine itself since models have one face, no longer from a net unrolled from it: the same
    // formula, rounded elsewhere.
    const bool rounded_alike = command[0] != "encode" && command[0] != "reconstruct";
    Comparison found(same_machine() && rounded_alike, /*sampled=*/false);
    found.compare_json("answer", question["answer"], without_seconds(json(command + Arguments{"--threads", "1"})));
    if (question.contains("codes")) {
      ordered_json codes = ordered_json::array();
      std::istringstream lines(read_bytes(folder / "codes.csv"));
      for (std::string line; std::getline(lines, line);) codes.push_back(ordered_json::parse("[" + line + "]"));
      found.compare_json("codes", question["codes"], codes);
    }
    report("harmonium " + name, found);
  }
}

INSTANTIATE_TEST_SUITE_P(Golden, OldRun, ::testing::ValuesIn(fixture_names()),
                         [](const auto& test) { return test.param; });

TEST(OldRuns, AreOfEveryKind) {
  std::set<std::string> kinds;
  for (const std::string& name : fixture_names()) {
    std::istringstream lines(read_bytes(fixtures / name / "run" / "config.toml"));
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("model = ")) kinds.insert(line.substr(8));
  }
  EXPECT_EQ(kinds,
            (std::set<std::string>{"\"rbm\"", "\"classification_rbm\"", "\"mrf\"", "\"semi_restricted\"", "\"dbm\"",
                                   "\"dbn\"", "\"classification_dbn\"", "\"mlp\"", "\"autoencoder\""}));
}

// A skip, not silence, where the others compare less than they could.
TEST(OldRuns, AreComparedToTheLastBit) {
  if (!same_machine()) GTEST_SKIP() << "this is not the machine of the fixtures: " << difference_from_here();
}

}  // namespace
}  // namespace harmonium::testing
