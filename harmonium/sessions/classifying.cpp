#include "harmonium/sessions/classifying.h"

#include <filesystem>
#include <memory>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/test_data.h"
#include "harmonium/report/confusion.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/refresh_report.h"
#include "harmonium/sessions/seen_rows.h"
#include "harmonium/sessions/shown_data.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t shown_mistakes = 40;

// Gray values as they are, means of binary ones, unless training knew thresholded ones only: what classification errors
// in training are measured with, and less noisy than a draw.
Binarization choose_protocol(const ClassifyOptions& options, const Model& model) {
  if (options.binarize != "auto") return parse_binarization(options.binarize);
  const bool thresholded = model.info().note("binarization") == to_string(Binarization::threshold);
  return thresholded ? Binarization::threshold : Binarization::none;
}

void check_labels(const Dataset& data, std::int64_t classes) {
  require(data.labels.defined(),
          "{} has no labels, so there is nothing to compare with; give labelled data (in a column: --label-column "
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

ClassifiedRows classify_data(const ClassifyOptions& options, const Model& model) {
  const Classifier& classifier = *model.classifier();
  const Unit& visible = model.visible();
  const std::int64_t classes = classifier.classes();
  Dataset opened =
      open_dataset(options.data, {.limit = options.limit, .reading = reading_for(options.data, options.reading)});
  opened = as_shown_to(visible, std::move(opened), options.reading);
  if (visible.wants_own_state()) opened = as_counts(opened);
  require(opened.columns() == visible.width(), "{} has {} columns, the model has {} visible units", options.data,
          opened.columns(), visible.width());
  require(opened.rows() > 0, "{} has no rows", options.data);
  check_labels(opened, classes);
  const std::optional<RowsSeen> seen = rows_trained_on(options.model, opened);
  if (seen && !options.allow_trained_rows) require_unseen(*seen, options.data);
  const Binarization binarization = choose_protocol(options, model);
  ClassifiedRows done{.data = binarize(opened, binarization, options.seed), .result = {}};

  const std::int64_t rows = done.data.rows();
  at::Tensor log_p = at::empty({rows, classes}, at::kDouble);
  {
    constexpr std::int64_t rows_at_once = 500;
    constexpr double few_seconds = 3e10;  // products
    const double products = static_cast<double>(rows) * static_cast<double>(model.parameters().dimension());
    ProgressBar bar("classifying", options.common.json || products < few_seconds);
    for (std::int64_t first = 0; first < rows; first += rows_at_once) {
      if (interrupted()) throw RunFailure("interrupted; nothing was written");
      const std::int64_t end = std::min(first + rows_at_once, rows);
      const at::Tensor values = done.data.slice(first, end).to_float();
      const std::string complaint = visible.complaint(values);
      require(complaint.empty(), "{}{}: {}", options.data, first == 0 ? "" : format(", counted from row {}", first),
              complaint);
      log_p.narrow(0, first, end - first).copy_(classifier.log_probabilities(values));
      bar.show(end, rows, 0, "");
    }
  }
  done.result = classification_result(log_p, done.data.labels, shown_mistakes);
  done.result.model = options.model;
  done.result.updates = model.info().updates();
  done.result.unfinished = model.info().note("unfinished");
  done.result.data = options.data;
  if (seen) done.result.trained_rows = seen->seen;
  done.result.trained_rows_note = seen ? in_words(*seen) : "";
  if (binarization == Binarization::stochastic)
    done.result.binarization = format("stochastic (seed {})", options.seed);
  else if (binarization == Binarization::none && !opened.is_binary() && visible.support() == Unit::Support::bits)
    done.result.binarization = "none (gray values as they are)";
  else
    done.result.binarization = to_string(binarization);
  return done;
}

}  // namespace

Classified classify_model(ClassifyOptions options) {
  const std::unique_ptr<Model> model = open_for_use(options.model);
  if (model->classifier() == nullptr)
    cannot(*model, options.model,
           model->clusters() != nullptr
               ? "knows no labels or classes, but clusters; --labels 25 asks the labels of so many training rows"
               : "knows no labels or classes; train --model classification_rbm, classification_dbn or mlp");
  choose_data(options.model, *model, options.data, options.reading);
  const ClassifiedRows rows = classify_data(options, *model);
  Classified done{.result = rows.result, .confusion = confusion_picture(rows.result), .mistakes = {}};
  if (!done.result.mistakes.empty()) {
    std::vector<std::int64_t> chosen;
    for (const Mistake& each : done.result.mistakes) chosen.push_back(each.row);
    const ImageShape shape = model->info().image.value_or(near_square_shape(model->visible().width()));
    done.mistakes = mistakes_picture(done.result, rows.data.gather(at::tensor(chosen, at::kLong)), shape);
  }
  return done;
}

void record(const Classified& done, const RunFolder& folder) {
  if (!folder.is_run()) return;
  record_classification(folder.path(), done.result);
  if (done.result.mistakes.empty())
    fs::remove(folder.mistakes());
  else
    write_png(folder.mistakes(), done.mistakes);
  refresh_report(folder);
}

}  // namespace harmonium
