#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/experiments/experiment_file.h"

namespace harmonium::cli {

namespace {

// Each kind of experiment reads what it needs of the file, runs until its end or an interruption, and goes on where it
// was stopped when it is called again.
struct ExperimentKind {
  const char* name;
  int (*run)(const ExperimentFile& file, const ReproduceOptions& options);
  bool devices = false;  // can compute on one
};

constexpr ExperimentKind experiment_kinds[] = {
    {"training", reproduce_training, true},
    {"fisher", reproduce_fisher},
    {"estimators", reproduce_estimators},
    {"calibration", reproduce_calibration},
    {"annealing", reproduce_annealing},
    {"search", reproduce_search},
    {"samples", reproduce_samples, true},
    {"classification", reproduce_classification, true},
    {"reconstruction", reproduce_reconstruction, true},
    {"clusters", reproduce_clusters, true},
    {"class_samples", reproduce_class_samples},
    {"retrieval", reproduce_retrieval},
};

int list_experiments(const SessionOptions& common) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const EmbeddedExperiment& each : embedded_experiments()) {
    const ExperimentFile file =
        parse_experiment(std::string(each.name), std::string(each.name), std::string(each.text));
    all.push_back({{"name", file.name}, {"kind", file.kind}, {"title", file.title}, {"question", file.question}});
    if (!common.json) fmt::print("{:<26} {}\n", file.name, file.title);
  }
  if (common.json) print_json({{"experiments", all}});
  return 0;
}

int reproduce(ReproduceOptions options) {
  if (options.name.empty()) return list_experiments(options.common);
  const ExperimentFile file = open_experiment(options.name);
  if (options.out.empty())
    options.out = std::filesystem::path("runs") / "reproduce" / (file.name + (options.quick ? "-quick" : ""));
  std::string known;
  for (const ExperimentKind& kind : experiment_kinds) {
    if (file.kind == kind.name) {
      require(kind.devices || options.common.device == "cpu", "--device {}: experiments of kind {} compute on the CPU",
              options.common.device, kind.name);
      return kind.run(file, options);
    }
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  fail("{}: there is no kind of experiment '{}'; there are: {}", file.source, file.kind, known);
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto options = std::make_shared<ReproduceOptions>();
  options->common.devices = SessionOptions::Devices::any;
  CLI::App* command =
      add_command(app, "reproduce", "Run an experiment and compare its results with expected values",
                  "  harmonium reproduce                          # lists the experiments\n"
                  "  harmonium reproduce mnist_published --quick  # a few minutes\n"
                  "  harmonium reproduce mnist_published          # continues where it was interrupted\n"
                  "  harmonium reproduce dbm_mnist --device cuda  # would take a day on a CPU\n"
                  "  harmonium reproduce my_experiment.toml --out runs/mine\n",
                  options->common, [options] { return reproduce(*options); });
  command->add_option("experiment", options->name, "name, or path of a TOML file; left out: the list");
  command->add_flag("--quick", options->quick, "the short version the experiment describes");
  command->add_option("--out", options->out, "folder for runs and results (default: runs/reproduce/NAME)");
}

}  // namespace harmonium::cli
