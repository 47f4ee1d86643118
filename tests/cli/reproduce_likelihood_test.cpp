// `harmonium reproduce` of the kinds that hold likelihood estimates against the truth.
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

constexpr const char* annealing = R"(
kind = "annealing"
title = "A small RBM"
question = "Who is right?"
data = "digits:test"
limit = 60
betas = [20, 200]
methods = ["ais", "ma-ais", "raise", "reverse"]
chains = 50
raise_rows = 30
raise_chains = 2

[train]
data = "digits"
limit = 200
hidden = 6
updates = 60
batch = 20

[quick]
betas = [20]
methods = ["ais", "raise"]

[[expected]]
method = "ais"
betas = 200
error_at_least = -1
error_at_most = 1

[[expected]]
method = "reverse"
betas = 200
error_at_least = 30
source = "a wild guess"

[[expected]]
betas = 200
gap_at_most = 2
verdict = "agree"
)";

constexpr const char* calibration = R"(
kind = "calibration"
title = "Few machines"
question = "Are promises kept?"
machines = 30
visible = 5
hidden = 4
betas = 100
ladder = [1, 10]
rows = 20

[quick]
machines = 20
)";

class ReproduceLikelihood : public Tool {
 protected:
  ReproduceLikelihood() {
    write_bytes(folder / "small.toml", annealing);
    write_bytes(folder / "few.toml", calibration);
  }
  [[nodiscard]] ordered_json results(const std::string& path) const {
    return ordered_json::parse(read_bytes(folder / path));
  }
  // Sends a signal at the first line that starts so.
  [[nodiscard]] Outcome stop(const std::string& file, const std::string& start, int signal) const {
    Process command = process({"reproduce", file, "--out", "out"});
    command.on_error_line = [start, signal, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || !line.starts_with(start)) return;
      ::kill(child, signal);
      sent = true;
    };
    return run(command);
  }
  void replace(const std::string& name, const char* text, const std::string& old, const std::string& by) const {
    std::string bytes = text;
    ASSERT_NE(bytes.find(old), std::string::npos) << old;
    bytes.replace(bytes.find(old), old.size(), by);
    write_bytes(folder / name, bytes);
  }
};

TEST_F(ReproduceLikelihood, MeasuresEveryMethodAtEveryNumberOfBetas) {
  const Outcome outcome = succeed({"reproduce", "small.toml", "--out", "out"});
  const ordered_json found = results("out/small.results.json");
  EXPECT_EQ(keys(found),
            (std::vector<std::string>{"title", "question", "measured", "commands", "seed", "machine", "date"}));
  ASSERT_EQ(found["measured"].size(), 2U + 2 * (4 + 1)) << "log Z, log-likelihood, and methods and gap at each β";
  const double exact = found["measured"][1]["value"];
  for (const ordered_json& row : found["measured"])
    if (row.contains("method")) {
      EXPECT_NEAR(row["value"].get<double>() - exact, row["error"].get<double>(), 1e-9) << row;
      EXPECT_LT(std::abs(row["error"].get<double>()), 3) << row;
    }
  EXPECT_EQ(names_in(folder / "out"),
            (std::set<std::string>{"index.html", "measured.jsonl", "model", "small.results.json"}));
}

TEST_F(ReproduceLikelihood, JudgesWhatWasExpected) {
  const Outcome outcome = succeed({"reproduce", "small.toml", "--out", "out"});
  EXPECT_NE(outcome.out.find("of 3 expectations 2 were met, 1 missed, 0 not measured"), std::string::npos)
      << outcome.out;
  for (const ordered_json& row : results("out/small.results.json")["measured"])
    if (row.value("method", "") == "reverse" && row["betas"] == 200) {
      EXPECT_EQ(row["expected"], "error at least 30: MISSED");
      EXPECT_EQ(row["source"], "a wild guess");
    }
  const std::string page = read_bytes(folder / "out/index.html");
  for (const char* part : {"Who is right?", "moment-averaged AIS", "MISSED", "error from −1 to 1", "agree within"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_NE(succeed({"reproduce", "small.toml", "--quick"}).out.find("0 missed, 3 not measured"), std::string::npos);
}

TEST_F(ReproduceLikelihood, GoesOnWhereItWasKilledWithoutRepeatingWhatIsDone) {
  EXPECT_EQ(stop("small.toml", "training 60/60", SIGKILL).code, -SIGKILL);
  EXPECT_EQ(stop("small.toml", "raise, 20 β, 3 of 8:", SIGKILL).code, -SIGKILL);
  const Outcome stopped = stop("small.toml", "ais, 200 β, 5 of 8:", SIGINT);
  EXPECT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("harmonium reproduce small.toml --out out"), std::string::npos) << stopped.err;
  EXPECT_FALSE(fs::exists(folder / "out/small.results.json"));
  const Outcome last = succeed({"reproduce", "small.toml", "--out", "out"});
  for (const char* done : {"training", "enumerating", "fitting knots", "1 of 8", "4 of 8"})
    EXPECT_EQ(last.err.find(done), std::string::npos) << done << " was done: " << last.err;
  succeed({"reproduce", "small.toml", "--out", "whole"});
  EXPECT_EQ(results("out/small.results.json")["measured"], results("whole/small.results.json")["measured"]);
}

TEST_F(ReproduceLikelihood, MeasuresAnewWhatBearsOnAnswers) {
  const auto value = [&] { return results("out/small.results.json")["measured"][2]["value"].get<double>(); };
  succeed({"reproduce", "small.toml", "--out", "out"});
  const double before = value();
  replace("small.toml", annealing, "chains = 50", "chains = 51");
  succeed({"reproduce", "small.toml", "--out", "out"});
  EXPECT_NE(value(), before);
}

TEST_F(ReproduceLikelihood, KnowsTheMachineThatFoolsAis) {
  write_bytes(folder / "far.toml", R"(
kind = "annealing"
title = "Far"
question = "?"
machine = "far_modes"
rows = 500
betas = [50]
raise_chains = 1
raise_rows = 50
[[expected]]
method = "ais"
betas = 50
error_at_least = 5
[[expected]]
betas = 50
gap_at_least = 5
verdict = "differ"
)");
  const Outcome outcome = succeed({"reproduce", "far.toml", "--out", "out"});
  EXPECT_NE(outcome.out.find("of 2 expectations 2 were met"), std::string::npos) << outcome.out;
  for (const ordered_json& row : results("out/far.results.json")["measured"])
    if (row.value("method", "") == "ais") {
      EXPECT_GT(row["effective_samples"].get<double>(), 90) << "nothing in the weights shows it";
    }
}

TEST_F(ReproduceLikelihood, RefusesBadAnnealingExperiments) {
  const std::vector<std::array<std::string, 3>> mistakes = {
      {"chains = 50", "chain = 50", "'chain'"},
      {"[\"ais\", \"ma-ais\", \"raise\", \"reverse\"]", "[\"ais\", \"sia\", \"raise\", \"reverse\"]", "'sia'"},
      {"betas = [20, 200]", "betas = [200, 20]", "betas must increase"},
      {"betas = [20, 200]", "betas = 20", "a list"},
      {"betas = [20, 200]", "betas = [5, 200]", "knots"},
      {"limit = 60", "limit = 60\nmachine = \"far_modes\"", "give one model"},
      {"hidden = 6", "hiden = 6", "'hiden'"},
      {"hidden = 6", "hidden = 40", "too many units"},
      {"\"digits:test\"", "\"digits:tset\"", "tset"},
      {"betas = [20]", "beta = [20]", "'beta'"},
      {"error_at_least = 30", "error_atleast = 30", "'error_atleast'"},
      {"verdict = \"agree\"", "verdict = \"maybe\"", "agree and differ"},
      {"method = \"reverse\"\n", "method = \"exact\"\n", "'exact' is not among"},
      {"gap_at_most = 2", "error_at_most = 2", "either about a method"},
  };
  for (const auto& [old, text, part] : mistakes) {
    replace("small.toml", annealing, old, text);
    refuses({"reproduce", "small.toml"}, {part});
  }
}

TEST_F(ReproduceLikelihood, CalibratesAndSaysWhichPromisesWereKept) {
  const Outcome outcome = succeed({"reproduce", "few.toml", "--out", "out"});
  const ordered_json found = results("out/few.results.json");
  // Two coverages, three biases at two numbers of β, and that RAISE rises.
  ASSERT_EQ(found["measured"].size(), 2U + 3 * 2 + 1);
  std::int64_t kept = 0;
  for (const ordered_json& row : found["measured"]) {
    kept += row["met"].get<bool>() ? 1 : 0;
    EXPECT_EQ(row["met"].get<bool>(), row["expected"].get<std::string>().ends_with(": met")) << row;
  }
  EXPECT_NE(outcome.out.find("of 9 checks " + std::to_string(kept) + " were met"), std::string::npos) << outcome.out;
  EXPECT_NE(found["measured"][0]["what"].get<std::string>().find("of 30"), std::string::npos);
  EXPECT_NE(read_bytes(folder / "out/index.html").find("contain the exact value, nominally 95 %"), std::string::npos);
  succeed({"reproduce", "few.toml", "--quick", "--out", "quick"});
  EXPECT_NE(read_bytes(folder / "quick/few.results.json").find("of 20"), std::string::npos);
}

TEST_F(ReproduceLikelihood, ACalibrationThatIsInterruptedWritesNothing) {
  const Outcome outcome = stop("few.toml", "machines 15/30", SIGINT);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_NE(outcome.err.find("nothing was written"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(ReproduceLikelihood, RefusesBadCalibrations) {
  for (const auto& [old, text, part] :
       std::vector<std::array<std::string, 3>>{{"visible = 5", "visibel = 5", "'visibel'"},
                                               {"machines = 20", "machins = 20", "'machins'"},
                                               {"ladder = [1, 10]", "ladder = [10, 1]", "ladder must increase"},
                                               {"visible = 5\nhidden = 4", "visible = 50\nhidden = 40", "enumerate"},
                                               {"betas = 100", "betas = 0", "1 or more"}}) {
    replace("few.toml", calibration, old, text);
    refuses({"reproduce", "few.toml"}, {part});
  }
}

}  // namespace
}  // namespace harmonium::testing
