#include "harmonium/gradients/pseudo_likelihood.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/inference/data_moments.h"

namespace harmonium {

namespace {

// Rows × alternatives × hidden units of a piece: a few megabytes of fields at a time.
constexpr std::int64_t piece_elements = 1 << 21;

// Everything known about a hidden layer given some rows, or given their alternatives.
struct HiddenLayer {
  std::size_t layer;
  at::Tensor weights;  // observed layer's width × hidden width
  std::string weights_name;
  bool transposed;                     // the edge names the hidden layer first
  at::Tensor field, log_partition;     // rows × width; rows
  std::vector<at::Tensor> statistics;  // expected, rows × width each
};

// The sums over alternatives of one observed layer, a piece of rows at a time.
class LayerAlternatives {
 public:
  LayerAlternatives(const BoltzmannMachine& machine, std::size_t layer, const State& rows, double share)
      : machine_(machine),
        layer_(layer),
        rows_(rows),
        share_(share),
        x_(rows.layers[layer]),
        columns_(machine.unit(layer).digit().columns),
        parts_(machine.unit(layer).width() / columns_) {}

  // Adds the share of these rows to value and gradient.
  void add(const std::vector<HiddenLayer>& hidden, PseudoLikelihoodValue& total) const {
    const std::int64_t rows = x_.size(0);
    const bool binary = columns_ == 1;
    // The alternatives of a part: the other value of a binary unit, all values of a group. What they add to x:
    // binary: rows × parts × 1, at the unit itself; group: rows × parts × values × columns, within the part.
    const at::Tensor grouped = x_.reshape({rows, parts_, columns_});
    // What the layer's own units ask of each other: the bias and, along an edge inside, the other units.
    const at::Tensor asked = machine_.layer_parameters(layer_)[0].expand({rows, parts_ * columns_}) + inner_input();
    const std::int64_t alternatives = binary ? parts_ : parts_ * columns_;
    const at::Tensor flip = 1 - 2 * x_;
    const at::Tensor by_group = asked.reshape({rows, parts_, columns_});
    at::Tensor change = binary ? flip * asked : by_group - (grouped * by_group).sum(2, true);
    change = change.reshape({rows, alternatives}).to(at::kDouble);
    std::vector<std::vector<at::Tensor>> moved(hidden.size());  // expected statistics of every alternative
    for (std::size_t h = 0; h < hidden.size(); ++h) {
      const HiddenLayer& one = hidden[h];
      const std::int64_t width = one.field.size(1);
      at::Tensor field;
      if (binary) {
        field = one.field.unsqueeze(1) + flip.unsqueeze(2) * one.weights.unsqueeze(0);
      } else {
        const at::Tensor by_part = one.weights.reshape({1, parts_, columns_, width});
        const at::Tensor now = (grouped.unsqueeze(3) * by_part).sum(2, true);
        field = one.field.reshape({rows, 1, 1, width}) + by_part - now;
      }
      field = field.reshape({rows * alternatives, width});
      const Unit& unit = machine_.unit(one.layer);
      const Unit::Parameters own = machine_.layer_parameters(one.layer);
      change += unit.log_partition(field, own).reshape({rows, alternatives}) - one.log_partition.unsqueeze(1);
      moved[h] = unit.expected_statistics(field, own);
      for (at::Tensor& each : moved[h]) each = each.reshape({rows, alternatives, width});
    }
    // p(alternative | rest), and log p of the value that is there.
    at::Tensor p;
    if (binary) {
      p = at::sigmoid(change);
      total.value += share_ * at::log_sigmoid(-change).sum().item<double>();
    } else {
      const at::Tensor log_p = at::log_softmax(change.reshape({rows, parts_, columns_}), 2);
      p = log_p.exp().reshape({rows, alternatives});
      total.value += share_ * (log_p * grouped).sum().item<double>();
    }
    p = p.to(x_.scalar_type());
    add_observed(binary ? -(p * flip) : x_ - p, total);
    for (std::size_t h = 0; h < hidden.size(); ++h) add_hidden(hidden[h], moved[h], p, flip, grouped, total);
  }

 private:
  [[nodiscard]] at::Tensor inner_input() const {
    return machine_.inner_edge(layer_) == nullptr ? at::zeros_like(x_) : x_.mm(machine_.couplings(layer_));
  }

  // `difference`: x − E[x of the alternatives].
  void add_observed(const at::Tensor& difference, PseudoLikelihoodValue& total) const {
    total.gradient[machine_.topology().layers[layer_].parameters.front()].add_(difference.sum(0), share_);
    if (const EdgeInfo* edge = machine_.inner_edge(layer_)) {
      const at::Tensor product = difference.t().mm(x_);
      total.gradient[edge->weights].add_(edge->masked(product + product.t()), share_);
    }
  }

  void add_hidden(const HiddenLayer& one, const std::vector<at::Tensor>& moved, const at::Tensor& p,
                  const at::Tensor& flip, const at::Tensor& grouped, PseudoLikelihoodValue& total) const {
    const std::int64_t rows = x_.size(0), width = one.field.size(1);
    const at::Tensor weight = p.unsqueeze(1);  // rows × 1 × alternatives
    at::Tensor drop;                           // Σ_a p_a (mean − mean of the alternative), rows × width
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const at::Tensor difference = one.statistics[i] * p.sum(1, true) - weight.bmm(moved[i]).squeeze(1);
      if (i == 0) drop = difference;
      total.gradient[machine_.topology().layers[one.layer].parameters[i]].add_(difference.sum(0), share_);
    }
    // Edges of this hidden layer: x·(mean − mean of the alternative) for every observed neighbour …
    for (const EdgeInfo& edge : machine_.topology().edges) {
      if (edge.inner() || (edge.lower != one.layer && edge.upper != one.layer)) continue;
      const std::size_t neighbour = edge.lower == one.layer ? edge.upper : edge.lower;
      const at::Tensor product = rows_.layers[neighbour].t().mm(drop);
      total.gradient[edge.weights].add_(edge.lower == one.layer ? product.t() : product, share_);
    }
    // … and, in the layer that is changed, the change itself times the mean of the alternative.
    const at::Tensor& means = moved[0];
    at::Tensor own;
    if (columns_ == 1) {
      own = (means * (p * flip).unsqueeze(2)).sum(0);
    } else {
      const at::Tensor weighted = (means * p.unsqueeze(2)).reshape({rows, parts_, columns_, width});
      own = (weighted - grouped.unsqueeze(3) * weighted.sum(2, true)).sum(0).reshape({parts_ * columns_, width});
    }
    total.gradient[one.weights_name].sub_(one.transposed ? own.t() : own, share_);
  }

  const BoltzmannMachine& machine_;
  std::size_t layer_;
  const State& rows_;
  double share_;
  at::Tensor x_;
  std::int64_t columns_, parts_;
};

std::vector<HiddenLayer> hidden_neighbours(const BoltzmannMachine& machine, std::size_t layer, const State& rows) {
  std::vector<HiddenLayer> result;
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.inner() || (edge.lower != layer && edge.upper != layer)) continue;
    const bool transposed = edge.upper == layer;
    HiddenLayer one{.layer = transposed ? edge.lower : edge.upper,
                    .weights = machine.parameters()[edge.weights],
                    .weights_name = edge.weights,
                    .transposed = transposed,
                    .field = {},
                    .log_partition = {},
                    .statistics = {}};
    if (transposed) one.weights = one.weights.t();
    const Unit::Parameters theta = machine.layer_parameters(one.layer);
    one.field = machine.field(one.layer, rows);
    one.log_partition = machine.unit(one.layer).log_partition(one.field, theta);
    one.statistics = machine.unit(one.layer).expected_statistics(one.field, theta);
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace

std::string PseudoLikelihood::complaint(const BoltzmannMachine& machine) const {
  if (const std::string joined = complaint_about_joined_layers(machine); !joined.empty()) return joined;
  for (const EdgeInfo& edge : machine.topology().edges) {
    const bool lower = machine.layers()[edge.lower].observed, upper = machine.layers()[edge.upper].observed;
    if (edge.inner() ? !lower : lower == upper)
      return format(
          "needs every edge inside an observed layer or between an observed and a hidden one, which {} is not",
          edge.weights);
  }
  for (const std::size_t layer : machine.observed())
    if (const Unit::Support support = machine.unit(layer).support();
        support != Unit::Support::bits && support != Unit::Support::one_hot)
      return format(
          "changes one unit at a time to each of its values, which is made for binary and softmax units, and "
          "layer '{}' is {}: it cannot be enumerated unit by unit",
          machine.layers()[layer].name, machine.unit(layer).spec());
  return complaint_about_imitations(machine);
}

PseudoLikelihoodValue pseudo_likelihood(const BoltzmannMachine& machine, const State& data) {
  const std::string complaint = PseudoLikelihood().complaint(machine);
  require(complaint.empty(), "pseudo-likelihood {}", complaint);
  PseudoLikelihoodValue total{.value = 0, .gradient = machine.parameters().zeros_like()};
  const std::int64_t all = data.rows();
  for (const std::size_t layer : machine.observed()) {
    std::int64_t hidden_width = 1;
    for (const std::size_t hidden : machine.hidden())
      hidden_width = std::max(hidden_width, machine.unit(hidden).width());
    const std::int64_t at_once =
        std::clamp<std::int64_t>(piece_elements / (machine.unit(layer).width() * hidden_width), 1, all);
    for (std::int64_t first = 0; first < all; first += at_once) {
      State rows = data;
      for (at::Tensor& values : rows.layers)
        if (values.defined()) values = values.narrow(0, first, std::min(at_once, all - first));
      LayerAlternatives(machine, layer, rows, 1.0 / static_cast<double>(all))
          .add(hidden_neighbours(machine, layer, rows), total);
    }
  }
  return total;
}

Moments PseudoLikelihood::model_moments(const BoltzmannMachine& machine, const State& data, const Key&) {
  return data_moments(machine, data) - pseudo_likelihood(machine, data).gradient;
}

}  // namespace harmonium
