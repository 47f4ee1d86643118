// What runs, searches and experiments leave in text files, and what people write: configurations, logs, lists of β.
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "harmonium/experiments/annealing_experiment.h"
#include "harmonium/experiments/experiment_file.h"
#include "harmonium/experiments/samples_experiment.h"
#include "harmonium/experiments/search_experiment.h"
#include "harmonium/experiments/search_session.h"
#include "harmonium/experiments/training_experiment.h"
#include "harmonium/families/resolve.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/runs/checkpoint.h"
#include "harmonium/runs/classification_result.h"
#include "harmonium/runs/evaluation.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/runs/retrieval_result.h"
#include "harmonium/runs/toml_table.h"
#include "tests/fuzz/small_models.h"
#include "tests/fuzz/targets.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// A folder of this process; its name is in messages.
const fs::path& scratch() {
  struct Scratch {
    Scratch() {
      const fs::path memory = "/dev/shm";
      std::string name = ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "fuzz_XXXXXX").string();
      if (::mkdtemp(name.data()) == nullptr) std::abort();
      path = name;
    }
    ~Scratch() { fs::remove_all(path); }
    fs::path path;
  };
  static const Scratch folder;
  return folder.path;
}

fs::path written(const char* name, std::string_view bytes) {
  const fs::path path = scratch() / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

void fuzz_config(std::string_view bytes) {
  allow_errors([&] {
    RunConfig config;
    assign_config(config, parse_toml(std::string(bytes), "fuzz"), "fuzz");
    RunData data = small_rows();
    config.start = "none";  // names a file
    resolve(config, data);
  });
}

void fuzz_experiment(std::string_view bytes) {
  allow_errors([&] {
    const ExperimentFile file = parse_experiment("fuzz", "fuzz", std::string(bytes));
    for (const bool quick : {false, true}) {
      allow_errors([&] { (void)parse_training_experiment(file, quick); });
      allow_errors([&] { (void)parse_annealing_experiment(file, quick); });
      allow_errors([&] { (void)parse_search_experiment(file, quick); });
      allow_errors([&] { (void)parse_samples(file, quick); });
    }
  });
}

// The same lines as each of the logs.
void fuzz_log(std::string_view bytes) {
  const MetricsLog metrics(written("metrics.jsonl", bytes));
  allow_named_errors([&] { (void)metrics.read(); });
  (void)written("evaluations.jsonl", bytes);
  allow_named_errors([&] { (void)read_evaluations(scratch()); });
  (void)written("classifications.jsonl", bytes);
  allow_named_errors([&] { (void)read_classifications(scratch()); });
  (void)written("retrievals.jsonl", bytes);
  allow_named_errors([&] { (void)read_retrievals(scratch()); });
}

// latest.json beside checkpoints that are whole.
void fuzz_checkpoint_index(std::string_view bytes) {
  static const fs::path folder = [] {
    const fs::path made = scratch() / "checkpoint";
    for (const std::int64_t update : {1, 2})
      write_checkpoint(made, {.update = update, .seconds = 1, .tensors = {{"x", at::zeros({2})}}});
    return made;
  }();
  (void)written("checkpoint/latest.json", bytes);
  allow_named_errors([&] { (void)read_checkpoint(folder); });
}

void fuzz_search_outcome(std::string_view bytes) {
  SearchedRun run;
  read_outcome(run, written("failed.json", bytes), written("score.json", bytes));
}

void fuzz_betas(std::string_view bytes) {
  allow_named_errors([&] { (void)read_schedule(written("betas", bytes).string()); });
}

}  // namespace

std::vector<FuzzTarget> record_targets() {
  return {{"config", fuzz_config},
          {"experiment", fuzz_experiment},
          {"log", fuzz_log},
          {"checkpoint_index", fuzz_checkpoint_index},
          {"search_outcome", fuzz_search_outcome},
          {"betas", fuzz_betas}};
}

}  // namespace harmonium
