// Feed-forward nets in the tool: training, fine-tuning of trained machines, and what can be done with the result.
#include <signal.h>

#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Nets : public Tool {
 protected:
  // A net on the digits in a second or so; `more` gives other values.
  void train(const std::string& out, const std::string& model, const Arguments& more = {}) const {
    succeed(Arguments{"train", "--out", out, "--model", model} +
            with_defaults(
                more, {{"--data", "digits"}, {"--updates", "300"}, {"--log-every", "50"}, {"--rate-weights", "0.01"}}));
  }
  void train_rbm(const std::string& out) const {
    succeed({"train", "--out", out, "--hidden", "30", "--updates", "200", "--log-every", "100"});
  }
};

TEST_F(Nets, ClassifyDigitsWithAndWithoutHiddenLayers) {
  for (const Arguments& layers : {Arguments{}, Arguments{"--layers", "40,30", "--dropout", "0.2"}}) {
    const std::string out = layers.empty() ? "regression" : "mlp";
    train(out, "mlp", layers);
    const ordered_json result = json({"classify", out});
    EXPECT_EQ(result["data"], "digits:test");
    EXPECT_LT(result["error"], 0.15);  // guessing is wrong in 0.9
    EXPECT_LT(result["low"], result["error"]);
    EXPECT_TRUE(fs::exists(folder / out / "mistakes.png"));
    const std::string page = read_bytes(folder / out / "report.html");
    for (const std::string part : {"classification error, digits:test", "Validation loss", "gallery-filters",
                                   layers.empty() ? "Logistic regression" : "Feed-forward classifier"})
      EXPECT_NE(page.find(part), std::string::npos) << part;
  }
  const ordered_json shown = json({"models", "show", "mlp"});
  EXPECT_EQ(shown["kind"], "mlp");
  EXPECT_EQ(shown["layers"][1]["unit"], "relu:40");
  EXPECT_EQ(shown["layers"][3]["unit"], "softmax:10");
}

TEST_F(Nets, KeepTheModelThatErredLeastAndStopWhenPatienceEnds) {
  train("run", "mlp",
        {"--layers", "20", "--updates", "5000", "--patience", "60", "--log-every", "10", "--rate-weights", "0.05",
         "--schedule", "constant", "--averaging", "1"});
  double lowest = 1;
  std::int64_t update = 0, last = 0;
  for (const ordered_json& row : metrics_without_seconds(folder / "run")) {
    last = row["update"];
    if (row["classification_error"] >= lowest) continue;
    lowest = row["classification_error"];
    update = last;
  }
  EXPECT_EQ(last, update + 60);
  EXPECT_LT(last, 5000);
  const ordered_json result = json({"classify", "run", "--data", "digits:valid"});
  EXPECT_EQ(result["updates"], update);
  EXPECT_DOUBLE_EQ(result["error"], lowest);
  // The run is over: to resume it changes nothing.
  const std::string model = model_bytes("run");
  succeed({"resume", "run"});
  EXPECT_TRUE(model_bytes("run") == model);
}

TEST_F(Nets, ReconstructAndEncodeDigits) {
  train("run", "autoencoder", {"--layers", "30,5"});
  const ordered_json result = json({"reconstruct", "run", "--data", "digits:test", "--out", "pairs.png"});
  EXPECT_LT(result["squared_error"], 3);  // 4.7 for the mean image
  EXPECT_LT(result["low"], result["squared_error"]);
  EXPECT_TRUE(read_bytes(folder / "pairs.png").starts_with("\x89PNG"));
  const ordered_json encoded = json({"encode", "run", "--data", "digits:test", "--out", "codes.npy"});
  EXPECT_EQ(encoded["rows"], result["rows"]);
  EXPECT_EQ(encoded["numbers"], 5);
  EXPECT_EQ(read_npy(read_bytes(folder / "codes.npy")).shape.back(), 5U);
  succeed({"encode", "run", "--data", "digits:test", "--limit", "3", "--out", "codes.csv"});
  std::istringstream lines(read_bytes(folder / "codes.csv"));
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) EXPECT_EQ(std::ranges::count(line, ','), 5) << line;
  EXPECT_EQ(rows, 3);
  EXPECT_NE(read_bytes(folder / "run/report.html").find("gallery-reconstructions"), std::string::npos);
  refuses({"reconstruct", "run", "--out", "x.gif"}, {"x.gif", ".png"});
  refuses({"encode", "run", "--out", "x.txt"}, {"x.txt", ".npy"});
  refuses({"classify", "run"}, {"Autoencoder", "classes"});
  refuses({"evaluate", "run"}, {"Autoencoder", "has no likelihood", "reconstruct"});
}

TEST_F(Nets, StartFromATrainedMachineAndGoOnBetter) {
  train_rbm("rbm");
  succeed({"finetune", "rbm", "--out", "classifier", "--updates", "200", "--rate-weights", "0.01"});
  EXPECT_LT(json({"classify", "classifier"})["error"], 0.12);
  EXPECT_NE(read_bytes(folder / "classifier/report.html").find("unrolled from rbm"), std::string::npos);

  // Before the first update the autoencoder is the machine: up and down by means.
  succeed(
      {"finetune", "rbm", "--to", "autoencoder", "--out", "autoencoder", "--updates", "200", "--rate-weights", "0.01"});
  const auto squared = [&](const std::string& model) {
    return json({"reconstruct", model, "--data", "digits:test"})["squared_error"].get<double>();
  };
  EXPECT_NEAR(squared("autoencoder/start.safetensors"), squared("rbm"), 1e-6) << "up to float32 rounding";
  EXPECT_LT(squared("autoencoder"), squared("rbm"));
  const ordered_json hidden = json({"encode", "rbm", "--data", "digits:test"});
  EXPECT_EQ(hidden["numbers"], 30);

  succeed({"train", "--out", "dbm", "--model", "dbm", "--layers", "9,7", "--updates", "20"});
  succeed({"finetune", "dbm", "--out", "from_dbm", "--updates", "20"});
  EXPECT_EQ(json({"models", "show", "from_dbm"})["layers"][2]["unit"], "logistic:7");
  refuses({"finetune", "rbm", "--to", "picture", "--out", "x"}, {"picture", "classifier"});
  refuses({"finetune", "rbm", "--layers", "20", "--out", "x"}, {"--layers 20", "30"});
  refuses({"finetune", "classifier", "--out", "x"}, {"Feed-forward classifier"});
  refuses({"finetune", "rbm", "--data", "bars_and_stripes", "--out", "x"}, {"columns"});
}

// Before its first update a net that takes the posterior of a deep machine has the machine's mean field in its hidden
// layers; it classifies raw rows, and goes on after a stop to the same bytes.
TEST_F(Nets, TakeThePosteriorOfADeepMachineBesideTheRow) {
  succeed({"train", "--out", "dbm", "--model", "dbm", "--layers", "20,15", "--labels", "top", "--pretrain", "rbm",
           "--updates", "1000"});
  const Arguments tune = {"finetune", "dbm", "--posterior-input", "--updates", "500", "--log-every", "50"};
  succeed(tune + Arguments{"--out", "net"});
  for (const std::string layer : {"1", "2"}) {
    std::vector<std::vector<float>> codes;
    for (const auto& [model, name] : {std::pair{"net/start.safetensors", "layer"}, {"dbm", "hidden"}}) {
      succeed({"encode", model, "--data", "digits:test", "--layer", name + layer, "--out", "code.npy"});
      codes.push_back(read_npy(read_bytes(folder / "code.npy")).values);
    }
    ASSERT_EQ(codes[0].size(), codes[1].size());
    float largest = 0;
    for (std::size_t i = 0; i < codes[0].size(); ++i) largest = std::max(largest, std::abs(codes[0][i] - codes[1][i]));
    EXPECT_LT(largest, 1e-3) << layer << ": the machine's own code stops when no mean moves by 1e-4";
  }
  const ordered_json result = json({"classify", "net"});
  EXPECT_LT(result["error"], 0.15);
  EXPECT_EQ(json({"models", "show", "net"})["layers"][0]["unit"], "64");

  Process stopped = process(tune + Arguments{"--out", "stopped"});
  stopped.on_error_line = [sent = false](pid_t child, const std::string& line) mutable {
    if (sent || update_of(line).value_or(-1) < 50) return;
    ::kill(child, SIGINT);
    sent = true;
  };
  EXPECT_EQ(run(stopped).code, 130);
  fs::rename(folder / "dbm", folder / "elsewhere");  // the run has what it needs
  succeed({"resume", "stopped"});
  EXPECT_TRUE(model_bytes("net") == model_bytes("stopped"));
  fs::rename(folder / "elsewhere", folder / "dbm");
  refuses(tune + Arguments{"--out", "x", "--binarize", "stochastic"}, {"--posterior-input", "stochastic"});
  refuses({"train", "--model", "mlp", "--posterior-input", "--out", "x"}, {"--posterior-input", "--start"});
  train_rbm("rbm");
  refuses({"finetune", "rbm", "--posterior-input", "--out", "x"}, {"--posterior-input", "rbm", "two"});
  refuses({"finetune", "rbm", "--to", "autoencoder", "--posterior-input", "--out", "x"}, {"posterior-input"});
}

// Layers learnt one by one are those the net begins with: every tensor has the mean and deviation it was left with.
TEST_F(Nets, BeginWithLayersThatWereLearntOneByOne) {
  const auto parameters = [&](const std::string& model) {
    std::map<std::string, std::pair<double, double>> found;
    const ordered_json shown = json({"models", "show", model});
    for (const ordered_json& each : shown["parameters"]) found[each["name"]] = {each["mean"], each["std"]};
    return found;
  };
  for (const std::string way : {"supervised", "autoencoder", "rbm"}) {
    SCOPED_TRACE(way);
    train(way, "mlp",
          {"--layers", "12,9", "--pretrain", way, "--pretrain-updates", "40", "--updates", "200", "--activation",
           "logistic"});
    const auto start = parameters(way + "/start.safetensors");
    for (const std::string layer : {"1", "2"}) {
      const auto learnt = parameters(way + "/pretraining/layer-" + layer);
      const bool machine = way == "rbm";
      EXPECT_EQ(start.at("layer" + layer + ".weights"),
                learnt.at(machine ? "visible_hidden.weights" : "layer1.weights"));
      EXPECT_EQ(start.at("layer" + layer + ".bias"), learnt.at(machine ? "hidden.bias" : "layer1.bias"));
    }
  }
  train("deep", "mlp", {"--layers", "12,9", "--pretrain", "dbm", "--pretrain-updates", "20", "--updates", "100"});
  const auto began = parameters("deep/start.safetensors"), machine = parameters("deep/pretraining/layer-1");
  EXPECT_EQ(began.at("layer1.weights"), machine.at("visible_hidden1.weights"));
  EXPECT_EQ(began.at("layer2.weights"), machine.at("hidden1_hidden2.weights"));
  EXPECT_EQ(began.at("layer2.bias"), machine.at("hidden2.bias"));
  EXPECT_TRUE(fs::exists(folder / "deep/pretraining/layer-1/pretraining/layer-2")) << "it began with RBMs itself";

  train("pairs", "autoencoder", {"--layers", "12,4", "--pretrain", "rbm", "--updates", "100"});
  const auto start = parameters("pairs/start.safetensors"), code = parameters("pairs/pretraining/layer-2");
  EXPECT_EQ(start.at("layer3.bias"), code.at("visible.bias")) << "the way down";
  EXPECT_EQ(json({"models", "show", "pairs"})["layers"][2]["unit"], "linear:4");
}

// A classifier's rate is not for losses that are sums over all pixels: on MNIST it left every unit saturated.
TEST_F(Nets, LearnLayersAsAutoencodersAtRatesOfTheirOwn) {
  const auto config_of = [&](const std::string& pretrain) {
    succeed({"train", "--data",       "digits",   "--limit",     "50",  "--model",        "mlp",   "--layers",
             "5,4",   "--activation", "logistic", "--optimizer", "sgd", "--rate-weights", "3",     "--momentum",
             "0.5",   "--pretrain",   pretrain,   "--updates",   "2",   "--out",          pretrain});
    return read_bytes(folder / pretrain / "pretraining/layer-2/config.toml");
  };
  const std::string pairs = config_of("autoencoder"), classes = config_of("supervised");
  for (const std::string line :
       {"optimizer = \"adam\"\n", "rate_weights = 0.001\n", "rate_bias = 0.001\n", "momentum = 0\n"})
    EXPECT_NE(pairs.find(line), std::string::npos) << line << pairs;
  for (const std::string line : {"optimizer = \"sgd\"\n", "rate_weights = 3\n", "momentum = 0.5\n"})
    EXPECT_NE(classes.find(line), std::string::npos) << line << classes;
}

TEST_F(Nets, InterruptedWhileLayersAreLearntGoOnToTheSameBytes) {
  const auto command = [](const std::string& out) {
    return Arguments{"train",   "--out",      out,           "--data",    "digits",
                     "--limit", "200",        "--model",     "mlp",       "--layers",
                     "8,6",     "--pretrain", "autoencoder", "--updates", "60",
                     "--batch", "20",         "--log-every", "5",         "--checkpoint-every",
                     "7"};
  };
  succeed(command("whole"));
  Process stopped = process(command("stopped"));
  stopped.on_error_line = [sent = false](pid_t child, const std::string& line) mutable {
    if (sent || update_of(line).value_or(-1) < 90) return;
    ::kill(child, SIGINT);
    sent = true;
  };
  const Outcome outcome = run(stopped);
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_NE(outcome.err.find("of 120 of pretraining"), std::string::npos) << outcome.err;
  succeed({"resume", "stopped"});
  EXPECT_TRUE(model_bytes("whole") == model_bytes("stopped"));
}

TEST_F(Nets, AreWhatAnExperimentMeasuresBesidePrincipalComponents) {
  write_bytes(folder / "pairs.toml",
              "kind = \"reconstruction\"\ntitle = \"t\"\nquestion = \"q\"\ntest = \"digits:test\"\n"
              "[config]\ndata = \"digits\"\nlayers = \"20,3\"\nupdates = 100\nlog_every = 50\nrate_weights = 0.01\n"
              "[[run]]\nname = \"a\"\n"
              "[[expected]]\nrun = \"a\"\nat_most = 4.6\nsource = \"here\"\n");
  const Arguments command = {"reproduce", "pairs.toml", "--out", "out"};
  const ordered_json found = json(command)["experiment"]["measured"];
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0]["value"], json({"reconstruct", "out/a", "--data", "digits:test"})["squared_error"]);
  EXPECT_EQ(found[0]["expected"], "≤ 4.6: met");
  // Three components of the 64 pixels keep 40 % of a variance of 4.69 (measured with another program).
  EXPECT_EQ(found[1]["run"], "pca");
  EXPECT_NEAR(found[1]["value"], 2.8, 0.1);
  const std::string model = model_bytes("out/a");
  EXPECT_EQ(json(command)["experiment"]["measured"], found);
  EXPECT_TRUE(model_bytes("out/a") == model);
}

TEST_F(Nets, RefuseWhatMakesNoSense) {
  const auto bad = [&](const Arguments& flags, const std::vector<std::string>& parts) {
    refuses(Arguments{"train", "--out", "run"} + flags, parts);
  };
  bad({"--model", "mlp", "--layers", "20,x"}, {"--layers", "'x'"});
  bad({"--model", "mlp", "--hidden", "20"}, {"--hidden", "--layers"});
  bad({"--model", "mlp", "--optimizer", "fang"}, {"fang", "adam"});
  bad({"--model", "mlp", "--loss", "squared"}, {"squared", "cross_entropy"});
  bad({"--model", "mlp", "--dropout", "1"}, {"--dropout", "below 1"});
  bad({"--model", "mlp", "--activation", "softmax"}, {"softmax", "relu"});
  bad({"--model", "mlp", "--snapshots", "log"}, {"--snapshots"});
  bad({"--model", "mlp", "--patience", "10", "--valid", "none"}, {"--patience", "--valid"});
  bad({"--model", "mlp", "--keep", "best", "--valid", "none"}, {"--keep best", "--valid"});
  bad({"--model", "mlp", "--data", "bars_and_stripes"}, {"labels"});
  bad({"--model", "autoencoder"}, {"autoencoder", "--layers"});
  bad({"--model", "autoencoder", "--layers", "3", "--visible", "gaussian", "--loss", "bernoulli"}, {"bernoulli"});
  bad({"--model", "mlp", "--pretrain", "rbm"}, {"--pretrain rbm", "--layers"});
  bad({"--model", "mlp", "--layers", "5", "--pretrain", "rbm", "--activation", "relu"}, {"relu", "logistic"});
  bad({"--model", "mlp", "--layers", "5", "--pretrain", "dreams"}, {"dreams", "supervised"});
  bad({"--model", "autoencoder", "--layers", "5", "--pretrain", "supervised"}, {"supervised", "rbm"});
  bad({"--model", "mlp", "--layers", "5", "--pretrain", "dbm"}, {"two hidden layers"});
  bad({"--model", "mlp", "--pretrain-updates", "5"}, {"--pretrain-updates"});
  bad({"--model", "rbm", "--dropout", "0.5"}, {"--dropout", "belongs to --model", "mlp"});
}

}  // namespace
}  // namespace harmonium::testing
