// Deep belief nets in the tool: trained layer by layer, sampled, judged, and unrolled.
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class BeliefNet : public Tool {
 protected:
  [[nodiscard]] static Arguments small_net(const std::string& out, const Arguments& more = {}) {
    return Arguments{"train", "--out", out} + with_defaults(more, {{"--model", "dbn"},
                                                                   {"--layers", "12,8"},
                                                                   {"--data", "digits"},
                                                                   {"--limit", "300"},
                                                                   {"--updates", "60"},
                                                                   {"--batch", "20"},
                                                                   {"--log-every", "20"},
                                                                   {"--checkpoint-every", "7"}});
  }
};

TEST_F(BeliefNet, IsTrainedLayerByLayerAndShown) {
  succeed(small_net("run"));
  EXPECT_EQ(names_in(folder / "run"), (std::set<std::string>{"config.toml", "layer-1", "layer-2", "model.safetensors",
                                                             "report.html", "trained_rows.safetensors"}));
  const ordered_json shown = json({"models", "show", "run"});
  EXPECT_EQ(shown["kind"], "dbn");
  EXPECT_EQ(shown["layers"].size(), 3U);
  EXPECT_EQ(shown["layers"][2]["unit"], "bernoulli:8");
  // The first stage is an RBM like any other.
  EXPECT_EQ(json({"models", "show", "run/layer-1"})["kind"], "rbm");
  succeed({"evaluate", "run/layer-1", "--data", "digits:test"});
  const std::string page = read_bytes(folder / "run/report.html");
  for (const std::string part : {"Deep belief net on digits", "gallery-samples", "gallery-filters-2", "layer 2"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  succeed({"report", "run/layer-2"});

  succeed({"sample", "run", "-n", "20", "--sweeps", "10", "--means", "--out", "x.png"});
  EXPECT_TRUE(read_bytes(folder / "x.png").starts_with("\x89PNG"));
  refuses({"sample", "run", "--clamp", "label=3"}, {"label=3", "classification_dbn"});
  refuses({"sample", "run", "--clamp-label", "all"}, {"run", "no label", "classification_dbn"});
  refuses({"sample", "run", "--sampler", "pt"}, {"--sampler", "belief net"});
  refuses({"classify", "run"}, {"belief net", "no labels", "classification_dbn"});
  refuses({"fisher", "run"}, {"dbn", "single Boltzmann machine"});
}

// The bound is below the exact log-likelihood; the one machine of the first layer has the exact value beside it.
TEST_F(BeliefNet, IsJudgedByABoundThatSaysItIsOne) {
  succeed(small_net("run"));
  const ordered_json result = json({"evaluate", "run", "--data", "digits:test"});
  EXPECT_EQ(result["log_z"]["kind"], "exact");
  EXPECT_EQ(result["log_likelihood"]["kind"], "lower bound");
  EXPECT_LT(result["log_likelihood"]["low"], result["log_likelihood"]["value"]);
  EXPECT_LT(result["log_likelihood"]["value"], -20);
  EXPECT_GT(result["log_likelihood"]["value"], -45);
  EXPECT_NE(read_bytes(folder / "run/report.html").find("log-likelihood, digits:test"), std::string::npos);
  const ordered_json annealed =
      json({"evaluate", "run", "--data", "digits:test", "--method", "sandwich", "--betas", "300"});
  EXPECT_EQ(annealed["log_likelihood"]["kind"], "estimate");
  EXPECT_NEAR(annealed["log_likelihood"]["value"], result["log_likelihood"]["value"].get<double>(), 1.0);
}

TEST_F(BeliefNet, WithALabelTellsClassesApartAndDrawsThem) {
  succeed(small_net(
      "run", {"--model", "classification_dbn", "--layers", "40,40", "--limit", "0", "--updates", "400", "--batch", "50",
              "--checkpoint-every", "1000", "--rate-weights", "0.03", "--rate-bias", "0.3"}));
  EXPECT_LT(json({"classify", "run"})["error"], 0.4);  // guessing is wrong in 0.9
  succeed({"sample", "run", "--clamp", "label=3", "-n", "10", "--sweeps", "20", "--out", "threes.npy"});
  succeed({"sample", "run", "--clamp-label", "all", "--sweeps", "20", "--means", "--out", "classes.png"});
  EXPECT_EQ(json({"sample", "run", "--clamp-label", "all", "-n", "20", "--sweeps", "5", "--out", "x.npy"})["classes"],
            10);
  refuses({"sample", "run", "--clamp", "label=12"}, {"label=12", "0 … 9"});
  refuses({"sample", "run", "--clamp", "visible=1"}, {"visible=1", "label=3"});
  EXPECT_NE(read_bytes(folder / "run/report.html").find("gallery-classes"), std::string::npos);
}

// A large constant rate makes the last machine worse than an earlier one.
// At such rates errors go up and down. Whether the last machine happens to be the best depends on the processor, so a
// few seeds are tried until it is not.
TEST_F(BeliefNet, KeepsTheBestTopMachineAndSaysOfWhichUpdate) {
  std::int64_t of_top = 60;
  for (int seed = 0; seed < 6 && of_top == 60; ++seed) {
    const ordered_json trained =
        json(small_net("run", {"--model", "classification_dbn", "--layers", "10,10", "--limit", "0", "--keep", "best",
                               "--log-every", "5", "--rate-weights", "0.5", "--rate-bias", "0.5", "--schedule",
                               "constant", "--seed", std::to_string(seed), "--overwrite"}));
    of_top = std::stoll(json({"models", "show", "run/layer-2"})["notes"]["updates"].get<std::string>());
    EXPECT_EQ(trained["updates"], 120);
    EXPECT_EQ(trained["kept_update"], 60 + of_top);
  }
  EXPECT_LT(of_top, 60) << "the last machine is always the best: this test shows nothing";
}

TEST_F(BeliefNet, UnrollsIntoNets) {
  succeed(small_net("run"));
  succeed({"finetune", "run", "--out", "classifier", "--updates", "50"});
  EXPECT_EQ(json({"models", "show", "classifier"})["layers"].size(), 4U);
  succeed({"finetune", "run/model.safetensors", "--to", "autoencoder", "--out", "pairs", "--updates", "50", "--limit",
           "300"});
  const auto squared = [&](const std::string& model) {
    return json({"reconstruct", model, "--data", "digits:test"})["squared_error"].get<double>();
  };
  EXPECT_NEAR(squared("pairs/start.safetensors"), squared("run"), 1e-6) << "up to float32 rounding";
  EXPECT_EQ(json({"encode", "run", "--data", "digits:test"})["numbers"], 8);
}

// Killed in the first and in the second stage, it ends with the same bytes.
TEST_F(BeliefNet, KilledInAnyStageGoesOnToTheSameBytes) {
  succeed(small_net("whole"));
  for (const int update : {24, 90}) {
    SCOPED_TRACE(update);
    const std::string run = "killed" + std::to_string(update);
    Process command = process(small_net(run));
    command.on_error_line = [update, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || update_of(line).value_or(-1) < update) return;
      ::kill(child, SIGKILL);
      sent = true;
    };
    ASSERT_EQ(harmonium::testing::run(command).code, -SIGKILL);
    EXPECT_FALSE(fs::exists(folder / run / "model.safetensors"));
    EXPECT_EQ(fs::exists(folder / run / "layer-1/model.safetensors"), update > 60);
    succeed({"resume", run});
    EXPECT_TRUE(model_bytes(run) == model_bytes("whole"));
    for (const std::string layer : {"layer-1", "layer-2"})
      EXPECT_EQ(metrics_without_seconds(folder / run / layer), metrics_without_seconds(folder / "whole" / layer));
  }
}

// Up–down from a trained net, and from layers that the same run learns first.
TEST_F(BeliefNet, IsTrainedOnAsAWholeAndThenUsedLikeAnyOther) {
  const Arguments labelled = {
      "--model", "classification_dbn", "--layers", "40,40",       "--limit", "0", "--updates", "400", "--batch",
      "50",      "--rate-weights",     "0.03",     "--rate-bias", "0.3"};
  succeed(small_net("run", labelled));
  const ordered_json before = json({"evaluate", "run", "--data", "digits:test", "--method", "ais", "--betas", "300"});
  succeed({"finetune", "run", "--to", "generative", "--out", "tuned", "--updates", "400", "--log-every", "100"});
  EXPECT_EQ(names_in(folder / "tuned"),
            (std::set<std::string>{"checkpoint", "config.toml", "metrics.jsonl", "model.safetensors", "report.html",
                                   "start.safetensors", "trained_rows.safetensors"}));
  const ordered_json shown = json({"models", "show", "tuned"});
  EXPECT_EQ(shown["kind"], "classification_dbn");
  std::set<std::string> names;
  for (const auto& each : shown["parameters"]) names.insert(each["name"]);
  EXPECT_TRUE(names.contains("recognition1/visible_hidden.weights"));
  EXPECT_TRUE(names.contains("machine1/visible_hidden.weights"));
  EXPECT_FALSE(names.contains("recognition2/visible_hidden.weights"));

  const ordered_json after = json({"evaluate", "tuned", "--data", "digits:test", "--method", "ais", "--betas", "300"});
  EXPECT_GT(after["log_likelihood"]["value"], before["log_likelihood"]["value"]);
  EXPECT_LT(json({"classify", "tuned"})["error"], 0.4);
  succeed({"sample", "tuned", "--clamp", "label=3", "-n", "4", "--sweeps", "10", "--out", "x.npy"});
  EXPECT_EQ(json({"encode", "tuned", "--data", "digits:test"})["numbers"], 40);
  EXPECT_LT(json({"reconstruct", "tuned", "--data", "digits:test"})["squared_error"], 20);
  const std::string page = read_bytes(folder / "tuned/report.html");
  for (const std::string part :
       {"weights untied", "gallery-classes", "wake_log_probability", "log-likelihood, digits:test"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
  succeed({"finetune", "tuned", "--to", "classifier", "--out", "net", "--updates", "20"});
  succeed({"finetune", "tuned", "--to", "generative", "--out", "longer", "--updates", "20"});

  succeed(
      small_net("both", {"--pretrain", "rbm", "--pretrain-updates", "50", "--gradient", "pcd", "--optimizer", "adam"}));
  EXPECT_EQ(json({"models", "show", "both/pretraining"})["kind"], "dbn");
  EXPECT_EQ(json({"models", "show", "both"})["notes"]["updates"], "60");

  const auto deviations = [&](const std::string& model) {
    std::map<std::string, double> found;
    const ordered_json all = json({"models", "show", model});
    for (const auto& each : all["parameters"]) found[each["name"]] = each["std"];
    return found;
  };
  succeed({"finetune", "both", "--to", "autoencoder", "--out", "pairs", "--updates", "1"});
  const auto net = deviations("pairs/start.safetensors"), source = deviations("both");
  EXPECT_FLOAT_EQ(net.at("layer1.weights"), source.at("recognition1/visible_hidden.weights"));
  EXPECT_FLOAT_EQ(net.at("layer4.weights"), source.at("machine1/visible_hidden.weights")) << "the way down is its own";
  EXPECT_NE(net.at("layer1.weights"), net.at("layer4.weights"));
}

TEST_F(BeliefNet, IsJudgedInExperimentsBeforeAndAfter) {
  write_bytes(folder / "tiny.toml", R"(
kind = "training"
title = "Before and after"
question = "Does it help?"
test = "digits:test"
method = "ais"
chains = 20
betas = 100

[config]
data = "digits"
model = "dbn"
layers = "12,8"
updates = 50
snapshots = "none"

[[run]]
name = "before"

[[run]]
name = "after"
pretrain = "rbm"
gradient = "cd"
optimizer = "adam"
)");
  succeed({"reproduce", "tiny.toml", "--out", "out"});
  const ordered_json found = ordered_json::parse(read_bytes(folder / "out/tiny.results.json"))["measured"];
  ASSERT_EQ(found.size(), 2U);
  for (const ordered_json& row : found) EXPECT_EQ(row["kind"], "estimate");
  EXPECT_TRUE(fs::exists(folder / "out/after/report.html"));
  // What is done is not done again.
  EXPECT_EQ(succeed({"reproduce", "tiny.toml", "--out", "out"}).err.find("training after"), std::string::npos);
  EXPECT_EQ(ordered_json::parse(read_bytes(folder / "out/tiny.results.json"))["measured"], found);
}

// Killed while its layers are learnt and while all are, it ends with the same bytes; the model it came from may be
// gone.
TEST_F(BeliefNet, KilledInUpDownGoesOnToTheSameBytes) {
  succeed(small_net("run"));
  const auto killed_at = [&](const Arguments& arguments, const std::string& run, int update) {
    Process command = process(arguments);
    command.on_error_line = [update, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || update_of(line).value_or(-1) < update) return;
      ::kill(child, SIGKILL);
      sent = true;
    };
    ASSERT_EQ(harmonium::testing::run(command).code, -SIGKILL);
    EXPECT_FALSE(fs::exists(folder / run / "model.safetensors"));
  };
  const auto tune = [](const std::string& out) {
    return Arguments{"finetune",           "run", "--to",    "generative", "--out",       out,
                     "--updates",          "60",  "--batch", "20",         "--log-every", "20",
                     "--checkpoint-every", "7"};
  };
  succeed(tune("whole"));
  killed_at(tune("killed"), "killed", 30);
  fs::rename(folder / "run", folder / "elsewhere");
  succeed({"resume", "killed"});
  EXPECT_TRUE(model_bytes("killed") == model_bytes("whole"));
  EXPECT_EQ(metrics_without_seconds(folder / "killed"), metrics_without_seconds(folder / "whole"));

  const Arguments both = {"--pretrain", "rbm", "--pretrain-updates", "50", "--gradient", "pcd"};
  succeed(small_net("both", both));
  killed_at(small_net("early", both), "early", 70);
  EXPECT_FALSE(fs::exists(folder / "early/start.safetensors"));
  succeed({"resume", "early"});
  EXPECT_TRUE(model_bytes("early") == model_bytes("both"));
}

TEST_F(BeliefNet, RefusesToTrainOnWhatDoesNotFit) {
  succeed(small_net("run"));
  const auto bad = [&](const Arguments& flags, const std::vector<std::string>& parts) {
    refuses(Arguments{"finetune", "run", "--to", "generative", "--out", "x"} + flags, parts);
  };
  bad({"--layers", "5,5"}, {"--layers 5,5", "12,8"});
  bad({"--optimizer", "fang"}, {"--optimizer fang", "sgd", "adam"});
  bad({"--gradient", "exact"}, {"exact", "cd or pcd"});
  bad({"--model", "classification_dbn"}, {"dbn", "classification_dbn"});
  bad({"--keep", "best"}, {"--keep best"});
  bad({"--pretrain", "rbm"}, {"--pretrain", "--start"});
  bad({"--data", "bars_and_stripes"}, {"16 columns", "64"});
  refuses({"finetune", "run/layer-1", "--to", "generative"}, {"layer-1", "dbn", "classifier, autoencoder"});
  refuses({"finetune", "run", "--to", "nothing"}, {"nothing", "generative"});
  refuses({"train", "--model", "dbn", "--layers", "12", "--pretrain", "rbm", "--out", "x"}, {"at least two"});
}

TEST_F(BeliefNet, RefusesWhatMakesNoSense) {
  const auto bad = [&](const Arguments& flags, const std::vector<std::string>& parts) {
    refuses(Arguments{"train", "--out", "run"} + flags, parts);
  };
  bad({"--model", "dbn"}, {"dbn", "--layers"});
  bad({"--model", "dbn", "--layers", "12,0"}, {"--layers"});
  bad({"--model", "dbn", "--layers", "12,softmax:2x3"}, {"--layers", "bernoulli or gaussian"});
  bad({"--model", "dbn", "--layers", "12,8", "--hidden", "5"}, {"--hidden", "--layers"});
  bad({"--model", "dbn", "--layers", "12,8", "--track", "ais"}, {"--track"});
  bad({"--model", "dbn", "--layers", "12,8", "--keep", "best"}, {"--keep best", "classification_dbn"});
  bad({"--model", "classification_dbn", "--layers", "12,8", "--data", "bars_and_stripes"}, {"labels"});
}

}  // namespace
}  // namespace harmonium::testing
