// `evaluate --method`: every way to an answer, held against the exact one; bounds, verdicts, budgets and stops.
#include <signal.h>

#include <cmath>

#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Methods : public Tool {
 protected:
  void train(const Arguments& more = {}) const {
    succeed(small_run(
        "run", with_defaults(more, {{"--updates", "300"}, {"--optimizer", "centering"}, {"--rate-weights", "0.3"}})));
  }
  // A model whose modes are deep.
  void train_stiff(const Arguments& more = {}) const {
    train(with_defaults(more, {{"--rate-weights", "1.5"}, {"--updates", "600"}}));
  }
  [[nodiscard]] ordered_json ask(const Arguments& more) const {
    return json(Arguments{"evaluate", "run", "--data", "digits:test"} + more);
  }
  [[nodiscard]] static double number(const ordered_json& object, const char* key) {
    return object.at(key).get<double>();
  }
};

TEST_F(Methods, SandwichHoldsTheExactAnswerAndSaysThatItCanBeTrusted) {
  train();
  const double exact = number(ask({"--method", "exact"})["log_likelihood"], "value");
  const ordered_json both = ask({"--method", "sandwich", "--betas", "1000", "--raise-rows", "60"});
  const ordered_json &raise = both["raise"], &upper = both["upper_log_z"];
  EXPECT_EQ(keys(raise),
            (std::vector<std::string>{"value", "low", "high", "coverage", "kind", "rows", "chains", "betas"}));
  EXPECT_EQ(raise["kind"], "lower bound");
  EXPECT_EQ(raise["rows"], 60);
  EXPECT_EQ(raise["chains"], 5);
  EXPECT_EQ(raise["betas"], 1000);
  EXPECT_EQ(upper["kind"], "upper bound");
  EXPECT_EQ(upper["method"], "raise");
  EXPECT_NEAR(number(both, "gap"), number(upper, "value") - number(both["log_z"], "value"), 1e-9);
  EXPECT_NEAR(number(both, "gap"), number(both["log_likelihood"], "value") - number(raise, "value"), 1e-9);
  // A thousand steps on this small model: both within a few hundredths (and noise of that size).
  EXPECT_NEAR(number(both["log_likelihood"], "value"), exact, 0.1);
  EXPECT_NEAR(number(raise, "value"), exact, 0.1);
  EXPECT_NE(both["verdict"].get<std::string>().find("agree within"), std::string::npos) << both["verdict"];
  EXPECT_NE(read_bytes(folder / "run/report.html").find("agree within"), std::string::npos);
}

// Which two of the three witnesses differ most depends on the last bits of the training, and so on the processor.
TEST_F(Methods, SandwichOfFewStepsSaysThatItCannotBeTrusted) {
  train_stiff();
  const ordered_json both = ask({"--method", "sandwich", "--betas", "3", "--chains", "20"});
  EXPECT_GT(number(both, "gap"), 1);
  EXPECT_FALSE(both["judgement"]["trusted"]) << both["verdict"];
  EXPECT_NE(both["verdict"].get<std::string>().find("more β"), std::string::npos) << both["verdict"];
  const Outcome text =
      succeed({"evaluate", "run", "--data", "digits:test", "--method", "sandwich", "--betas", "3", "--chains", "20"});
  for (const char* part : {"lower bound", "RAISE, 100 rows × 5 chains × 3 β", "verdict", "not trusted"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << " is not in: " << text.out;
}

TEST_F(Methods, WithoutDataTheOtherSideIsReverseAis) {
  train();
  const ordered_json both = json({"evaluate", "run", "--method", "sandwich", "--betas", "1000"});
  EXPECT_TRUE(both["raise"].is_null());
  EXPECT_EQ(both["upper_log_z"]["method"], "reverse ais from exact draws");
  EXPECT_NEAR(number(both, "gap"), 0, 0.2);
  EXPECT_NE(both["verdict"].get<std::string>().find("log Z ="), std::string::npos);
  refuses({"evaluate", "run", "--method", "raise"}, {"raise", "--data"});
}

TEST_F(Methods, RaiseAndMomentAveragingAgreeWithTheExactAnswer) {
  train();
  const ordered_json exact = ask({"--method", "exact"});
  const ordered_json raise = ask({"--method", "raise", "--betas", "1000"});
  EXPECT_EQ(raise["log_z"]["kind"], "upper bound");
  EXPECT_EQ(raise["log_likelihood"]["kind"], "lower bound");
  EXPECT_TRUE(raise["gap"].is_null());
  EXPECT_NEAR(number(raise["log_z"], "value"), number(exact["log_z"], "value"), 0.1);
  const ordered_json averaged = ask({"--method", "ma-ais", "--betas", "500", "--knots", "4"});
  EXPECT_EQ(averaged["log_z"]["method"], "ma-ais");
  EXPECT_EQ(averaged["log_z"]["betas"], 500);
  EXPECT_NEAR(number(averaged["log_z"], "value"), number(exact["log_z"], "value"), 0.1);
}

TEST_F(Methods, SchedulesAndBasesLeadToTheSameNumber) {
  train();
  const double exact = number(ask({"--method", "exact"})["log_z"], "value");
  std::string list;
  for (int k = 0; k <= 400; ++k) list += std::to_string(std::pow(k / 400.0, 1.5)) + "\n";
  write_bytes(folder / "betas.txt", list);
  fs::copy(folder / "run/model.safetensors", folder / "base.safetensors");
  const std::vector<std::pair<Arguments, std::string>> ways = {
      {{"--betas", "400", "--schedule", "adaptive"}, "ais, schedule adaptive"},
      {{"--schedule", "betas.txt"}, "ais, schedule betas.txt"},
      {{"--betas", "400", "--base", "uniform"}, "ais, base uniform"},
      {{"--betas", "4", "--base", "base.safetensors"}, "ais, base base.safetensors"},
      {{"--betas", "400", "--sum-out", "even"}, "ais, even layers summed out"}};
  for (const auto& [flags, method] : ways) {
    const ordered_json answer = ask(Arguments{"--method", "ais"} + flags)["log_z"];
    EXPECT_EQ(answer["method"], method);
    EXPECT_NEAR(number(answer, "value"), exact, 0.2) << method;
  }
}

TEST_F(Methods, AutoIsExactForFewUnitsElseASandwichThatGrows) {
  train();
  EXPECT_EQ(ask({})["log_z"]["kind"], "exact");
  fs::remove_all(folder / "run");
  train_stiff({"--hidden", "27"});
  const Outcome grown =
      succeed({"evaluate", "run", "--data", "digits:test", "--betas", "2", "--gap", "0.3", "--minutes", "2", "--json"});
  const ordered_json answer = ordered_json::parse(grown.out);
  EXPECT_GT(answer["log_z"]["betas"], 2) << "two steps cannot have been enough";
  EXPECT_LE(number(answer, "gap"), 0.3);
  EXPECT_EQ(answer["raise"]["betas"], answer["log_z"]["betas"]);
  EXPECT_NE(grown.err.find("2 β: a gap of"), std::string::npos) << grown.err;
  // Out of time before the gap is closed.
  const Outcome hasty = succeed(
      {"evaluate", "run", "--data", "digits:test", "--betas", "2", "--gap", "1e-9", "--minutes", "0.002", "--json"});
  EXPECT_NE(hasty.err.find("beyond --minutes 0.002"), std::string::npos) << hasty.err;
  EXPECT_GT(std::abs(number(ordered_json::parse(hasty.out), "gap")), 1e-9);
}

TEST_F(Methods, JudgeJointModelsAndDensities) {
  succeed(small_run("joint", {"--model", "classification_rbm"}));
  const Arguments sandwich = {"--method", "sandwich", "--betas", "300", "--raise-rows", "30"};
  const ordered_json joint = json(Arguments{"evaluate", "joint", "--data", "digits:test"} + sandwich);
  EXPECT_NEAR(number(joint, "gap"), 0, 0.5);
  std::string rows;
  for (int i = 0; i < 60; ++i)
    rows += std::to_string(std::sin(i)) + "," + std::to_string(2 * std::cos(3 * i)) + "," +
            std::to_string(std::sin(i) * std::cos(i)) + "\n";
  write_bytes(folder / "real.csv", rows);
  succeed(
      {"train", "--data", "real.csv", "--visible", "gaussian", "--hidden", "5", "--updates", "200", "--out", "real"});
  const double exact = number(json({"evaluate", "real", "--data", "real.csv"})["log_likelihood"], "value");
  const ordered_json both = json(Arguments{"evaluate", "real", "--data", "real.csv"} + sandwich);
  EXPECT_NEAR(number(both["log_likelihood"], "value"), exact, 0.1);
  EXPECT_NEAR(number(both["raise"], "value"), exact, 0.1);
}

TEST_F(Methods, InterruptedGoOnWhereTheyWere) {
  train();
  const Arguments question = {"evaluate", "run",      "--data", "digits:test",  "--method", "sandwich", "--betas",
                              "20000",    "--chains", "20",     "--raise-rows", "10",       "--json"};
  const ordered_json whole = ordered_json::parse(succeed(question).out);
  fs::remove(folder / "run/evaluations.jsonl");
  for (const std::string stage : {"AIS, 20000 β 8000/", "RAISE, 20000 β 8000/"}) {
    Process command = process(question);
    command.on_error_line = [&, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || !line.starts_with(stage)) return;
      ::kill(child, SIGINT);
      sent = true;
    };
    const Outcome stopped = run(command);
    EXPECT_EQ(stopped.code, 130) << stopped.err;
    EXPECT_NE(stopped.err.find("run the same command to continue"), std::string::npos) << stopped.err;
    EXPECT_TRUE(fs::exists(folder / "run/evaluating"));
  }
  const Outcome rest = succeed(question);
  EXPECT_EQ(rest.err.find("RAISE, 20000 β 1000/"), std::string::npos) << "RAISE was done again: " << rest.err;
  EXPECT_EQ(ordered_json::parse(rest.out), whole);
  EXPECT_FALSE(fs::exists(folder / "run/evaluating"));
}

TEST_F(Methods, RefuseWhatMakesNoSense) {
  train();
  const auto refuse = [&](const Arguments& more, const std::vector<std::string>& parts) {
    refuses(Arguments{"evaluate", "run", "--data", "digits:test"} + more, parts);
  };
  refuse({"--method", "magic"}, {"magic", "sandwich"});
  refuse({"--method", "ais", "--chains", "0"}, {"--chains 0"});
  refuse({"--method", "ais", "--betas", "-3"}, {"--betas -3"});
  refuse({"--method", "raise", "--raise-rows", "0"}, {"--raise-rows 0"});
  refuse({"--method", "raise", "--raise-chains", "0"}, {"--raise-chains 0"});
  refuse({"--method", "ma-ais", "--knots", "-1"}, {"--knots -1"});
  refuse({"--method", "ma-ais", "--betas", "5"}, {"5 steps", "9 knots"});
  refuse({"--gap", "0"}, {"--gap 0"});
  refuse({"--minutes", "0"}, {"--minutes 0"});
  refuse({"--method", "ais", "--sum-out", "both"}, {"--sum-out both", "even"});
  refuse({"--method", "ais", "--schedule", "nowhere.txt"}, {"nowhere.txt"});
  write_bytes(folder / "bad.txt", "0 0.5 one");
  refuse({"--method", "ais", "--schedule", "bad.txt"}, {"bad.txt", "first 2 numbers"});
  write_bytes(folder / "backwards.txt", "0 0.7 0.5 1");
  refuse({"--method", "ais", "--schedule", "backwards.txt"}, {"increase"});
  refuse({"--schedule", "backwards.txt"}, {"--schedule backwards.txt", "auto"});
  refuse({"--method", "ma-ais", "--schedule", "adaptive"}, {"ma-ais"});
  write_bytes(folder / "pair.npz",
              npz({{"W", {{1, 1}, {1.5F}}}, {"visible_bias", {{1}, {-0.5F}}}, {"hidden_bias", {{1}, {0.25F}}}}));
  refuse({"--method", "ais", "--base", "pair.npz"}, {"--base pair.npz", "bernoulli:64", "bernoulli:1"});
}

TEST_F(Methods, OfSnapshotsAreRememberedByTheirWay) {
  succeed(small_run("run", {"--snapshots", "10,42"}));
  const Arguments judge = {"evaluate", "run",     "--snapshots", "--data",       "digits:test", "--chains",
                           "10",       "--betas", "20",          "--raise-rows", "5",           "--method"};
  EXPECT_EQ(json(judge + Arguments{"sandwich"})["asked"], 3);
  EXPECT_EQ(json(judge + Arguments{"ais"})["asked"], 3);
  EXPECT_EQ(json(judge + Arguments{"sandwich"})["asked"], 0) << "the plain answer stands beside it";
  EXPECT_EQ(json(judge + Arguments{"ais"})["asked"], 0);
}

}  // namespace
}  // namespace harmonium::testing
