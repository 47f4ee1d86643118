// A run that was stopped, by force or by request, and taken up again ends with the same bytes as one that was not.
#include <signal.h>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Resume : public Tool {
 protected:
  // Runs a command that is sent `signal` once it has done `update` updates.
  [[nodiscard]] Outcome stop(const Arguments& arguments, int signal, int update) const {
    Process command = process(arguments);
    command.on_error_line = [signal, update, sent = false](pid_t child, const std::string& line) mutable {
      if (sent || update_of(line).value_or(-1) < update) return;
      ::kill(child, signal);
      sent = true;
    };
    return run(command);
  }

  // Stops a run of 60 updates by force in its middle, after at least two checkpoints.
  void kill_in_the_middle(const Arguments& arguments, int update = 24) const {
    const Outcome outcome = stop(arguments, SIGKILL, update);
    ASSERT_EQ(outcome.code, -SIGKILL) << outcome.err;
  }

  [[nodiscard]] ordered_json checkpoints(const std::string& run) const {
    return ordered_json::parse(read_bytes(folder / run / "checkpoint/latest.json"));
  }

  // Resumes and makes sure that the run was not simply done again from its start.
  Outcome resume(const std::string& run) const {
    const int saved = checkpoints(run)[0]["update"];
    EXPECT_GT(saved, 0);
    Outcome outcome = succeed({"resume", run});
    const std::string first = outcome.err.substr(outcome.err.find("training "));
    EXPECT_GT(update_of(first).value_or(0), saved) << outcome.err;
    return outcome;
  }

  void expect_equal_runs(const std::string& one, const std::string& other) const {
    EXPECT_TRUE(model_bytes(one) == model_bytes(other)) << "the models differ";
    EXPECT_EQ(metrics_without_seconds(folder / one), metrics_without_seconds(folder / other));
    EXPECT_EQ(read_bytes(folder / one / "config.toml"), read_bytes(folder / other / "config.toml"));
    EXPECT_EQ(names_in(folder / one), names_in(folder / other));
  }
};

struct Variant {
  const char* name;
  Arguments flags;
};
// Names the test in listings.
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class KilledRun : public Resume, public ::testing::WithParamInterface<Variant> {};

TEST_P(KilledRun, EndsWithTheBytesOfOneThatWasNot) {
  const Arguments& flags = GetParam().flags;
  succeed(small_run("whole", flags));
  ASSERT_NO_FATAL_FAILURE(kill_in_the_middle(small_run("killed", flags)));
  EXPECT_FALSE(fs::exists(folder / "killed/model.safetensors"));
  resume("killed");
  expect_equal_runs("whole", "killed");
}

INSTANTIATE_TEST_SUITE_P(
    Of, KilledRun,
    ::testing::Values(
        Variant{"CenteredPcd", {}}, Variant{"SgdWithMomentum", {"--optimizer", "sgd", "--momentum", "0.8"}},
        Variant{"FollowedLikelihood", {"--hidden", "18", "--keep", "best", "--rate-weights", "0.05"}},
        Variant{"Cd", {"--gradient", "cd", "--sweeps", "2", "--schedule", "sqrt"}},
        Variant{"ExactGradient", {"--gradient", "exact", "--hidden", "5"}},
        Variant{"ClassificationRbm", {"--model", "classification_rbm", "--checkpoint-every", "1"}},
        Variant{"HybridObjective",
                {"--model", "classification_rbm", "--objective", "hybrid", "--keep", "best", "--gradient", "fpcd"}},
        Variant{"DeepMachine", {"--model", "dbm", "--layers", "6,4", "--optimizer", "fang"}},
        Variant{"DeepMachineByMeans", {"--model", "dbm", "--layers", "6,4", "--mean-field-steps", "1"}},
        Variant{"GeneralMachineBySampledRows", {"--model", "boltzmann", "--inference", "gibbs", "--particles", "30"}},
        Variant{"GeneralMachineThatKeepsItsBest",
                {"--model", "boltzmann", "--hidden", "18", "--keep", "best", "--optimizer", "centering"}},
        Variant{"Classifier", {"--model", "mlp", "--layers", "9,7", "--dropout", "0.3"}},
        Variant{
            "Autoencoder",
            {"--model", "autoencoder", "--layers", "9,3", "--optimizer", "sgd", "--momentum", "0.9", "--keep", "last"}},
        Variant{"BeliefNetUnderAnRbm",
                {"--model", "sbn", "--latent", "24", "--prior", "rbm:24", "--objective", "rws:2"}},
        // Nothing moves, so the first model stays the best and only the checkpoint remembers it.
        Variant{"BestModelOfLongAgo",
                {"--model", "classification_rbm", "--keep", "best", "--optimizer", "sgd", "--rate-weights", "1e-9",
                 "--rate-bias", "1e-9"}},
        Variant{"GaussianVisibleUnits", {"--visible", "gaussian", "--rate-weights", "0.001", "--rate-bias", "0.001"}},
        Variant{"SoftmaxHiddenUnits", {"--hidden", "softmax:3x4", "--averaging", "4", "--particles", "7"}}),
    [](const auto& variant) { return variant.param.name; });

class ResumePretrained : public Resume {
 protected:
  // So many updates of each of three RBMs, which are counted together, come before the 60 of the deep machine.
  [[nodiscard]] static Arguments pretrained_run(const std::string& out, const std::string& updates) {
    return small_run(out, {"--model", "dbm", "--layers", "6,5,4", "--pretrain", "rbm", "--pretrain-updates", updates,
                           "--labels", "top", "--keep", "best"});
  }
};

TEST_F(ResumePretrained, GoesOnInTheMiddleOfAnRbm) {
  succeed(pretrained_run("whole", "40"));
  ASSERT_NO_FATAL_FAILURE(kill_in_the_middle(pretrained_run("killed", "40")));
  EXPECT_FALSE(fs::exists(folder / "killed/checkpoint"));
  const std::string first = "killed/pretraining/layer-1";
  EXPECT_GT(checkpoints(first)[0]["update"], 0);
  EXPECT_FALSE(fs::exists(folder / first / "model.safetensors"));
  succeed({"resume", "killed"});
  expect_equal_runs("whole", "killed");
  for (const std::string rbm : {"1", "2", "3"})
    EXPECT_TRUE(model_bytes("whole/pretraining/layer-" + rbm) == model_bytes("killed/pretraining/layer-" + rbm)) << rbm;
}

TEST_F(ResumePretrained, GoesOnAfterPretraining) {
  succeed(pretrained_run("whole", "15"));
  ASSERT_NO_FATAL_FAILURE(kill_in_the_middle(pretrained_run("killed", "15"), 50));
  resume("killed");
  expect_equal_runs("whole", "killed");
}

TEST_F(Resume, BringsBackARunThatWasKilledTwice) {
  succeed(small_run("whole"));
  ASSERT_NO_FATAL_FAILURE(kill_in_the_middle(small_run("killed"), 15));
  ASSERT_NO_FATAL_FAILURE(kill_in_the_middle({"resume", "killed"}, 36));
  resume("killed");
  expect_equal_runs("whole", "killed");
}

TEST_F(Resume, StartsOverARunThatWasKilledBeforeItsFirstCheckpoint) {
  succeed(small_run("whole", {"--checkpoint-every", "1000"}));
  ASSERT_NO_FATAL_FAILURE(kill_in_the_middle(small_run("killed", {"--checkpoint-every", "1000"})));
  EXPECT_FALSE(fs::exists(folder / "killed/checkpoint"));
  succeed({"resume", "killed"});
  expect_equal_runs("whole", "killed");
}

TEST_F(Resume, OfAFinishedRunChangesNeitherModelNorMetrics) {
  succeed(small_run("run"));
  const std::string model = model_bytes("run"), metrics = read_bytes(folder / "run/metrics.jsonl");
  const ordered_json result = json({"resume", "run"});
  EXPECT_EQ(result["updates"], 60);
  EXPECT_TRUE(model_bytes("run") == model);
  EXPECT_EQ(read_bytes(folder / "run/metrics.jsonl"), metrics);
}

class InterruptedRun : public Resume, public ::testing::WithParamInterface<int> {};

TEST_P(InterruptedRun, SavesSaysHowToGoOnAndEndsWithTheSameBytes) {
  // No checkpoint is due on its own: what the run goes on from was saved because of the signal.
  succeed(small_run("whole", {"--checkpoint-every", "1000"}));
  const Outcome outcome = stop(small_run("stopped", {"--checkpoint-every", "1000"}), GetParam(), 24);
  EXPECT_EQ(outcome.code, 130);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("interrupted after update "), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("harmonium resume stopped"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder / "stopped/model.safetensors"));
  const int saved = checkpoints("stopped")[0]["update"];
  EXPECT_GE(saved, 24);
  EXPECT_NE(outcome.err.find("update " + std::to_string(saved) + " of 60"), std::string::npos) << outcome.err;
  resume("stopped");
  expect_equal_runs("whole", "stopped");
}

INSTANTIATE_TEST_SUITE_P(By, InterruptedRun, ::testing::Values(SIGINT, SIGTERM, SIGHUP), [](const auto& signal) {
  return signal.param == SIGINT ? "CtrlC" : signal.param == SIGTERM ? "Terminate" : "EndOfTheTerminal";
});

class DamagedRun : public Resume {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(kill_in_the_middle(small_run("run")));
    // A kill may hit a file that is being written; what resume does about that is another test's business.
    for (const auto& [file, bytes] : snapshot(folder / "run"))
      if (file.extension() == ".tmp") fs::remove(file);
    ASSERT_EQ(checkpoints("run").size(), 2U);
    newest = checkpoints("run")[0]["file"];
    before = checkpoints("run")[1]["file"];
  }
  void expect_equal_to_an_undamaged_run() const {
    succeed(small_run("whole"));
    expect_equal_runs("whole", "run");
  }
  [[nodiscard]] fs::path path(const std::string& checkpoint) const { return folder / "run/checkpoint" / checkpoint; }

  std::string newest, before;
};

TEST_F(DamagedRun, FallsBackToTheCheckpointBeforeAndSaysSo) {
  flip_byte_in_the_middle(path(newest));
  const Outcome outcome = succeed({"resume", "run"});
  EXPECT_NE(outcome.err.find(newest), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("damaged"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(before), std::string::npos) << outcome.err;
  expect_equal_to_an_undamaged_run();
}

TEST_F(DamagedRun, FallsBackWhenTheNewestCheckpointIsGone) {
  fs::remove(path(newest));
  const Outcome outcome = succeed({"resume", "run"});
  EXPECT_NE(outcome.err.find(newest), std::string::npos) << outcome.err;
  expect_equal_to_an_undamaged_run();
}

TEST_F(DamagedRun, WithoutAGoodCheckpointIsAnErrorThatNamesTheFiles) {
  flip_byte_in_the_middle(path(newest));
  write_bytes(path(before), read_bytes(path(before)).substr(0, 100));
  refuses({"resume", "run"}, {newest, before, "damaged"});
}

TEST_F(DamagedRun, WithADamagedOrMissingIndexGoesOnFromTheNewestCheckpointAndSaysSo) {
  const int saved = checkpoints("run")[0]["update"];
  write_bytes(path("latest.json"), read_bytes(path("latest.json")).substr(0, 40));
  const Outcome outcome = succeed({"resume", "run"});
  EXPECT_NE(outcome.err.find("run/checkpoint/latest.json is damaged"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("update " + std::to_string(saved)), std::string::npos) << outcome.err;
  expect_equal_to_an_undamaged_run();
  fs::remove(path("latest.json"));
  EXPECT_NE(succeed({"resume", "run"}).err.find("latest.json is missing"), std::string::npos);
  EXPECT_TRUE(model_bytes("run") == model_bytes("whole"));
}

TEST_F(DamagedRun, ToleratesAHalfWrittenLineOfMetricsAndLeftOverTemporaryFiles) {
  write_bytes(folder / "run/metrics.jsonl", read_bytes(folder / "run/metrics.jsonl") + "{\"epoch\":1.5,\"upd");
  write_bytes(path("update-00000099.safetensors.77.tmp"), "half");
  resume("run");
  expect_equal_to_an_undamaged_run();
  EXPECT_EQ(names_in(folder / "run/checkpoint"), names_in(folder / "whole/checkpoint"));
}

TEST_F(DamagedRun, WithADamagedLineOfMetricsNamesTheLineKeepsItAsideAndGoesOn) {
  std::string metrics = read_bytes(folder / "run/metrics.jsonl");
  const std::size_t second = metrics.find('\n') + 1;
  metrics[second] = '#';
  const std::string line = metrics.substr(second, metrics.find('\n', second) + 1 - second);
  write_bytes(folder / "run/metrics.jsonl", metrics);
  const Outcome outcome = succeed({"resume", "run"});
  EXPECT_NE(outcome.err.find("run/metrics.jsonl, line 2: damaged"), std::string::npos) << outcome.err;
  EXPECT_EQ(read_bytes(folder / "run/metrics.jsonl.damaged"), line);
  succeed(small_run("whole"));
  EXPECT_TRUE(model_bytes("run") == model_bytes("whole"));
  EXPECT_EQ(metrics_without_seconds(folder / "run").size() + 1, metrics_without_seconds(folder / "whole").size());
}

}  // namespace
}  // namespace harmonium::testing
