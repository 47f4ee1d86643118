#include "harmonium/sessions/shown_data.h"

#include <algorithm>
#include <filesystem>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/run_folder.h"
#include "harmonium/sessions/open_for_use.h"
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

void choose_data(const std::string& path, const Model& model, std::string& data, std::string& label_column) {
  if (!data.empty()) return;
  std::string trained_on = model.info().note("data");
  if (const RunFolder folder(path); folder.is_run()) {
    RunConfig config;
    read_toml(folder.config(), config);
    trained_on = config.data;
    if (label_column == "none") label_column = config.label_column;
  }
  require(!trained_on.empty(), "{} does not say what it was trained on; give --data", path);
  data = judging_data(trained_on);
}

ShownData open_shown_data(ShownDataOptions& options) {
  ShownData shown{.model = open_for_use(options.model), .data = {}};
  const Model& model = *shown.model;
  if (model.encoder() == nullptr) cannot(model, options.model, "has no hidden layer to encode by");
  shown.counts = model.visible().support() == Unit::Support::counts;
  choose_data(options.model, model, options.data, options.label_column);
  shown.data = open_dataset(options.data, {.limit = options.limit, .label_column = options.label_column});
  if (shown.counts) shown.data = as_counts(shown.data);
  require(shown.data.columns() == model.visible().width(), "{} has {} columns, the model takes {}", options.data,
          shown.data.columns(), model.visible().width());
  require(shown.data.rows() > 0, "{} has no rows", options.data);
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
