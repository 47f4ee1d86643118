#include "harmonium/cli/classifying.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "harmonium/cli/config_file.h"
#include "harmonium/cli/judge.h"
#include "harmonium/cli/progress.h"
#include "harmonium/cli/refresh_report.h"
#include "harmonium/cli/training_session.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/gradients/label_inference.h"
#include "harmonium/models/classification.h"
#include "harmonium/report/confusion.h"
#include "harmonium/training/files/model_file.h"
#include "harmonium/training/files/net_file.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t shown_mistakes = 40;

// Whatever tells classes apart.
struct Classifier {
  std::int64_t classes = 0;
  std::shared_ptr<const Unit> input;
  std::int64_t dimension = 0;                                      // parameters
  std::function<at::Tensor(const at::Tensor&)> log_probabilities;  // of rows, float64
  std::optional<ImageShape> image;
  std::map<std::string, std::string> notes;
};

Classifier net_classifier(const std::string& path) {
  const NetModel model = read_net(path);
  require(model.net.layers().back().activation == Activation::softmax,
          "{} is an {}, which knows no classes; `harmonium finetune` or `train --model mlp` make a classifier", path,
          model.kind);
  return {.classes = model.net.outputs(),
          .input = make_unit(
              format("{}:{}", model.net.input_form() == InputForm::shares ? "counts" : "gaussian", model.net.inputs())),
          .dimension = model.net.parameters().dimension(),
          .log_probabilities =
              [net = model.net](const at::Tensor& rows) { return net.logits(rows).to(at::kDouble).log_softmax(1); },
          .image = model.image,
          .notes = model.notes};
}

// A belief net with a label: up by means to the top machine, which tells classes apart by its free energies.
Classifier stack_classifier(const std::string& path) {
  const StackModel model = read_stack_model(path);
  const BeliefNet net = model.net();
  require(net.labelled(),
          "{} is a belief net without a label, so it knows no classes; train one with --model classification_dbn, or "
          "`harmonium finetune {}` it to a classifier",
          path, path);
  std::int64_t dimension = 0;
  for (const BoltzmannMachine& machine : net.up) dimension += machine.parameters().dimension();
  return {.classes = net.top().unit(net.top().observed()[1]).width(),
          .input = net.up.front().layers()[0].unit,
          .dimension = dimension,
          .log_probabilities = [net](const at::Tensor& rows) { return log_label_probabilities(net, rows); },
          .image = model.image,
          .notes = model.notes};
}

Classifier read_classifier(const std::string& path) {
  if (is_net_file(path)) return net_classifier(path);
  if (is_stack_file(path)) return stack_classifier(path);
  const Model model = read_model(path);
  try {
    const std::size_t label = label_layer(model.machine);
    return {.classes = model.machine.unit(label).width(),
            .input = model.machine.layers()[0].unit,
            .dimension = model.machine.parameters().dimension(),
            .log_probabilities =
                [machine = model.machine](const at::Tensor& rows) {
                  return infer_labels(machine, rows.to(machine.scalar_type()));
                },
            .image = model.image,
            .notes = model.notes};
  } catch (const Error& error) {
    fail("{}: {}", path, error.what());
  }
}

// Gray values as they are, means of binary ones, unless training knew thresholded ones only: what classification errors
// in training are measured with, and less noisy than a draw.
Binarization choose_protocol(const ClassifyOptions& options, const Classifier& model) {
  if (options.binarize != "auto") return parse_binarization(options.binarize);
  const auto trained = model.notes.find("binarization");
  return trained != model.notes.end() && trained->second == to_string(Binarization::threshold) ? Binarization::threshold
                                                                                               : Binarization::none;
}

// Without --data: the test part of what the model was trained on, read as training read it.
void choose_data(ClassifyOptions& options, const Classifier& model) {
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

// The data and what the model makes of them.
struct ClassifiedRows {
  Dataset data;  // as the model saw them
  ClassificationResult result;
};

ClassifiedRows classify_data(const ClassifyOptions& options, const Classifier& model) {
  const std::int64_t classes = model.classes;
  Dataset opened = open_dataset(options.data, {.limit = options.limit, .label_column = options.label_column});
  if (model.input->wants_own_state()) opened = as_counts(opened);
  require(opened.columns() == model.input->width(), "{} has {} columns, the model has {} visible units", options.data,
          opened.columns(), model.input->width());
  require(opened.rows() > 0, "{} has no rows", options.data);
  check_labels(opened, classes);
  const Binarization binarization = choose_protocol(options, model);
  ClassifiedRows done{.data = binarize(opened, binarization, options.seed), .result = {}};

  const std::int64_t rows = done.data.rows();
  at::Tensor log_p = at::empty({rows, classes}, at::kDouble);
  {
    constexpr std::int64_t rows_at_once = 500;
    constexpr double few_seconds = 3e10;  // products
    const double products = static_cast<double>(rows) * static_cast<double>(model.dimension);
    ProgressBar bar("classifying", options.common.json || products < few_seconds);
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
      if (interrupted()) throw RunFailure("interrupted; nothing was written");
      const std::int64_t end = std::min(first + rows_at_once, rows);
      const at::Tensor values = done.data.slice(first, end).to_float();
      const std::string complaint = model.input->complaint(values);
      require(complaint.empty(), "{}{}: {}", options.data, first == 0 ? "" : format(", counted from row {}", first),
              complaint);
      log_p.narrow(0, first, end - first).copy_(model.log_probabilities(values));
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
  else if (binarization == Binarization::none && !opened.is_binary() && model.input->spec().starts_with("bernoulli"))
    done.result.binarization = "none (gray values as they are)";
  else
    done.result.binarization = to_string(binarization);
  return done;
}

}  // namespace

Classified classify_model(ClassifyOptions options) {
  const Classifier model = read_classifier(options.model);
  choose_data(options, model);
  const ClassifiedRows rows = classify_data(options, model);
  Classified done{.result = rows.result, .confusion = confusion_picture(rows.result), .mistakes = {}};
  const bool mistaken = !done.result.mistakes.empty();
  if (mistaken) {
    std::vector<std::int64_t> chosen;
    for (const Mistake& each : done.result.mistakes) chosen.push_back(each.row);
    const ImageShape shape = model.image.value_or(near_square_shape(model.input->width()));
    done.mistakes = mistakes_picture(done.result, rows.data.gather(at::tensor(chosen, at::kLong)), shape);
  }
  if (is_run_folder(options.model)) {
    record_classification(options.model, done.result);
    if (mistaken)
      write_png(mistakes_file(options.model), done.mistakes);
    else
      fs::remove(mistakes_file(options.model));
    refresh_report_where_finished(options.model);
  }
  return done;
}

}  // namespace harmonium::cli
