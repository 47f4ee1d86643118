#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/progress.h"
#include "harmonium/cli/refresh_report.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/training/files/evaluation.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

namespace {

struct EvaluateOptions {
  CommonOptions common;
  std::string model, data, method = "auto", binarize = "auto", label_column = "none";
  std::int64_t limit = 0;
  AisOptions ais;
};

// Enumeration beyond this takes longer than most people would call automatic.
constexpr int automatic_bits = 22;

struct TestData {
  State state;
  std::int64_t rows = 0;
  std::string binarization;
};

TestData open_data(const EvaluateOptions& options, const BoltzmannMachine& machine) {
  Dataset data = open_dataset(options.data, {.limit = options.limit, .label_column = options.label_column});
  require(data.columns() == machine.unit(0).width(), "evaluate: {} has {} columns, the model has {} visible units",
          options.data, data.columns(), machine.unit(0).width());
  const bool binary_units = machine.unit(0).spec().starts_with("bernoulli");
  Binarization binarization = Binarization::none;
  if (options.binarize != "auto")
    binarization = parse_binarization(options.binarize);
  else if (binary_units && !data.is_binary())
    binarization = Binarization::stochastic;
  if (binary_units && binarization == Binarization::none) require_binary(data);
  data = binarize(data, binarization, options.ais.seed);
  std::vector<at::Tensor> values = {data.to_float()};
  if (machine.observed().size() == 2) {
    require(data.labels.defined(), "evaluate: the model has a label layer, and {} has no labels", options.data);
    values.push_back(at::one_hot(data.labels, machine.unit(machine.observed()[1]).width()).to(at::kFloat));
  }
  const std::string complaint = machine.unit(0).complaint(values[0]);
  require(complaint.empty(), "evaluate: {}: {}", options.data, complaint);
  const std::string protocol = binarization == Binarization::stochastic
                                   ? format("stochastic (seed {})", options.ais.seed)
                                   : to_string(binarization);
  return {machine.observe(values), data.rows(), protocol};
}

Estimate estimate_log_z(const EvaluateOptions& options, const Model& model, const TestData* test) {
  const BoltzmannMachine& machine = model.machine;
  const bool exact = options.method == "exact" || (options.method == "auto" && can_enumerate(machine, automatic_bits));
  require(exact || options.method == "ais" || options.method == "auto",
          "unknown method '{}'; there are: auto, exact, ais", options.method);
  ProgressBar bar(exact ? "enumerating" : "annealing");
  const Progress progress = [&](std::int64_t done, std::int64_t total) {
    if (interrupted()) throw RunFailure("interrupted; nothing was written");
    bar.show(done, total, 0, "");
  };
  if (exact) return exact_log_z(machine, 30, progress);
  limit_threads(options.common, static_cast<double>(std::min(options.ais.chains, options.ais.chains_at_once) *
                                                    machine.parameters().dimension()));
  const Key key(options.ais.seed);
  Moments base;
  if (!model.data_moments.empty()) {
    base = base_rate_parameters(machine, model.data_moments);
  } else if (test != nullptr) {
    std::vector<std::vector<at::Tensor>> moments;
    for (const std::size_t layer : machine.observed())
      moments.push_back(machine.unit(layer).moments(test->state.layers[layer], {}));
    base = base_rate_parameters(machine, moments);
  } else {
    base = base_rate_parameters(machine, key.fold_in(0xBA5E));
  }
  return ais(machine, base, options.ais, progress).log_z;
}

std::string describe(const Estimate& estimate) {
  if (estimate.kind == EstimateKind::exact) return fmt::format("{:.6f} nats  exact", estimate.value);
  return fmt::format("{:.3f} nats  [{:.3f}, {:.3f}]  {}", estimate.value, estimate.low, estimate.high,
                     to_string(estimate.kind));
}

int evaluate(const EvaluateOptions& options) {
  watch_interrupts();
  const Model model = read_model(options.model);
  std::optional<TestData> test;
  if (!options.data.empty()) test = open_data(options, model.machine);

  Evaluation evaluation{.model = options.model,
                        .data = options.data,
                        .n = test ? test->rows : 0,
                        .binarization = test ? test->binarization : "",
                        .log_z = estimate_log_z(options, model, test ? &*test : nullptr),
                        .log_likelihood = std::nullopt};
  if (test)
    evaluation.log_likelihood =
        log_likelihood(log_unnormalized(model.machine, test->state).mean().item<double>(), evaluation.log_z);
  const bool run_folder = std::filesystem::is_directory(options.model) &&
                          std::filesystem::exists(std::filesystem::path(options.model) / "config.toml");
  if (run_folder) {
    record_evaluation(options.model, evaluation);
    refresh_report(options.model);
  }
  if (options.common.json) {
    print_json(to_json(evaluation));
    return 0;
  }
  if (const auto& l = evaluation.log_likelihood)
    fmt::print("log-likelihood  {}\n                {} rows of {}, binarization {}\n", describe(*l), evaluation.n,
               evaluation.data, evaluation.binarization);
  const Estimate& z = evaluation.log_z;
  fmt::print("log Z           {}\n                {}", describe(z), z.method);
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
                  "  harmonium evaluate runs/mnist --data mnist:test --method ais --chains 400 --betas 50000\n",
                  options->common, [options] { return evaluate(*options); });
  command->add_option("model", options->model, "run folder, .safetensors, or .npz with W, visible_bias, hidden_bias")
      ->required();
  command->add_option("--data", options->data,
                      "data to judge by: NAME or PATH[:train|valid|test]; without it: log Z alone");
  command->add_option("--method", options->method, "auto (exact where a side is small), exact, ais")
      ->capture_default_str();
  command->add_option("--chains", options->ais.chains, "ais: independent chains")->capture_default_str();
  command->add_option("--betas", options->ais.betas, "ais: steps from the base model to this one")
      ->capture_default_str();
  command
      ->add_option("--binarize", options->binarize,
                   "gray values: none, threshold, stochastic; auto: stochastic for gray data")
      ->capture_default_str();
  command->add_option("--limit", options->limit, "use only so many rows (0: all)")->capture_default_str();
  command->add_option("--label-column", options->label_column, "where a text table keeps its label: none, first, last")
      ->capture_default_str();
  command->add_option("--seed", options->ais.seed, "seed of chains and of stochastic binarization")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

}  // namespace harmonium::cli
