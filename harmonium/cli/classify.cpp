#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/reading_flags.h"
#include "harmonium/cli/shown_data_flags.h"
#include "harmonium/core/error.h"
#include "harmonium/report/confusion.h"
#include "harmonium/sessions/classifying.h"
#include "harmonium/sessions/clustering.h"
#include "harmonium/sessions/open_for_use.h"

namespace harmonium::cli {

namespace {

struct ClassifyCommand {
  ClassifyOptions options;
  std::string out;
  std::int64_t labels = 0;  // to ask for; 0: the model knows classes itself
  std::int64_t refine = 0;
  std::string ask;
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

void write_out(const std::string& out, const LabelledByFew& found) {
  std::vector<Picture> pictures = {found.questions};
  if (found.mistakes.height > 0) pictures.push_back(found.mistakes);
  const Picture confusion = confusion_picture(found.result);
  if (out.ends_with(".png")) {
    pictures.push_back(confusion);
    write_png(out, stacked(pictures));
    return;
  }
  ReportContent content;
  content.title = format("Classification of {} by {} labels", found.result.data, found.asked.size());
  content.subtitle = found.result.model;
  content.headline.emplace_back("error", percent(found.result.error()));
  content.galleries.push_back({.id = "asked",
                               .title = "Labels asked for",
                               .caption = format("The row of {} that is most surely in each {} ({} > label).",
                                                 found.asked_from, found.group_name, found.group_name),
                               .picture = found.questions});
  content.galleries.push_back({.id = "confusion",
                               .title = "Confusion matrix",
                               .caption = "Rows: the true class; columns: the label of the cluster.",
                               .picture = confusion});
  if (found.mistakes.height > 0)
    content.galleries.push_back({.id = "mistakes",
                                 .title = "The surest mistakes",
                                 .caption = "Rows most surely in a cluster with another label (true > predicted).",
                                 .picture = found.mistakes});
  write_report(out, content);
}

int classify_by_few(const ClassifyCommand& command) {
  const ClassifyOptions& options = command.options;
  require(options.binarize == "auto", "--binarize does not go with --labels: rows are shown as in training");
  const LabelledByFew found = label_by_few({.shown = {.common = options.common,
                                                      .model = options.model,
                                                      .data = options.data,
                                                      .reading = options.reading,
                                                      .allow_trained_rows = options.allow_trained_rows,
                                                      .limit = options.limit,
                                                      .refine = command.refine},
                                            .labels = command.labels,
                                            .ask = command.ask});
  if (!command.out.empty()) write_out(command.out, found);
  if (options.common.json) {
    print_json(to_json(found));
    return 0;
  }
  const ClassificationResult& result = found.result;
  fmt::print("labels    {} asked of {}, for {} {}s\n", found.asked.size(), found.asked_from, found.groups,
             found.group_name);
  for (std::size_t i = 0; i < found.asked.size(); ++i)
    fmt::print("          {} {}: row {} is a {} (margin {:.3g})\n", found.group_name, found.asked[i].group,
               found.asked[i].row, found.answers[i], found.asked[i].margin);
  fmt::print("error     {}\n          {} of {} rows of {}\n", percent(result.error()), result.wrong, result.n,
             result.data);
  if (!result.trained_rows_note.empty()) fmt::print("          {}\n", result.trained_rows_note);
  fmt::print("          {} with the most frequent label of every {} (uses all labels, for comparison only)\n\n{}",
             percent(found.by_majority), found.group_name, confusion_text(result));
  if (!result.unfinished.empty()) fmt::print("\nunfinished  {}: the run has not ended\n", result.unfinished);
  if (!command.out.empty()) fmt::print("picture   {}\n", command.out);
  return 0;
}

int classify(const ClassifyCommand& command) {
  const ClassifyOptions& options = command.options;
  require(command.out.empty() || command.out.ends_with(".png") || command.out.ends_with(".html"),
          "--out {}: the name must end in .png or .html", command.out);
  require(command.labels > 0 || command.ask.empty(), "--ask goes with --labels: data whose labels are asked for");
  require(command.labels > 0 || command.refine == 0,
          "--refine goes with --labels: it improves descriptions of capsules");
  watch_interrupts();
  if (command.labels > 0) return classify_by_few(command);
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
      "  harmonium classify runs/mnist --data mnist:test --binarize stochastic --seed 3\n"
      "  harmonium classify runs/capsules --labels 25 --data digits:test   # learnt without labels: asks for 25\n",
      options->common, [all] { return classify(*all); });
  command
      ->add_option(
          "model", options->model,
          "run folder or .safetensors of a classification_rbm, classification_dbn or mlp, or of a dbm with labels; "
          "with --labels: of capsules, mixture or factor_analyzers")
      ->required();
  command->add_option("--data", options->data,
                      "labelled data: NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  command->add_option("--out", all->out, "also write x.png (confusion matrix and mistakes) or x.html");
  command
      ->add_option("--labels", all->labels,
                   "ask for so many labels of training rows, first the surest row of each cluster that the model found "
                   "without labels; every row has the label of its cluster (`train --labels` is another thing)")
      ->check(positive());
  command->add_option("--ask", all->ask,
                      "--labels: labelled data to ask from (default: what the model was trained on)");
  declare_refine(*command, all->refine);
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
