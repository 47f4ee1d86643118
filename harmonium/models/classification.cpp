#include "harmonium/models/classification.h"

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// Rows × classes × hidden units of a piece: a few megabytes of fields at a time.
constexpr std::int64_t class_piece_elements = 1 << 20;

// The label's weights to a layer, classes × width; undefined where no edge joins them.
at::Tensor label_weights(const BoltzmannMachine& machine, std::size_t label, std::size_t layer) {
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower == label && edge.upper == layer) return machine.parameters()[edge.weights];
    if (edge.upper == label && edge.lower == layer) return machine.parameters()[edge.weights].t();
  }
  return {};
}

}  // namespace

std::size_t label_layer(const BoltzmannMachine& machine) {
  const auto found = std::ranges::find(machine.layers(), "label", &Layer::name);
  require(found != machine.layers().end() && found->observed && found->unit->classes() > 0,
          "the model has no label layer, so it knows no classes; train one with @model classification_rbm, or "
          "@model dbm @labels top");
  const auto label = static_cast<std::size_t>(found - machine.layers().begin());
  for (const EdgeInfo& edge : machine.topology().edges) {
    const bool touches = edge.lower == label || edge.upper == label;
    require(!touches || !machine.layers()[edge.lower == label ? edge.upper : edge.lower].observed,
            "the label layer is joined to an observed layer ({}); it may be joined to hidden ones only", edge.weights);
  }
  return label;
}

void for_each_class(const BoltzmannMachine& machine, const State& state,
                    const std::function<void(const ClassesOfRows&)>& visit) {
  require(!machine.hidden_joined(),
          "the hidden layers are joined to each other, so that classes have no closed form; see infer_labels()");
  const std::size_t label = label_layer(machine);
  const std::int64_t classes = machine.unit(label).width(), all = state.rows();
  std::int64_t hidden_width = 1;
  for (const std::size_t layer : machine.hidden()) hidden_width += machine.unit(layer).width();
  const std::int64_t at_once = std::clamp<std::int64_t>(class_piece_elements / (classes * hidden_width), 1, all);
  for (std::int64_t first = 0; first < all; first += at_once) {
    const std::int64_t rows = std::min(at_once, all - first);
    State piece;
    for (const at::Tensor& layer : state.layers)
      piece.layers.push_back(layer.defined() ? layer.narrow(0, first, rows) : layer);
    piece.layers[label] = at::zeros({rows, classes}, machine.options());
    ClassesOfRows result{.first = first,
                         .rows = rows,
                         .classes = classes,
                         .fields = Fields(machine.layers().size()),
                         .log_probability = {}};
    at::Tensor score = machine.layer_parameters(label)[0].to(at::kDouble).unsqueeze(0).expand({rows, classes});
    for (const std::size_t layer : machine.hidden()) {
      const std::int64_t width = machine.unit(layer).width();
      at::Tensor field = machine.field(layer, piece).unsqueeze(1);
      if (const at::Tensor weights = label_weights(machine, label, layer); weights.defined())
        field = field + weights.unsqueeze(0);
      else
        field = field.expand({rows, classes, width});
      result.fields[layer] = field.reshape({rows * classes, width});
      score = score + machine.unit(layer)
                          .log_partition(result.fields[layer], machine.layer_parameters(layer))
                          .reshape({rows, classes});
    }
    result.log_probability = at::log_softmax(score, 1);
    visit(result);
  }
}

at::Tensor log_label_probabilities(const BoltzmannMachine& machine, const at::Tensor& visible) {
  const std::size_t label = label_layer(machine);
  const std::int64_t classes = machine.unit(label).width();
  const State state = machine.observe({visible, at::zeros({1, 1}).expand({visible.size(0), classes})});
  at::Tensor result = at::empty({visible.size(0), classes}, machine.options(at::kDouble));
  for_each_class(machine, state, [&](const ClassesOfRows& piece) {
    result.narrow(0, piece.first, piece.rows).copy_(piece.log_probability);
  });
  return result;
}

}  // namespace harmonium
