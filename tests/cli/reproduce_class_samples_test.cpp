// `harmonium reproduce` of kind "class_samples": models with labels are trained, draw every class, and a classifier
// says what it takes the draws for.
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

constexpr const char* class_samples_experiment = R"(
kind = "class_samples"
title = "Learnt and not"
question = "Do draws look like their class?"
test = "digits:test"
judge = "net"

[config]
data = "digits"
batch = 50
rate_weights = 0.03
rate_bias = 0.3

[[run]]
name = "net"
model = "mlp"
layers = "50"
updates = 500
rate_weights = 0.003
rate_bias = 0.003

[[run]]
name = "learnt"
model = "classification_dbn"
layers = "40,40"
updates = 400

[[run]]
name = "not"
model = "classification_rbm"
hidden = 10
updates = 2

[[expected]]
run = "learnt"
at_most = 60
source = "guessing is wrong in 90"

[samples]
of_each = 10
sweeps = 100
shown = 5

[samples.quick]
sweeps = 5
)";

class ReproduceClassSamples : public Tool {
 protected:
  ReproduceClassSamples() { write_bytes(folder / "tiny.toml", class_samples_experiment); }
};

TEST_F(ReproduceClassSamples, CountsWhatAClassifierTakesTheDrawsFor) {
  const Outcome outcome = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_NE(outcome.out.find("≤ 60: met"), std::string::npos) << outcome.out;
  EXPECT_EQ(names_in(folder / "out"),
            (std::set<std::string>{"net", "learnt", "not", "tiny.results.json", "index.html"}));
  EXPECT_TRUE(fs::exists(folder / "out/learnt/class_samples.png"));
  const ordered_json found = ordered_json::parse(read_bytes(folder / "out/tiny.results.json"))["measured"];
  ASSERT_EQ(found.size(), 6U);  // two numbers a run, and two of the data
  EXPECT_EQ(found[0]["expected"], "≤ 60: met");
  EXPECT_GT(found[2]["value"].get<double>(), found[0]["value"].get<double>() + 15);
  // Draws and data are gray values between 0 and 1 of 64 pixels.
  for (const std::size_t row : {1U, 3U, 4U}) {
    EXPECT_GE(found[row]["value"], 0);
    EXPECT_LT(found[row]["value"], 8);
  }
  EXPECT_LT(found[5]["value"], 15) << "the classifier itself";
  const std::string page = read_bytes(folder / "out/index.html");
  for (const char* part : {"gallery-classes-learnt", "gallery-classes-data", "gallery-confusion-not", "another class"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  const Outcome again = succeed({"reproduce", "tiny.toml", "--out", "out"});
  EXPECT_EQ(again.err.find("training "), std::string::npos) << again.err;
  EXPECT_EQ(ordered_json::parse(read_bytes(folder / "out/tiny.results.json"))["measured"], found);
}

TEST_F(ReproduceClassSamples, RefusesBadExperimentsBeforeAnythingIsWritten) {
  const std::vector<std::array<std::string, 3>> mistakes = {
      {"judge = \"net\"", "", "judge"},
      {"judge = \"net\"", "judge = \"not\"", "mlp"},
      {"of_each = 10", "of_eech = 10", "'of_eech'"},
      {"sweeps = 5\n", "swepes = 5\n", "'swepes'"},
      {"of_each = 10", "of_each = 1", "of_each"},
      {"\"classification_rbm\"", "\"rbm\"", "cannot classify"},
      {"run = \"learnt\"", "run = \"lerned\"", "'lerned'"},
  };
  for (const auto& [old, replacement, part] : mistakes) {
    std::string text = class_samples_experiment;
    text.replace(text.find(old), old.size(), replacement);
    write_bytes(folder / "tiny.toml", text);
    refuses({"reproduce", "tiny.toml", "--out", "out"}, {part});
  }
}

}  // namespace
}  // namespace harmonium::testing
