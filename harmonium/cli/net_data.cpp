#include "harmonium/cli/net_data.h"

#include <filesystem>

#include "harmonium/cli/config_file.h"
#include "harmonium/cli/judge.h"
#include "harmonium/cli/training_session.h"
#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/training/files/model_file.h"
#include "harmonium/training/files/net_run.h"
#include "harmonium/training/net_error.h"

namespace harmonium::cli {

void declare_net_data(CLI::App& command, NetDataOptions& options) {
  command
      .add_option("model", options.model, "run folder or file of a net, or of a model that can be unrolled into one")
      ->required();
  command.add_option("--data", options.data,
                     "NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  command.add_option("--limit", options.limit, "use only so many rows (0: all)")->capture_default_str();
  command.add_option("--label-column", options.label_column, "where a text table keeps its label: none, first, last")
      ->capture_default_str();
}

NetAndData open_net_and_data(NetDataOptions& options) {
  const auto open = [&]() -> NetModel {
    if (is_net_file(options.model)) return read_net(options.model);
    if (is_stack_file(options.model)) {
      const StackModel source = read_stack_model(options.model);
      return {
          .net = unroll_autoencoder(source.net()), .kind = source.kind, .image = source.image, .notes = source.notes};
    }
    const Model source = read_model(options.model);
    return {.net = unroll_autoencoder(read_stack(options.model)),
            .kind = source.kind,
            .image = source.image,
            .notes = source.notes};
  };
  NetAndData found{.model = open(), .data = {}};
  const FeedForward& net = found.model.net;
  // An unrolled machine gives word counts back by a softmax.
  found.counts = net.input_form() == InputForm::shares ||
                 (net.outputs() == net.inputs() && net.layers().back().activation == Activation::softmax);
  if (options.data.empty()) {
    std::string trained_on = found.model.notes.contains("data") ? found.model.notes.at("data") : "";
    if (is_run_folder(options.model)) {
      RunConfig config;
      read_toml(std::filesystem::path(options.model) / "config.toml", config);
      trained_on = config.data;
      if (options.label_column == "none") options.label_column = config.label_column;
    }
    require(!trained_on.empty(), "{} does not say what it was trained on; give --data", options.model);
    options.data = judging_data(trained_on);
  }
  found.data = open_dataset(options.data, {.limit = options.limit, .label_column = options.label_column});
  if (found.counts) found.data = as_counts(found.data);
  require(found.data.columns() == found.model.net.inputs(), "{} has {} columns, the model takes {}", options.data,
          found.data.columns(), found.model.net.inputs());
  require(found.data.rows() > 0, "{} has no rows", options.data);
  if (const auto note = found.model.notes.find("binarization"); note != found.model.notes.end())
    found.binarization = parse_binarization(note->second);
  return found;
}

at::Tensor codes_of(const NetAndData& found, const Dataset& data) {
  std::vector<at::Tensor> pieces;
  constexpr std::int64_t rows_at_once = 1000;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once)
    pieces.push_back(found.model.net.encode(
        shown_values(data.slice(first, std::min(first + rows_at_once, data.rows())), found.binarization)));
  return at::cat(pieces);
}

}  // namespace harmonium::cli
