// Options, configuration files, folders and models that make no sense: exit 2, a message that helps, nothing changed.
#include <cmath>

#include "tests/cli/arrays.h"
#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

// In the folder is an earlier run, which --overwrite would replace: a mistake must show before anything is removed.
class BadOption : public Tool {
 protected:
  void SetUp() override { write_bytes(folder / "run/config.toml", "data = \"digits\"\n"); }
  void train_refuses(const Arguments& flags, const std::vector<std::string>& parts) const {
    std::vector<std::pair<std::string, std::string>> defaults = {{"--limit", "50"}, {"--updates", "3"}};
    if (std::ranges::find(flags, "--model") == flags.end()) defaults.emplace_back("--hidden", "3");
    refuses(Arguments{"train", "--out", "run", "--overwrite"} + with_defaults(flags, defaults), parts);
  }
};

TEST_F(BadOption, ThatDoesNotExistIsNamed) {
  train_refuses({"--hiden", "3"}, {"--hiden", "did you mean --hidden?", "train --help"});
  refuses({"trian"}, {"'trian'", "did you mean train?"});
  refuses({"data", "inf", "digits"}, {"'inf'", "did you mean info?"});
  train_refuses({"--updates"}, {"--updates"});
}

TEST_F(BadOption, OfHiddenUnitsIsNamed) {
  train_refuses({"--hidden", "0"}, {"--hidden 0", "positive"});
  train_refuses({"--hidden", "-3"}, {"--hidden -3"});
  train_refuses({"--hidden", "abc"}, {"--hidden abc", "bernoulli:N"});
  train_refuses({"--hidden", "99999999999999999999"}, {"--hidden 99999999999999999999"});
}

TEST_F(BadOption, OfDeepLayersIsNamed) {
  const Arguments deep = {"--model", "dbm"};
  train_refuses(deep, {"--layers", "100,50"});
  train_refuses(deep + Arguments{"--layers", "10,,5"}, {"--layers 10,,5"});
  train_refuses(deep + Arguments{"--layers", "10,abc"}, {"--layers 10,abc", "bernoulli:N"});
  train_refuses({"--model", "dbm", "--layers", "10,5", "--hidden", "3"}, {"--hidden", "--model dbm", "--layers"});
  train_refuses({"--layers", "10,5"}, {"--layers", "--model rbm", "dbm"});
  train_refuses(deep + Arguments{"--layers", "10,5", "--labels", "middle"}, {"--labels middle", "top"});
  train_refuses({"--labels", "top"}, {"--labels", "--model rbm", "dbm"});
  train_refuses({"--mean-field-steps", "-1"}, {"--mean-field-steps", "-1"});
  train_refuses({"--mean-field-steps", "1", "--gradient", "cd"}, {"--mean-field-steps", "cd", "pcd"});
  train_refuses({"--mean-field-steps", "1", "--model", "mrf"}, {"--mean-field-steps 1", "edges inside a layer"});
  train_refuses({"--pretrain", "rbm"}, {"--pretrain", "--model rbm", "dbm"});
  train_refuses(deep + Arguments{"--layers", "10", "--pretrain", "rbm"}, {"two hidden layers"});
  train_refuses(deep + Arguments{"--layers", "10,abc", "--pretrain", "rbm"}, {"--layers 10,abc", "'abc'"});
  train_refuses(deep + Arguments{"--layers", "10,softmax:2x3", "--pretrain", "rbm"}, {"softmax:2x3", "binary"});
  for (const std::string gradient : {"cd", "mf_cd", "pl"})
    train_refuses(deep + Arguments{"--layers", "10,5", "--gradient", gradient}, {"--gradient " + gradient, "pcd"});
  train_refuses(deep + Arguments{"--layers", "30,40", "--gradient", "exact"}, {"2^25"});
}

TEST_F(BadOption, OfCountsIsNamed) {
  train_refuses({"--updates", "0"}, {"--updates", "at least 1", "0"});
  train_refuses({"--batch", "0"}, {"--batch", "at least 1"});
  train_refuses({"--threads", "-1"}, {"--threads -1"});
  train_refuses({"--threads", "10000"}, {"--threads 10000", "processors"});
  train_refuses({"--seed", "-1"}, {"--seed", "'-1' is not a number from 0 up"});
  train_refuses({"--schedule-tau", "inf", "--schedule", "sqrt"}, {"--schedule-tau", "inf"});
  train_refuses({"--statistics-averaging", "inf"}, {"--statistics-averaging", "inf"});
  train_refuses({"--seed", "9223372036854775808"}, {"--seed", "9223372036854775808"});
}

TEST_F(BadOption, OfRealNumbersIsNamed) {
  train_refuses({"--rate-weights", "-0.1"}, {"--rate-weights", "-0.1"});
  train_refuses({"--momentum", "1"}, {"--momentum", "1"});
  train_refuses({"--shrink", "0.7"}, {"--shrink", "0.7"});
}

TEST_F(BadOption, ThatNamesNothingKnownIsAnsweredWithWhatThereIs) {
  train_refuses({"--optimizer", "adam"}, {"optimizer 'adam'", "centering", "sgd"});
  train_refuses({"--gradient", "tap"}, {"gradient 'tap'", "pcd", "cd", "exact"});
  train_refuses({"--schedule", "cosine"}, {"schedule 'cosine'", "constant", "linear"});
  train_refuses({"--model", "vea"}, {"model 'vea'", "rbm", "classification_rbm"});
  train_refuses({"--visible", "weibull"}, {"'weibull'", "bernoulli", "gaussian"});
  train_refuses({"--visible", "bernoulli:9"}, {"--visible bernoulli:9", "64"});
}

TEST_F(BadOption, OfADeviceThatIsNotThereSaysWhatIsMissingAndNeverFallsBack) {
  const std::vector<std::string> missing = {"--device cuda: ", "CUDA", "--device cpu"};
  train_refuses({"--device", "cuda"}, missing);
  write_bytes(folder / "recipe.toml", "device = \"cuda\"\n");
  refuses({"train", "recipe.toml", "--out", "other"}, missing);
  for (const std::string command : {"resume", "evaluate", "sample", "fisher"})
    refuses({command, "run", "--device", "cuda"}, missing);
}

TEST_F(BadOption, OfTheDeviceSaysWhatThereIs) {
  train_refuses({"--device", "tpu"}, {"--device tpu", "cpu", "cuda"});
  refuses({"sample", "run", "--device", "tpu"}, {"--device tpu", "cpu", "cuda"});
  refuses({"compare", "run", "--device", "cuda"}, {"--device cuda", "on the CPU", "train"});
}

TEST_F(BadOption, OfAnExactGradientTooLargeToComputeSaysTheLimit) {
  train_refuses({"--gradient", "exact", "--hidden", "40"}, {"--gradient exact", "2^25", "pcd"});
}

class BadRecipe : public Tool {
 protected:
  void refused(const std::string& text, const std::vector<std::string>& parts) const {
    write_bytes(folder / "bad.toml", text);
    refuses({"train", "bad.toml", "--updates", "3", "--out", "run"}, parts);
  }
};

TEST_F(BadRecipe, IsRefusedWithFileAndLine) {
  refused("data = \"digits\"\nhiden = 3\n", {"bad.toml, line 2", "'hiden'", "train --help"});
  refused("data = \"digits\"\n\nbatch = \"many\"\n", {"bad.toml, line 3", "'batch'", "whole number"});
  refused("momentum = true\n", {"bad.toml, line 1", "'momentum'", "number"});
  refused("data = \"digits\"\nhidden = = 3\n", {"bad.toml, line 2"});
  refused("data = \"digits\"\n[training]\nbatch = 3\n", {"bad.toml, line 2", "'training'"});
  refused("model = \"rbx\"\n", {"bad.toml, line 1, 'model'", "'rbx'", "classification_rbm"});
  refuses({"train", "nosuch.toml"}, {"nosuch.toml"});
}

TEST_F(BadRecipe, WithAFlagOfTheCommandLineSaysWhereItBelongs) {
  refused("data = \"digits\"\nthreads = 1\n", {"bad.toml, line 2, 'threads'", "command line", "--threads"});
  write_bytes(folder / "search.toml",
              "data = \"digits\"\nthreads = 1\n[search]\nruns = 2\n[search.ranges]\nrate_weights = [0.1, 0.2]\n");
  refuses({"search", "search.toml"}, {"search.toml, line 2, 'threads'", "command line", "--threads"});
}

TEST_F(BadRecipe, OfARunIsNamedWhateverIsWrongInIt) {
  succeed(small_run("run", {"--updates", "2"}));
  const std::string config = read_bytes(folder / "run/config.toml");
  for (const std::string line :
       {"batch = -3", "hidden = \"rernoulli:4\"", "model = \"rbx\"", "schedule = \"x\"", "device = \"tpu\""}) {
    const std::string key = "\n" + line.substr(0, line.find('=') + 1);
    std::string changed = "\n" + config;
    const std::size_t begin = changed.find(key) + 1;
    ASSERT_NE(begin, 0U) << key;
    changed.replace(begin, changed.find('\n', begin) - begin, line);
    write_bytes(folder / "run/config.toml", changed);
    refuses({"resume", "run"}, {"run/config.toml"});
  }
}

using BadFolder = Tool;

TEST_F(BadFolder, IsNeverWrittenInto) {
  write_bytes(folder / "file", "text");
  write_bytes(folder / "foreign/thesis.tex", "years of work");
  refuses(small_run("file"), {"--out file", "folder"});
  refuses(small_run("foreign"), {"--out foreign", "other things"});
  refuses(small_run("foreign", {"--overwrite"}), {"--out foreign", "other things"});
}

TEST_F(BadFolder, ThatIsNoRunCannotBeResumed) {
  write_bytes(folder / "foreign/thesis.tex", "years of work");
  refuses({"resume", "foreign"}, {"foreign", "not a run folder"});
  refuses({"resume", "nowhere"}, {"nowhere", "not a run folder"});
  refuses({"resume"}, {"folder"});
}

class BadModel : public Tool {
 protected:
  void refused(const std::string& file, const std::string& bytes, const std::vector<std::string>& parts) const {
    write_bytes(folder / file, bytes);
    refuses({"evaluate", file}, parts);
  }
  const Array weights{{3, 2}, std::vector<float>(6, 0)}, three{{3}, {0, 0, 0}}, two{{2}, {0, 0}};
};

TEST_F(BadModel, ThatIsMissingOrUnfinishedIsRefused) {
  refuses({"evaluate", "nowhere"}, {"nowhere", "run folder", ".safetensors", ".npz"});
  refuses({"evaluate"}, {"model"});
  write_bytes(folder / "unfinished/config.toml", "data = \"digits\"\n");
  refuses({"evaluate", "unfinished"}, {"unfinished", "model.safetensors", "harmonium resume unfinished"});
}

TEST_F(BadModel, InADamagedSafetensorsIsRefused) {
  succeed(small_run("run"));
  const std::string good = model_bytes("run");
  refused("garbage.safetensors", "garbage", {"garbage.safetensors", "byte 7"});
  refused("cut.safetensors", good.substr(0, 300), {"cut.safetensors", "byte 300", "cut short"});
  refused("short.safetensors", good.substr(0, good.size() - 1), {"short.safetensors"});
  const std::string checkpoint = "run/checkpoint/update-00000060.safetensors";
  refuses({"evaluate", checkpoint}, {checkpoint, "checkpoint", "folder of its run"});
}

TEST_F(BadModel, InAnNpzWithoutTheRightArraysIsRefused) {
  refused("no_weights.npz", npz({{"visible_bias", three}, {"hidden_bias", two}}), {"no_weights.npz", "'W'"});
  refused("turned.npz", npz({{"W", weights}, {"visible_bias", two}, {"hidden_bias", three}}),
          {"turned.npz", "3 × 2", "visible × hidden"});
  Array infinite = weights;
  infinite.values[3] = INFINITY;
  refused("infinite.npz", npz({{"W", infinite}, {"visible_bias", three}, {"hidden_bias", two}}),
          {"infinite.npz", "not finite"});
  refused("cut.npz", npz({{"W", weights}, {"visible_bias", three}, {"hidden_bias", two}}).substr(0, 200), {"cut.npz"});
}

TEST_F(BadModel, IsNotTheOnlyThingEvaluateLooksAt) {
  write_bytes(folder / "good.npz", npz({{"W", weights}, {"visible_bias", three}, {"hidden_bias", two}}));
  refuses({"evaluate", "good.npz", "--method", "guess"}, {"'guess'", "exact", "ais"});
  refuses({"evaluate", "good.npz", "--method", "ais", "--chains", "0"}, {"chain", "0"});
  write_bytes(folder / "big.npz", npz({{"W", {{50, 40}, std::vector<float>(2000, 0)}},
                                       {"visible_bias", {{50}, std::vector<float>(50, 0)}},
                                       {"hidden_bias", {{40}, std::vector<float>(40, 0)}}}));
  refuses({"evaluate", "big.npz", "--method", "exact"}, {"2^40", "ais"});
}

}  // namespace
}  // namespace harmonium::testing
