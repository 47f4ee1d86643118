// `harmonium trial`: trains a run, or goes on with it, and judges it; the command that a search starts for each of its
// runs. One process does both, because starting one costs more than many a small run. Not shown in --help.
#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/experiments/search_session.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/families/resolve.h"
#include "harmonium/gradients/pseudo_likelihood.h"
#include "harmonium/likelihood/judgement.h"
#include "harmonium/models/builders.h"
#include "harmonium/report/run_report.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct TrialOptions {
  SessionOptions common;
  std::string folder, config, by = "log_likelihood";
  JudgingData data;
  JudgeOptions judge;
};

constexpr std::int64_t rows_at_once = 500;

// Calls visit(rows of the observed layers) piece by piece.
template <class Visitor>
void by_pieces(const State& state, Visitor&& visitor) {
  for (std::int64_t first = 0; first < state.rows(); first += rows_at_once) {
    if (interrupted()) throw Interrupted("interrupted");
    State piece;
    for (const at::Tensor& layer : state.layers)
      piece.layers.push_back(layer.defined() ? layer.slice(0, first, first + rows_at_once) : layer);
    visitor(piece);
  }
}

// The fraction of rows whose most probable label is not theirs.
double classification_error(const Classifier& classifier, const Dataset& data) {
  std::int64_t wrong = 0;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    if (interrupted()) throw Interrupted("interrupted");
    const Dataset piece = data.slice(first, std::min(first + rows_at_once, data.rows()));
    wrong += classifier.log_probabilities(piece.to_float()).argmax(1).ne(piece.labels).sum().item<std::int64_t>();
  }
  return static_cast<double>(wrong) / static_cast<double>(data.rows());
}

double mean_pseudo_log_likelihood(const BoltzmannMachine& machine, const State& state) {
  double sum = 0;
  by_pieces(state, [&](const State& piece) {
    sum += pseudo_likelihood(machine, piece).value * static_cast<double>(piece.rows());
  });
  return sum / static_cast<double>(state.rows());
}

// The score with rows, kind and method.
ordered_json score(const TrialOptions& options, const Model& model) {
  const TestData test = open_judging_data(options.folder, options.data, options.judge, model);
  ordered_json result = {{"score", nullptr},         {"data", test.spec},
                         {"rows", test.rows.rows()}, {"binarization", test.binarization},
                         {"kind", "exact"},          {"method", options.by}};
  const TrainedMachine* machine = model.machine();
  if (options.by == "error") {
    require(model.classifier() != nullptr && test.rows.labels.defined(),
            "trial, error: {} cannot classify, or {} has no labels", options.folder, test.spec);
    result["score"] = classification_error(*model.classifier(), test.rows);
    return result;
  }
  if (options.by == "pseudo_log_likelihood") {
    require(machine != nullptr, "trial, {}: {} is not a Boltzmann machine", options.by, options.folder);
    result["score"] =
        mean_pseudo_log_likelihood(machine->machine, observed_state(machine->machine, test.rows, test.spec));
    return result;
  }
  require(options.by == "log_likelihood", "trial, {}: there are log_likelihood, error and pseudo_log_likelihood",
          options.by);
  EstimationOptions how = options.judge.estimation;
  how.method = machine != nullptr && !can_enumerate(machine->machine) ? "ais" : "exact";
  JournaledAnswers found = judge_with_bars(options.folder, model, {&test}, how, options.common);
  const Evaluation& evaluation = found.answers.front();
  record_evaluation(options.folder, evaluation);
  found.recorded();
  const Estimate& value = *evaluation.log_likelihood;
  result["score"] = value.value;
  result["low"] = value.low;
  result["high"] = value.high;
  const Judgement found_out = judgement(evaluation);
  result["trusted"] = found_out.trusted;
  if (!found_out.trusted) result["remark"] = in_words(found_out);
  result["kind"] = to_string(value.kind);
  result["method"] = evaluation.way().method;
  return result;
}

// Trains what is not trained yet; false where it was interrupted.
bool train_to_end(const TrialOptions& options, RunConfig& config) {
  const RunFolder folder(options.folder);
  folder.remove_unfinished_files();
  read_toml(folder.is_run() ? folder.config() : fs::path(options.config), config);
  if (folder.finished()) return true;
  const RunData data = resolve(config);
  check_config(config, data);
  if (!train_with_bar(folder, config, data, options.common, "training").finished) return false;
  write_report(folder.report(), run_report(folder.path(), data.train));
  return true;
}

int trial(const TrialOptions& options) {
  watch_interrupts();
  RunConfig config;
  if (!train_to_end(options, config)) throw Interrupted("interrupted; progress saved");
  double seconds = 0;
  for (const MetricsRow& row : MetricsLog(RunFolder(options.folder).metrics()).read()) seconds = row.seconds;
  ordered_json result = score(options, *open_model(options.folder));
  result["updates"] = config.updates;
  result["seconds"] = seconds;
  print_json(result);
  return 0;
}

}  // namespace

void add_trial(CLI::App& app) {
  auto options = std::make_shared<TrialOptions>();
  CLI::App* command =
      add_command(app, "trial", "Train and judge a run as `search` does",
                  "  harmonium trial runs/a --config recipe.toml --data digits:valid\n", options->common, [options] {
                    try {
                      return trial(*options);
                    } catch (const Interrupted& stopped) {
                      fmt::print(stderr, "{}\n", stopped.what());
                      return 130;
                    } catch (const Diverged& diverged) {  // what its settings lead to, whatever the machine
                      fmt::print(stderr, "harmonium: {}\n", as_flags(diverged.marked()));
                      return diverged_code;
                    }
                  });
  command->group("");
  command->add_option("folder", options->folder, "run folder")->required();
  command->add_option("--config", options->config, "what to train, where the folder does not say")->required();
  command->add_option("--data", options->data.spec, "data to judge by")->required();
  command->add_option("--limit", options->data.limit, "rows (0: all)");
  command->add_option("--by", options->by, "log_likelihood, error, pseudo_log_likelihood");
  command->add_option("--chains", options->judge.estimation.chains, "of ais");
  command->add_option("--betas", options->judge.estimation.betas, "of ais");
}

}  // namespace harmonium::cli
