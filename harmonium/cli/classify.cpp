#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/reading_flags.h"
#include "harmonium/core/error.h"
#include "harmonium/report/confusion.h"
#include "harmonium/sessions/classifying.h"
#include "harmonium/sessions/open_for_use.h"

namespace harmonium::cli {

namespace {

struct ClassifyCommand {
  ClassifyOptions options;
  std::string out;
};

void write_out(const std::string& out, const Classified& done) {
  std::vector<Picture> pictures = {done.confusion};
  if (done.mistakes.height > 0) pictures.push_back(done.mistakes);
  if (out.ends_with(".png")) {
    write_png(out, stacked(pictures));
    return;
  }
  ReportContent content;
  content.title = format("Classification of {}", done.result.data);
  content.subtitle = done.result.model;
  add_classifications(content, {done.result}, done.mistakes);
  write_report(out, content);
}

int classify(const ClassifyCommand& command) {
  const ClassifyOptions& options = command.options;
  require(command.out.empty() || command.out.ends_with(".png") || command.out.ends_with(".html"),
          "--out {}: the name must end in .png or .html", command.out);
  watch_interrupts();
  const Classified done = classify_model(options);
  if (!command.out.empty()) write_out(command.out, done);
  const ClassificationResult& result = done.result;
  const RunFolder folder(options.model);
  const auto exit_code = [&] { return record_or_say([&] { record(done, folder); }); };
  if (options.common.json) {
    print_json(to_json(result));
    return exit_code();
  }
  fmt::print("error     {}\n          {} of {} rows of {}, binarization {}\n", percent(result.error()), result.wrong,
             result.n, result.data, result.binarization);
  if (!result.trained_rows_note.empty()) fmt::print("          {}\n", result.trained_rows_note);
  fmt::print("log p     {:.4f} nats, mean log probability of the true class\n\n{}", result.mean_log_probability,
             confusion_text(result));
  if (!result.unfinished.empty()) fmt::print("\nunfinished  {}: the run has not ended\n", result.unfinished);
  const int code = exit_code();
  if (folder.is_run() && code == 0) fmt::print("\nreport    {}\n", folder.report().string());
  if (!command.out.empty()) fmt::print("picture   {}\n", command.out);
  return code;
}

}  // namespace

void add_classify(CLI::App& app) {
  auto all = std::make_shared<ClassifyCommand>();
  ClassifyOptions* const options = &all->options;
  CLI::App* command = add_command(
      app, "classify", "Tell the classes of labelled data apart: error, interval and confusion matrix",
      "  harmonium train --data digits --model classification_rbm --out runs/joint\n"
      "  harmonium classify runs/joint\n"
      "  harmonium classify runs/joint --data digits:valid --out mistakes.png\n"
      "  harmonium classify runs/mlp                                  # a net: train --model mlp, finetune\n"
      "  harmonium classify runs/mnist --data mnist:test --binarize stochastic --seed 3\n",
      options->common, [all] { return classify(*all); });
  command
      ->add_option(
          "model", options->model,
          "run folder or .safetensors of a classification_rbm, classification_dbn or mlp, or of a dbm with labels")
      ->required();
  command->add_option("--data", options->data,
                      "labelled data: NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  command->add_option("--out", all->out, "also write x.png (confusion matrix and mistakes) or x.html");
  command
      ->add_option(
          "--binarize", options->binarize,
          "gray values: none (as they are), threshold, stochastic; auto: none, or threshold where training did")
      ->capture_default_str();
  command->add_option("--limit", options->limit, "use only so many rows (0: all)")->capture_default_str();
  declare_reading(*command, options->reading);
  options->allow_trained_rows = false;
  declare_allow_trained_rows(*command, options->allow_trained_rows);
  command->add_option("--seed", options->seed, "seed of stochastic binarization")
      ->capture_default_str()
      ->check(not_negative());
}

}  // namespace harmonium::cli
