#include "harmonium/families/net_model.h"

#include <algorithm>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

// Weights of the first `inputs` inputs: those of the row itself.
Exhibit first_layer(const FeedForward& net, std::int64_t inputs) {
  constexpr std::int64_t most = 96;
  const at::Tensor columns = net.weights(0).narrow(0, 0, inputs).t();
  const at::Tensor order =
      columns.norm(2, 1).argsort(0, /*descending=*/true).narrow(0, 0, std::min(most, columns.size(0)));
  return {.id = "filters",
          .title = "Filters",
          .caption = format("Weights of {} of {} units of the first layer, largest first. Red adds, blue takes away; "
                            "each on its own scale.",
                            order.size(0), columns.size(0)),
          .rows = columns.index_select(0, order),
          .weights = true,
          .columns = 12};
}

}  // namespace

NetModel::NetModel(TrainedNet trained)
    : Model({.family = trained.kind, .image = trained.image, .notes = trained.notes}),
      trained_(std::move(trained)),
      visible_(make_unit(format("{}:{}", of_words() ? "counts" : "gaussian", trained_.columns()))) {}

std::string NetModel::title() const {
  if (!classifies()) return of_words() ? "Autoencoder of word counts" : "Autoencoder";
  return trained_.net.layers().size() == 1 ? "Logistic regression" : "Feed-forward classifier";
}

std::string NetModel::subtitle() const {
  const FeedForward& net = trained_.net;
  std::string words = std::to_string(trained_.columns());
  if (trained_.posterior) words += format(" and {} of its posterior", net.inputs() - trained_.columns());
  for (std::size_t i = 0; i < net.layers().size(); ++i)
    words += format(" – {} {}{}", net.layers()[i].outputs, to_string(net.layers()[i].activation),
                    net.code() == i ? " (code)" : "");
  return words + (info_.note("start").empty() ? "" : "; " + info_.note("start"));
}

std::vector<Model::LayerText> NetModel::layers() const {
  const FeedForward& net = trained_.net;
  std::vector<LayerText> texts = {{.name = "input", .unit = std::to_string(trained_.columns()), .observed = true}};
  for (std::size_t i = 0; i < net.layers().size(); ++i)
    texts.push_back({.name = format("layer{}{}", i + 1, net.code() == i ? " (code)" : ""),
                     .unit = format("{}:{}", to_string(net.layers()[i].activation), net.layers()[i].outputs)});
  return texts;
}

at::Tensor NetModel::log_probabilities(const at::Tensor& rows) const {
  return trained_.net.logits(trained_.input(rows)).to(at::kDouble).log_softmax(1);
}

std::vector<std::string> NetModel::code_layers() const {
  const FeedForward& net = trained_.net;
  const std::size_t count = net.code() ? *net.code() + 1 : net.layers().size() - 1;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(format("layer{}", i + 1));
  return names;
}

at::Tensor NetModel::encode(const at::Tensor& rows, std::size_t layer) const {
  if (layer + 1 == code_layers().size()) return trained_.net.encode(trained_.input(rows));
  return trained_.net.activations(trained_.input(rows)).at(layer);
}

std::vector<Exhibit> NetModel::exhibits(const ExhibitInput& input) const {
  const FeedForward& net = trained_.net;
  if (net.inputs() < 4 || of_words()) return {};
  std::vector<Exhibit> all;
  const Dataset& train = input.train;
  if (net.code() && train.rows() > 0 && train.columns() == net.inputs()) {
    constexpr std::int64_t most = 60, across = 20;
    const std::int64_t shown = std::min(most, train.rows()), columns = std::min(across, shown);
    const Dataset chosen = train.select(permutation(Key(3), train.rows()).narrow(0, 0, shown));
    const at::Tensor values = shown_values(chosen, parse_binarization(info_.note("binarization")));
    const at::Tensor rebuilt = net.forward(values);
    std::vector<at::Tensor> strips;  // a line of rows, below it what became of them
    for (std::int64_t first = 0; first + columns <= shown; first += columns) {
      strips.push_back(values.narrow(0, first, columns));
      strips.push_back(rebuilt.narrow(0, first, columns));
    }
    all.push_back(
        {.id = "reconstructions",
         .title = "Reconstructions",
         .caption = format("Rows of {}, which the net was trained on; below each its reconstruction from the code "
                           "of {} numbers.",
                           train.name, net.layers()[*net.code()].outputs),
         .rows = at::cat(strips),
         .columns = columns});
  }
  all.push_back(first_layer(net, trained_.columns()));
  return all;
}

std::string NetModel::remark() const {
  return "Errors of validation data by which a model was chosen are optimistic; those of test data are not.";
}

std::string NetModel::encode_file() const {
  TrainedNet file = trained_;
  file.kind = info_.family;
  file.image = info_.image;
  file.notes = info_.notes;
  return encode_net(file);
}

}  // namespace harmonium
