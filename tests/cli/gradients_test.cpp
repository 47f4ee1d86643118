// `harmonium gradients`: what theory says of estimators, found on trained models, and what it writes.
#include <cmath>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Gradients : public Tool {
 protected:
  void train(const std::string& family, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"train", "--data", "bars_and_stripes", "--model", family,
                                          "--out", family,   "--updates",        "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    succeed(arguments);
  }
  [[nodiscard]] static ordered_json estimator(const ordered_json& result, const std::string& name) {
    for (const ordered_json& one : result["estimators"])
      if (one["name"] == name) return one;
    ADD_FAILURE() << "no estimator called " << name;
    return {};
  }
};

TEST_F(Gradients, OfABeliefNetAreEnumeratedAndUnbiasedWhereTheoryKnows) {
  train("sbn", {"--latent", "3,2"});
  const ordered_json result =
      json({"gradients", "sbn", "--draws", "1", "2", "20", "--rows", "2", "--tuples", "200", "--repetitions", "20"});
  EXPECT_EQ(keys(result),
            (std::vector<std::string>{"model", "data", "rows", "method", "states", "seed", "estimators"}));
  EXPECT_EQ(result["method"], "enumerated");
  EXPECT_EQ(result["states"], 32);
  for (const char* name : {"elbo:1, baseline none", "elbo:1, baseline optimal", "nvil", "elbo:2", "iwae:2", "vimco:2"})
    for (const char* part : {"generation", "recognition"}) {
      EXPECT_LT(estimator(result, name)[part]["relative_bias"], 1e-10) << name;
      EXPECT_EQ(estimator(result, name)[part]["mean"], "exact") << name;
    }
  const auto wake = [&](int draws) {
    return estimator(result, "rws:" + std::to_string(draws) + ", wake")["recognition"]["relative_bias"].get<double>();
  };
  EXPECT_GT(wake(1), wake(2));
  EXPECT_GT(wake(2), wake(20));
  EXPECT_GT(wake(20), 1e-6);
  EXPECT_EQ(estimator(result, "vimco:20")["recognition"]["mean"], "drawn");
  EXPECT_TRUE(estimator(result, "sleep")["generation"].is_null());
  const std::string page = read_bytes(folder / "sbn" / "estimators.html");
  for (const char* part : {"Recognition parameters", "chart-bias", "chart-noise_q"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  EXPECT_EQ(ordered_json::parse(read_bytes(folder / "sbn" / "estimators.json")), result);
  EXPECT_EQ(json({"gradients", "sbn", "--draws", "1", "2", "20", "--rows", "2", "--tuples", "200", "--repetitions",
                  "20", "--out", "again"}),
            result)
      << "the same seed, the same numbers";
}

TEST_F(Gradients, OfAnAutoencoderAreDrawn) {
  train("vae", {"--latent", "2", "--layers", "4"});
  const Outcome outcome =
      succeed({"gradients", "vae", "--draws", "2", "--rows", "2", "--repetitions", "20", "--out", "drawn"});
  for (const char* part : {"elbo, closed KL", "stick:1", "iwae:2", "plain_iwae:2", "20 estimates of each", "∇L_2"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " is not in " << outcome.out;
  EXPECT_TRUE(fs::exists(folder / "drawn" / "estimators.html"));
}

TEST_F(Gradients, OfARandomNetAreAnExperimentHeldAgainstTheory) {
  write_bytes(folder / "small.toml",
              "kind = \"estimators\"\ntitle = \"small\"\nquestion = \"which?\"\npixels = 3\nlatent = [2, 1]\nrows = 2\n"
              "draws = [1, 2]\nrepetitions = 10\n"
              "[[expected]]\nwhat = \"vimco:2, q: bias\"\nvalue = 0\ntolerance = 1e-10\nsource = \"theory\"\n"
              "[[expected]]\nwhat = \"rws:1, wake, q: bias\"\nvalue = 0\ntolerance = 1e-10\nsource = \"wrong\"\n");
  const Outcome outcome = succeed({"reproduce", "small.toml", "--out", "small"});
  EXPECT_NE(outcome.out.find("of 2 expected values 1 were met"), std::string::npos) << outcome.out;
  const ordered_json found = ordered_json::parse(read_bytes(folder / "small" / "small.results.json"));
  EXPECT_GT(found["measured"].size(), 10U);
  write_bytes(folder / "odd.toml", "kind = \"estimators\"\ntitle = \"odd\"\nquestion = \"?\"\nlatents = [2]\n");
  refuses({"reproduce", "odd.toml", "--out", "odd"}, {"latents", "pixels"});
}

TEST_F(Gradients, RefusesWhatItCannotDo) {
  succeed(small_run("run", {"--updates", "2"}));
  refuses({"gradients", "run"}, {"latent variables", "evaluate"});
  train("sbn", {"--latent", "3"});
  refuses({"gradients", "sbn", "--draws", "0"}, {"--draws 0"});
  refuses({"gradients", "sbn", "--rows", "0"}, {"--rows 0"});
  refuses({"gradients", "sbn", "--most-bits", "40"}, {"--most-bits 40", "10"});
}

}  // namespace
}  // namespace harmonium::testing
