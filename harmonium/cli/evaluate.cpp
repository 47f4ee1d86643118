#include <fmt/core.h>

#include <cmath>

#include "harmonium/cli/command.h"
#include "harmonium/cli/reading_flags.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/likelihood/judgement.h"
#include "harmonium/runs/evaluation.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/refresh_report.h"

namespace harmonium::cli {

namespace {

struct EvaluateOptions {
  SessionOptions common;
  std::string model;
  JudgingData data;
  JudgeOptions judge;
  CLI::Option* chains = nullptr;  // given or not: how many are usual is the model's business
  std::string rows_out;
  bool snapshots = false;
};

int evaluate_snapshots(const EvaluateOptions& options) {
  const RunFolder folder(options.model);
  require(folder.is_run(), "--snapshots: {} is not a run folder; give one that `harmonium train` has written",
          options.model);
  require(!options.data.spec.empty(), "--snapshots: give the data to judge by (--data)");
  const JudgedRun judged = judge_run(options.model, {options.data}, options.judge, options.common);
  const auto exit_code = [&] {
    if (!judged.recorded) return 1;
    return folder.finished() ? record_or_say([&] { refresh_report(folder); }) : 0;
  };
  if (options.common.json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Evaluation& each : judged.evaluations) all.push_back(to_json(each));
    print_json({{"asked", judged.asked}, {"known", judged.known}, {"evaluations", all}});
    return exit_code();
  }
  const Evaluation& first = judged.evaluations.front();
  fmt::print("log-likelihood of {} rows of {}, binarization {}; {}\n", first.n, first.data, first.binarization,
             first.way().method);
  for (const Evaluation& each : judged.evaluations)
    fmt::print("{:>9} updates {:>9.1f} s  {}{}\n", each.updates, each.seconds, log_likelihood_in_words(each),
               draws_in_words(each));
  if (judged.known > 0) fmt::print("{} of {} already evaluated\n", judged.known, judged.evaluations.size());
  fmt::print("next    harmonium compare {}\n", options.model);
  return exit_code();
}

// Of models of real values, whose log-likelihood is that of a density, which depends on the units of the data; and of
// gray levels, which have probabilities.
std::optional<double> bits_per_dimension(const Evaluation& evaluation, const Model& model) {
  const Unit::Support support = model.visible().support();
  if (!evaluation.log_likelihood || (support != Unit::Support::reals && support != Unit::Support::nonnegative))
    return std::nullopt;
  return -evaluation.log_likelihood->value / (static_cast<double>(model.visible().width()) * std::log(2.0));
}

// A density of values k·scale has 1/scale times the density of k.
double in_stored_steps(double bits, const TestData& test) { return bits - std::log2(test.gray.scale); }

void print_bits(double bits, const Model& model, const TestData& test) {
  if (test.protocol == Binarization::levels) {
    fmt::print("                {:.3f} bits per dimension ({} columns, probabilities of the stored gray levels)\n",
               bits, model.visible().width());
    return;
  }
  fmt::print("                {:.3f} bits per dimension ({} columns, a density in the units of the data)\n", bits,
             model.visible().width());
  const double of_steps = in_stored_steps(bits, test);
  if (test.protocol == Binarization::dequantized)
    fmt::print(
        "                {:.3f} in steps of the stored values, with noise of one step: in expectation at least\n"
        "                as many bits as the values themselves take\n",
        of_steps);
  else if (test.gray.scale != 1)
    fmt::print("                {:.3f} where one unit is a step of the stored values, which were divided by {:g}\n",
               of_steps, 1 / test.gray.scale);
}

void print_answer(const Evaluation& evaluation) {
  if (const auto& l = evaluation.log_likelihood)
    fmt::print("{:<16}{}\n                {} rows of {}, binarization {}{}\n",
               judgement(evaluation).trusted &&
                       (l->kind == EstimateKind::lower_bound || l->kind == EstimateKind::estimated_lower_bound)
                   ? "at least"
                   : "log-likelihood",
               log_likelihood_in_words(evaluation), evaluation.n, evaluation.data, evaluation.binarization,
               draws_in_words(evaluation));
  if (!evaluation.unfinished.empty()) fmt::print("unfinished      {}: the run has not ended\n", evaluation.unfinished);
  if (!evaluation.trained_rows_note.empty()) fmt::print("                {}\n", evaluation.trained_rows_note);
  if (evaluation.hidden) fmt::print("                {}\n", in_words(*evaluation.hidden));
  if (const auto& l = evaluation.log_likelihood; l && importance_draws(*l) > 0)
    fmt::print("                importance sampling, {} draws of each row, and log Z of the prior\n", l->chains);
  if (!evaluation.log_z) {  // normalized by construction
    if (const auto& l = evaluation.log_likelihood)
      fmt::print("                {}{}\n", l->method,
                 l->betas > 0 ? fmt::format(", {} chains × {} β of each row", l->chains, l->betas)
                 : l->chains > 0
                     ? fmt::format(", {} draws of each {}", l->chains, evaluation.sequences ? "sequence" : "row")
                     : "");
    if (evaluation.sequences)
      fmt::print("sequences       {}\n                (the log-likelihood above is per frame, over all frames)\n",
                 in_words(*evaluation.sequences));
    if (!evaluation.verdict.empty()) fmt::print("verdict         {}\n", evaluation.verdict);
    return;
  }
  const Estimate& z = *evaluation.log_z;
  const bool alone = z.kind == EstimateKind::upper_bound;  // RAISE without an AIS beside it
  if (const auto& bound = evaluation.raise)
    fmt::print("{}RAISE, {} rows × {} chains × {} β\n",
               alone ? std::string(16, ' ') : fmt::format("lower bound     {}\n{:16}", in_words(*bound), ""),
               evaluation.raise_rows, bound->chains, bound->betas);
  fmt::print("log Z           {}\n", in_words(z));
  if (z.effective_samples)
    fmt::print("                {}, {} chains × {} β, {:.1f} effective samples\n", z.method, z.chains, z.betas,
               *z.effective_samples);
  else if (!alone)
    fmt::print("                {}\n", z.method);
  if (evaluation.upper_log_z && !alone)
    fmt::print("upper bound     {}\n                {}\n", in_words(*evaluation.upper_log_z),
               evaluation.upper_log_z->method);
  if (evaluation.bennett)
    fmt::print("both ways       {}\n                {}\n", in_words(*evaluation.bennett), evaluation.bennett->method);
  if (!evaluation.verdict.empty()) fmt::print("verdict         {}\n", evaluation.verdict);
}

void check_rows_out(const EvaluateOptions& options) {
  if (options.rows_out.empty()) return;
  require(options.rows_out.ends_with(".npy") || options.rows_out.ends_with(".csv"),
          "--rows-out {}: the name must end in .npy or .csv", options.rows_out);
  require(!options.data.spec.empty(), "--rows-out {}: give the rows to judge (--data)", options.rows_out);
  require(!options.snapshots, "--rows-out {}: judge one model at a time, without --snapshots", options.rows_out);
}

// Log-likelihoods of single rows, in the order of the data.
void write_rows(const EvaluateOptions& options, const Evaluation& evaluation) {
  if (options.rows_out.empty()) return;
  require(evaluation.of_rows.defined(),
          "--rows-out {}: this answer is about the mean over rows, or about some of them, and has no number for every "
          "row (with --method ais of a decoder, --rows takes more of them)",
          options.rows_out);
  if (options.rows_out.ends_with(".npy")) {
    write_npy(options.rows_out, evaluation.of_rows);
  } else {
    const at::Tensor values = evaluation.of_rows.contiguous();
    std::string text = "row,log_likelihood\n";
    for (std::int64_t row = 0; row < values.size(0); ++row)
      text += format("{},{}\n", row, values.data_ptr<double>()[row]);
    write_file_atomically(options.rows_out, text);
  }
  if (!options.common.json) fmt::print("rows            {}\n", options.rows_out);
}

int evaluate(EvaluateOptions options) {
  check_rows_out(options);
  require(options.chains->count() == 0 || options.judge.estimation.chains >= 1,
          "--chains {}: give the number of chains, 1 or more", options.judge.estimation.chains);
  options.judge.data.seed = options.judge.estimation.seed;
  watch_interrupts();
  if (options.snapshots) return evaluate_snapshots(options);
  const RunFolder folder(options.model);
  const std::unique_ptr<Model> model = open_for_use(options.model)->to(find_device(options.common.device));
  if (model->density() == nullptr) cannot(*model, options.model, "has no likelihood");
  require(options.judge.data.draws == 1 || !options.data.spec.empty(),
          "--draws {}: there is nothing to draw without --data", options.judge.data.draws);
  std::optional<TestData> test;
  if (!options.data.spec.empty()) test = open_judging_data(options.model, options.data, options.judge, *model);
  std::vector<const TestData*> tests;
  if (test) tests.push_back(&*test);
  JournaledAnswers found = judge_with_bars(options.model, *model, tests, options.judge.estimation, options.common);
  const Evaluation& evaluation = found.answers.front();
  const std::optional<double> bits = test ? bits_per_dimension(evaluation, *model) : std::nullopt;
  if (options.common.json) {
    nlohmann::ordered_json answer = to_json(evaluation);
    if (bits) answer["bits_per_dimension"] = *bits;
    if (bits && test->protocol == Binarization::dequantized)
      answer["bits_per_dimension_in_stored_steps"] = in_stored_steps(*bits, *test);
    print_json(answer);
  } else {
    print_answer(evaluation);
    if (bits) print_bits(*bits, *model, *test);
  }
  // Printed first: whatever happens to the folder, the work is not lost.
  const int code = record_or_say([&] {
    if (!folder.is_run()) return;
    record_evaluation(folder.path(), evaluation);
    refresh_report(folder, options.common.device == "cpu" ? model.get() : nullptr);
  });
  if (code == 0) found.recorded();
  if (code == 0 && folder.is_run() && !options.common.json)
    fmt::print("report          {}\n", folder.report().string());
  write_rows(options, evaluation);
  return std::max(code, found.tell_trouble());
}

}  // namespace

void add_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateOptions>();
  options->common.devices = SessionOptions::Devices::any;
  CLI::App* command =
      add_command(app, "evaluate", "Estimate log Z and the log-likelihood of data, with kind and interval",
                  "  harmonium evaluate runs/digits-1 --data digits:test\n"
                  "  harmonium evaluate model.npz --method exact\n"
                  "  harmonium evaluate runs/mnist --data mnist:test --minutes 20 --gap 0.2\n"
                  "  harmonium evaluate runs/mnist --data mnist:test --method ais --chains 400 --betas 50000\n"
                  "  harmonium evaluate runs/mnist --data mnist:test --method sandwich --betas 20000\n"
                  "  harmonium evaluate runs/mnist --snapshots --data mnist:test\n"
                  "  harmonium evaluate runs/mnist --data mnist:test --device cuda\n"
                  "  harmonium evaluate runs/vae --data digits:test --method ais     # of the decoder\n"
                  "  harmonium evaluate runs/any --data digits:test --orders 64     # orderless_nade\n"
                  "  harmonium evaluate runs/made --data digits:test --rows-out log_p.csv\n",
                  options->common, [options] {
                    try {
                      return evaluate(*options);
                    } catch (const Interrupted& stopped) {
                      fmt::print(stderr, "{}\n", stopped.what());
                      return 130;
                    }
                  });
  command->add_option("model", options->model, "run folder, .safetensors, or .npz with W, visible_bias, hidden_bias")
      ->required();
  command->add_option("--data", options->data.spec,
                      "data to judge by: NAME or PATH[:train|valid|test]; without it: log Z alone");
  command->add_flag("--snapshots", options->snapshots,
                    "judge every snapshot of the run and its final model; answers there already are kept");
  EstimationOptions& how = options->judge.estimation;
  how.chains = 0;  // where none are given
  command
      ->add_option(
          "--method", how.method,
          "exact; ais (vae, ladder, draw: of the decoder, row by row); particles, importance, bound (vrnn); ma-ais (moment-averaged path); raise (lower bound); "
          "sandwich (ais and raise); bihm (sbn: as a bidirectional Helmholtz machine); mean_field (sbn: a bound without "
          "noise, slow for large nets); auto: exact "
          "where a side has 25 units or less, else a sandwich with ever more β until --gap or --minutes; importance "
          "sampling for models with latent variables")
      ->capture_default_str();
  options->chains = command->add_option("--chains", how.chains,
                                        "ais: independent chains (usually 100; vae, ladder, draw: 8 for each row)");
  command
      ->add_option("--betas", how.betas,
                   "steps from the base model to this one (0: 10 000; auto starts with 1 000; vae, ladder, draw: 300)")
      ->capture_default_str();
  command
      ->add_option("--schedule", how.schedule, "steps: linear, adaptive (by a pilot run), or a FILE of β from 0 to 1")
      ->capture_default_str();
  command
      ->add_option(
          "--base", how.base,
          "where annealing starts: data (base rates; vae, ladder, draw: the encoder), uniform, prior (vae, ladder, draw), or a "
          "MODEL")
      ->capture_default_str();
  command->add_option("--sum-out", how.sum_out, "layers that annealing sums out: odd (hidden ones of an RBM), even")
      ->capture_default_str();
  command->add_option("--knots", how.knots, "ma-ais: machines fitted between base and model")->capture_default_str();
  command
      ->add_option("--rows,--raise-rows", how.raise_rows,
                   "rows of the data that are annealed, by raise, sandwich, and by ais of a vae or ladder")
      ->capture_default_str();
  command->add_option("--raise-chains", how.raise_chains, "raise, sandwich: chains for each row")
      ->capture_default_str();
  command
      ->add_option("--rows-by", how.rows_by,
                   "deep machines, hidden layers of each row: mean_field (a lower bound), ais (annealing with the data "
                   "held, from both sides), auto: ais if the machine was trained with --inference gibbs")
      ->capture_default_str();
  command->add_option("--row-chains", how.row_chains, "rows-by ais: chains for each row")->capture_default_str();
  command->add_option("--row-betas", how.row_betas, "rows-by ais: annealing steps")->capture_default_str();
  command->add_option("--importance", how.importance, "models with latent variables: importance samples of each row")
      ->capture_default_str();
  command->add_option("--orders", how.orders, "orderless_nade: orders of the ensemble (0: the model's own number)")
      ->capture_default_str();
  command->add_option("--rows-out", options->rows_out,
                      "also write the log-likelihood of each row to x.npy or x.csv, in the order of the data");
  command->add_option("--gap", how.gap, "nats by which lower and upper bound may differ and still agree")
      ->capture_default_str();
  command->add_option("--minutes", how.minutes, "auto: about how long it may take")->capture_default_str();
  command
      ->add_option(
          "--binarize", options->judge.data.binarize,
          "gray values: none, threshold, stochastic, dequantized (--dequantize), levels; auto: stochastic for gray "
          "data, dequantized or levels where the model was trained so")
      ->capture_default_str();
  declare_dequantize(*command, options->judge.data.binarize);
  command
      ->add_option("--draws", options->judge.data.draws,
                   "stochastic binarization, --dequantize: average over so many draws, with seeds SEED, SEED + 1, …")
      ->capture_default_str();
  command->add_option("--limit", options->data.limit, "use at most N rows (0: all)")->capture_default_str();
  declare_reading(*command, options->judge.data.reading);
  options->judge.allow_trained_rows = false;
  declare_allow_trained_rows(*command, options->judge.allow_trained_rows);
  command->add_option("--seed", how.seed, "seed of chains, of stochastic binarization and of noise")
      ->capture_default_str()
      ->check(not_negative());
}

}  // namespace harmonium::cli
