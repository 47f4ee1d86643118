// `harmonium score`: what a search judges its runs by, as a command that it starts for each. Not shown in --help.
#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/judge.h"
#include "harmonium/gradients/pseudo_likelihood.h"
#include "harmonium/models/builders.h"

namespace harmonium::cli {

namespace {

using nlohmann::ordered_json;

struct ScoreOptions {
  CommonOptions common;
  std::string run, by = "log_likelihood";
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
double classification_error(const BoltzmannMachine& machine, const State& state) {
  const std::size_t label = machine.layer_index("label");
  std::int64_t wrong = 0;
  by_pieces(state, [&](const State& piece) {
    const at::Tensor guess = log_label_probabilities(machine, piece.layers[0]).argmax(1);
    wrong += guess.ne(piece.layers[label].argmax(1)).sum().item<std::int64_t>();
  });
  return static_cast<double>(wrong) / static_cast<double>(state.rows());
}

double mean_pseudo_log_likelihood(const BoltzmannMachine& machine, const State& state) {
  double sum = 0;
  by_pieces(state, [&](const State& piece) {
    sum += pseudo_likelihood(machine, piece).value * static_cast<double>(piece.rows());
  });
  return sum / static_cast<double>(state.rows());
}

int score(ScoreOptions options) {
  watch_interrupts();
  const Model model = read_model(options.run);
  const TestData test = open_test_data(options.data, options.judge.data, model.machine);
  ordered_json result = {{"score", nullptr},  {"data", test.spec},
                         {"rows", test.rows}, {"binarization", test.binarization},
                         {"kind", "exact"},   {"method", options.by}};
  if (options.by == "error") {
    require(model.kind == "classification_rbm", "score error: {} holds no classification_rbm", options.run);
    result["score"] = classification_error(model.machine, test.state);
  } else if (options.by == "pseudo_log_likelihood") {
    result["score"] = mean_pseudo_log_likelihood(model.machine, test.state);
  } else {
    require(options.by == "log_likelihood", "score {}: there are log_likelihood, error and pseudo_log_likelihood",
            options.by);
    EstimationOptions& how = options.judge.estimation;
    how.method = can_enumerate(model.machine) ? "exact" : "ais";
    JournaledFindings found = find_with_bars(options.run, model, &test, how, options.common);
    const Evaluation evaluation = evaluate_model(options.run, model, &test, found.findings, how.gap);
    record_evaluation(options.run, evaluation);
    found.recorded();
    const Estimate& value = *evaluation.log_likelihood;
    result["score"] = value.value;
    result["low"] = value.low;
    result["high"] = value.high;
    result["kind"] = to_string(value.kind);
    result["method"] = evaluation.log_z.method;
  }
  print_json(result);
  return 0;
}

}  // namespace

void add_score(CLI::App& app) {
  auto options = std::make_shared<ScoreOptions>();
  CLI::App* command = add_command(app, "score", "Judge a run as `search` does",
                                  "  harmonium score runs/a --data digits:valid\n", options->common, [options] {
                                    try {
                                      return score(*options);
                                    } catch (const Interrupted& stopped) {
                                      fmt::print(stderr, "{}\n", stopped.what());
                                      return 130;
                                    }
                                  });
  command->group("");
  command->add_option("run", options->run, "run folder")->required();
  command->add_option("--data", options->data.spec, "data to judge by")->required();
  command->add_option("--limit", options->data.limit, "rows (0: all)");
  command->add_option("--by", options->by, "log_likelihood, error, pseudo_log_likelihood");
  command->add_option("--chains", options->judge.estimation.chains, "of ais");
  command->add_option("--betas", options->judge.estimation.betas, "of ais");
  command->add_option("--label-column", options->judge.data.label_column, "of a text table");
}

}  // namespace harmonium::cli
