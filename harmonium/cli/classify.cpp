#include <fmt/core.h>

#include <filesystem>

#include "harmonium/cli/command.h"
#include "harmonium/cli/config_file.h"
#include "harmonium/cli/judge.h"
#include "harmonium/cli/progress.h"
#include "harmonium/cli/refresh_report.h"
#include "harmonium/cli/training_session.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/models/classification.h"
#include "harmonium/report/confusion.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t shown_mistakes = 40;

struct ClassifyOptions {
  CommonOptions common;
  std::string model, data, out, binarize = "auto", label_column = "none";
  std::int64_t limit = 0;
  bool means = false;
  std::uint64_t seed = 0;
};

// Without --data: the test part of what the model was trained on, read as training read it.
void choose_data(ClassifyOptions& options, const Model& model) {
  if (!options.data.empty()) return;
  std::string trained_on = model.notes.contains("data") ? model.notes.at("data") : "";
  if (is_run_folder(options.model)) {
    RunConfig config;
    read_toml(fs::path(options.model) / "config.toml", config);
    trained_on = config.data;
    if (options.label_column == "none") options.label_column = config.label_column;
  }
  require(!trained_on.empty(), "{} does not say what it was trained on; give the data to classify with --data",
          options.model);
  options.data = judging_data(trained_on);
}

void check_labels(const Dataset& data, std::int64_t classes) {
  require(data.labels.defined(),
          "{} has no labels, so there is nothing to compare with; give labelled data (for a text table: --label-column "
          "first or last)",
          data.name);
  const at::Tensor bad = data.labels.lt(0).logical_or(data.labels.ge(classes)).nonzero();
  if (bad.size(0) == 0) return;
  const auto row = bad[0][0].item<std::int64_t>();
  fail("{}: row {} has label {}, but the model knows the classes 0 … {}", data.name, row,
       data.labels[row].item<std::int64_t>(), classes - 1);
}

Binarization choose_protocol(const ClassifyOptions& options, const Dataset& data, const Unit& visible) {
  require(!options.means || options.binarize == "auto" || options.binarize == "none",
          "--means takes gray values as they are; it does not go with --binarize {}", options.binarize);
  if (options.means) return Binarization::none;
  if (options.binarize != "auto") return parse_binarization(options.binarize);
  const bool binary_units = visible.spec().starts_with("bernoulli");
  return binary_units && !data.is_binary() ? Binarization::stochastic : Binarization::none;
}

// The data and what the model makes of them.
struct Classified {
  Dataset data;  // as the model saw them
  ClassificationResult result;
};

Classified classify_data(const ClassifyOptions& options, const Model& model) {
  const BoltzmannMachine& machine = model.machine;
  const std::int64_t classes = machine.unit(label_layer(machine)).width();
  const Dataset opened = open_dataset(options.data, {.limit = options.limit, .label_column = options.label_column});
  require(opened.columns() == machine.unit(0).width(), "{} has {} columns, the model has {} visible units",
          options.data, opened.columns(), machine.unit(0).width());
  require(opened.rows() > 0, "{} has no rows", options.data);
  check_labels(opened, classes);
  const Binarization binarization = choose_protocol(options, opened, machine.unit(0));
  Classified done{.data = binarize(opened, binarization, options.seed), .result = {}};

  const std::int64_t rows = done.data.rows();
  at::Tensor log_p = at::empty({rows, classes}, at::kDouble);
  {
    constexpr std::int64_t rows_at_once = 500;
    ProgressBar bar("classifying", options.common.json);
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
      if (interrupted()) throw RunFailure("interrupted; nothing was written");
      const std::int64_t end = std::min(first + rows_at_once, rows);
      const at::Tensor values = done.data.slice(first, end).to_float().to(machine.scalar_type());
      const std::string complaint = machine.unit(0).complaint(values);
      require(complaint.empty(), "{}{}: {}", options.data, first == 0 ? "" : format(", counted from row {}", first),
              complaint);
      log_p.narrow(0, first, end - first).copy_(log_label_probabilities(machine, values));
      bar.show(end, rows, 0, "");
    }
  }
  done.result = classification_result(log_p, done.data.labels, shown_mistakes);
  done.result.model = options.model;
  if (const auto note = model.notes.find("updates"); note != model.notes.end())
    done.result.updates = std::atoll(note->second.c_str());
  done.result.data = options.data;
  if (binarization == Binarization::stochastic)
    done.result.binarization = format("stochastic (seed {})", options.seed);
  else if (binarization == Binarization::none && !opened.is_binary() && machine.unit(0).spec().starts_with("bernoulli"))
    done.result.binarization = "none (gray values as means)";
  else
    done.result.binarization = to_string(binarization);
  return done;
}

void write_out(const std::string& out, const Classified& done, const std::vector<Picture>& pictures) {
  if (out.ends_with(".png")) {
    write_png(out, stacked(pictures));
    return;
  }
  ReportContent content;
  content.title = format("Classification of {}", done.result.data);
  content.subtitle = done.result.model;
  add_classifications(content, {done.result}, "");
  if (pictures.size() > 1)
    content.galleries.push_back({.id = "mistakes",
                                 .title = "The surest mistakes",
                                 .caption = "Rows that the model is surest about and takes for another class (true > "
                                            "predicted).",
                                 .picture = pictures[1]});
  write_report(out, content);
}

int classify(ClassifyOptions options) {
  watch_interrupts();
  require(options.out.empty() || options.out.ends_with(".png") || options.out.ends_with(".html"),
          "--out {}: the name must end in .png or .html", options.out);
  const Model model = read_model(options.model);
  try {
    (void)label_layer(model.machine);
  } catch (const Error& error) {
    fail("{}: {}", options.model, error.what());
  }
  choose_data(options, model);
  const Classified done = classify_data(options, model);
  const ClassificationResult& result = done.result;

  std::vector<Picture> pictures = {confusion_picture(result)};
  if (!result.mistakes.empty()) {
    std::vector<std::int64_t> rows;
    for (const Mistake& each : result.mistakes) rows.push_back(each.row);
    const ImageShape shape = model.image.value_or(near_square_shape(model.machine.unit(0).width()));
    pictures.push_back(mistakes_picture(result, done.data.gather(at::tensor(rows, at::kLong)), shape));
  }
  const bool run_folder = is_run_folder(options.model);
  if (run_folder) {
    record_classification(options.model, result);
    if (pictures.size() > 1)
      write_png(mistakes_file(options.model), pictures[1]);
    else
      fs::remove(mistakes_file(options.model));
    refresh_report_where_finished(options.model);
  }
  if (!options.out.empty()) write_out(options.out, done, pictures);
  if (options.common.json) {
    print_json(to_json(result));
    return 0;
  }
  fmt::print("error     {}\n          {} of {} rows of {}, binarization {}\n", percent(result.error()), result.wrong,
             result.n, result.data, result.binarization);
  fmt::print("log p     {:.4f} nats, mean log probability of the true class\n\n{}", result.mean_log_probability,
             confusion_text(result));
  if (run_folder) fmt::print("\nreport    {}\n", (fs::path(options.model) / "report.html").string());
  if (!options.out.empty()) fmt::print("picture   {}\n", options.out);
  return 0;
}

}  // namespace

void add_classify(CLI::App& app) {
  auto options = std::make_shared<ClassifyOptions>();
  CLI::App* command =
      add_command(app, "classify", "Tell the classes of labelled data apart: error, interval and confusion matrix",
                  "  harmonium train --data digits --model classification_rbm --out runs/joint\n"
                  "  harmonium classify runs/joint\n"
                  "  harmonium classify runs/joint --data digits:valid --out mistakes.png\n"
                  "  harmonium classify runs/mnist --data mnist:test --means\n",
                  options->common, [options] { return classify(*options); });
  command->add_option("model", options->model, "run folder or .safetensors of a classification_rbm")->required();
  command->add_option("--data", options->data,
                      "labelled data: NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  command->add_option("--out", options->out, "also write x.png (confusion matrix and mistakes) or x.html");
  command
      ->add_option("--binarize", options->binarize,
                   "gray values: none, threshold, stochastic; auto: stochastic for gray data, as `evaluate` does")
      ->capture_default_str();
  command->add_flag("--means", options->means, "gray values as they are, as means of binary ones (--binarize none)");
  command->add_option("--limit", options->limit, "use only so many rows (0: all)")->capture_default_str();
  command->add_option("--label-column", options->label_column, "where a text table keeps its label: none, first, last")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "seed of stochastic binarization")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

}  // namespace harmonium::cli
