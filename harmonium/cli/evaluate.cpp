#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/judge.h"
#include "harmonium/cli/refresh_report.h"
#include "harmonium/core/error.h"
#include "harmonium/training/files/evaluation.h"

namespace harmonium::cli {

namespace {

struct EvaluateOptions {
  CommonOptions common;
  std::string model;
  JudgingData data;
  JudgeOptions judge;
  bool snapshots = false;
};

int evaluate_snapshots(const EvaluateOptions& options) {
  require(is_run_folder(options.model),
          "--snapshots: {} is not a run folder; give one that `harmonium train` has written", options.model);
  require(!options.data.spec.empty(), "--snapshots: give the data to judge by (--data)");
  JudgedRun judged;
  try {
    judged = judge_run(options.model, {options.data}, options.judge, options.common);
  } catch (const Interrupted&) {
    fmt::print(stderr, "interrupted; finished answers are recorded, and the same command goes on\n");
    return 130;
  }
  refresh_report_where_finished(options.model);
  if (options.common.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Evaluation& each : judged.evaluations) all.push_back(to_json(each));
    print_json({{"asked", judged.asked}, {"known", judged.known}, {"evaluations", all}});
    return 0;
  }
  const Evaluation& first = judged.evaluations.front();
  fmt::print("log-likelihood of {} rows of {}, binarization {}; {}\n", first.n, first.data, first.binarization,
             first.log_z.method);
  for (const Evaluation& each : judged.evaluations)
    fmt::print("{:>9} updates {:>9.1f} s  {}{}\n", each.updates, each.seconds, in_words(*each.log_likelihood),
               draws_in_words(each));
  if (judged.known > 0) fmt::print("{} of them were known already\n", judged.known);
  fmt::print("next    harmonium compare {}\n", options.model);
  return 0;
}

int evaluate(const EvaluateOptions& options) {
  watch_interrupts();
  if (options.snapshots) return evaluate_snapshots(options);
  const Model model = read_model(options.model);
  require(options.judge.draws == 1 || !options.data.spec.empty(), "--draws {}: there is nothing to draw without --data",
          options.judge.draws);
  std::optional<TestData> opened;
  if (!options.data.spec.empty()) opened = open_test_data(options.data, options.judge, model.machine);
  const TestData* test = opened ? &*opened : nullptr;
  const Evaluation evaluation =
      evaluate_model(options.model, model, test, estimate_log_z(model, test, options.judge, options.common));
  const bool run_folder = is_run_folder(options.model);
  if (run_folder) {
    record_evaluation(options.model, evaluation);
    refresh_report(options.model);
  }
  if (options.common.json) {
    print_json(to_json(evaluation));
    return 0;
  }
  if (const auto& l = evaluation.log_likelihood)
    fmt::print("log-likelihood  {}\n                {} rows of {}, binarization {}{}\n", in_words(*l), evaluation.n,
               evaluation.data, evaluation.binarization, draws_in_words(evaluation));
  const Estimate& z = evaluation.log_z;
  fmt::print("log Z           {}\n                {}", in_words(z), z.method);
  if (z.effective_samples)
    fmt::print(", {} chains × {} β, {:.1f} effective samples", z.chains, z.betas, *z.effective_samples);
  fmt::print("\n");
  if (z.effective_samples && *z.effective_samples < 0.1 * static_cast<double>(z.chains))
    fmt::print("  Few effective samples: log Z is probably too low and the likelihood too high. Raise --betas.\n");
  if (run_folder) fmt::print("report          {}\n", (std::filesystem::path(options.model) / "report.html").string());
  return 0;
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command =
      add_command(app, "evaluate", "Estimate log Z and the log-likelihood of data, with kind and interval",
                  "  harmonium evaluate runs/digits-1 --data digits:test\n"
                  "  harmonium evaluate model.npz --method exact\n"
                  "  harmonium evaluate runs/mnist --data mnist:test --method ais --chains 400 --betas 50000\n"
                  "  harmonium evaluate runs/mnist --snapshots --data mnist:test\n",
                  options->common, [options] { return evaluate(*options); });
  command->add_option("model", options->model, "run folder, .safetensors, or .npz with W, visible_bias, hidden_bias")
      ->required();
  command->add_option("--data", options->data.spec,
                      "data to judge by: NAME or PATH[:train|valid|test]; without it: log Z alone");
  command->add_flag("--snapshots", options->snapshots,
                    "judge every snapshot of the run and its final model; answers there already are kept");
  command->add_option("--method", options->judge.method, "auto (exact where a side is small), exact, ais")
      ->capture_default_str();
  command->add_option("--chains", options->judge.ais.chains, "ais: independent chains")->capture_default_str();
  command->add_option("--betas", options->judge.ais.betas, "ais: steps from the base model to this one")
      ->capture_default_str();
  command
      ->add_option("--binarize", options->judge.binarize,
                   "gray values: none, threshold, stochastic; auto: stochastic for gray data")
      ->capture_default_str();
  command
      ->add_option("--draws", options->judge.draws,
                   "stochastic binarization: average over so many draws, with seeds SEED, SEED + 1, …")
      ->capture_default_str();
  command->add_option("--limit", options->data.limit, "use only so many rows (0: all)")->capture_default_str();
  command
      ->add_option("--label-column", options->judge.label_column,
                   "where a text table keeps its label: none, first, last")
      ->capture_default_str();
  command->add_option("--seed", options->judge.ais.seed, "seed of chains and of stochastic binarization")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

}  // namespace harmonium::cli
