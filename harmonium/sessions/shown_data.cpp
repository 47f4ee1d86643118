#include "harmonium/sessions/shown_data.h"

#include <algorithm>
#include <filesystem>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/test_data.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/run_folder.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/seen_rows.h"
#include "harmonium/sessions/training_session.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

// Numbers of the encoder's layers that a name means.
std::vector<std::size_t> chosen_layers(const Encoder& encoder, const std::string& name) {
  const std::vector<std::string> names = encoder.code_layers();
  if (name.empty()) return {names.size() - 1};
  std::vector<std::size_t> chosen;
  std::string known;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (name == "all" || name == names[i]) chosen.push_back(i);
    known += names[i] + ", ";
  }
  require(!chosen.empty(), "--layer {}: the model has no such layer; there are {}and all", name, known);
  return chosen;
}

}  // namespace

void choose_data(const std::string& path, const Model& model, std::string& data, Reading& reading) {
  std::string trained_on = model.info().note("data");
  if (const RunFolder folder(path); folder.is_run()) {
    RunConfig config;
    read_toml(folder.config(), config);
    trained_on = config.data;
    reading = reading_like(config, reading);
  }
  if (!data.empty()) return;
  require(!trained_on.empty(), "{} does not say what it was trained on; give --data", path);
  data = judging_data(trained_on);
  if (data != trained_on || is_named(trained_on)) return;
  const Dataset train = open_dataset(trained_on, {.reading = reading, .missing_values = true});
  data = part_beside(trained_on, train, "test").value_or(trained_on);
}

ShownData open_shown_data(ShownDataOptions& options) {
  std::unique_ptr<Model> model = open_for_use(options.model);
  if (model->encoder() == nullptr) cannot(*model, options.model, "has no hidden layer to encode by");
  return show_data_to(std::move(model), options);
}

ShownData show_data_to(std::unique_ptr<Model> opened, ShownDataOptions& options) {
  require(options.refine >= 0, "--refine {}: give a number of steps, 0 or more", options.refine);
  if (options.refine > 0) {
    std::unique_ptr<Model> refined = opened->refined_by(options.refine);
    if (!refined) cannot(*opened, options.model, "has no descriptions that --refine could improve (capsules have)");
    opened = std::move(refined);
  }
  ShownData shown{.model = std::move(opened), .data = {}};
  const Model& model = *shown.model;
  shown.counts = model.visible().support() == Unit::Support::counts;
  choose_data(options.model, model, options.data, options.reading);
  shown.data =
      open_dataset(options.data, {.limit = options.limit, .reading = reading_for(options.data, options.reading)});
  shown.data = as_shown_to(model.visible(), std::move(shown.data), options.reading);
  if (shown.counts) shown.data = as_counts(shown.data);
  require(shown.data.columns() == model.visible().width(), "{} has {} columns, the model takes {}", options.data,
          shown.data.columns(), model.visible().width());
  require(shown.data.rows() > 0, "{} has no rows", options.data);
  shown.seen = rows_trained_on(options.model, shown.data);
  if (shown.seen && !options.allow_trained_rows) require_unseen(*shown.seen, options.data);
  if (const std::string note = model.info().note("binarization"); !note.empty())
    shown.binarization = parse_binarization(note);
  return shown;
}

at::Tensor codes_of(const ShownData& shown, const Dataset& data, const std::string& layer) {
  const Encoder& encoder = *shown.model->encoder();
  const std::vector<std::size_t> layers = chosen_layers(encoder, layer);
  std::vector<at::Tensor> pieces;
  constexpr std::int64_t rows_at_once = 1000;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const at::Tensor rows =
        shown_values(data.slice(first, std::min(first + rows_at_once, data.rows())), shown.binarization);
    std::vector<at::Tensor> codes;
    for (const std::size_t each : layers) codes.push_back(encoder.encode(rows, each));
    pieces.push_back(at::cat(codes, 1));
  }
  return at::cat(pieces);
}

}  // namespace harmonium
