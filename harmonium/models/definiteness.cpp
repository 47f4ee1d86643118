#include "harmonium/models/definiteness.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

at::Tensor growth_of(const BoltzmannMachine& machine, std::size_t layer) {
  return machine.unit(layer).growth(machine.layer_parameters(layer));
}

bool bounded(const BoltzmannMachine& machine, std::size_t layer) {
  return machine.unit(layer).state_count().has_value();
}

// Edges whose weights can make Z infinite, or chains run far: both layers grow, and not both have bounded values.
std::vector<const EdgeInfo*> growing_edges(const BoltzmannMachine& machine) {
  std::vector<const EdgeInfo*> result;
  for (const EdgeInfo& edge : machine.topology().edges)
    if (!edge.inner() && !(bounded(machine, edge.lower) && bounded(machine, edge.upper)) &&
        growth_of(machine, edge.lower).defined() && growth_of(machine, edge.upper).defined() &&
        growth_of(machine, edge.lower).isfinite().all().item<bool>() &&
        growth_of(machine, edge.upper).isfinite().all().item<bool>())
      result.push_back(&edge);
  return result;
}

// Those among them whose two layers both have values without bounds.
std::vector<const EdgeInfo*> unbounded_edges(const BoltzmannMachine& machine) {
  std::vector<const EdgeInfo*> result = growing_edges(machine);
  std::erase_if(result,
                [&](const EdgeInfo* edge) { return bounded(machine, edge->lower) || bounded(machine, edge->upper); });
  return result;
}

// Whether the log-partition grows alike for fields of either sign, so that the condition is necessary as well.
bool same_on_both_sides(const Unit& unit) {
  return unit.support() == Unit::Support::reals && unit.parameter_names()[1] == "precision";
}

// √κ of a layer's units, float64 on the CPU: for Gaussian units, their standard deviations when they are alone.
at::Tensor deviations(const BoltzmannMachine& machine, std::size_t layer) {
  return on_cpu(growth_of(machine, layer)).to(at::kDouble).sqrt();
}

at::Tensor scaled_weights(const at::Tensor& W, const at::Tensor& lower, const at::Tensor& upper) {
  return on_cpu(W).to(at::kDouble) * lower.unsqueeze(1) * upper;
}

at::Tensor scaled_weights(const BoltzmannMachine& machine, const EdgeInfo& edge) {
  return scaled_weights(machine.parameters()[edge.weights], deviations(machine, edge.lower),
                        deviations(machine, edge.upper));
}

// Never below the largest singular value, and a matter of reading the matrix once.
double bound_on_norm(const at::Tensor& matrix) {
  const double frobenius = matrix.norm().item<double>();
  const double rows = matrix.abs().sum(1).max().item<double>(), columns = matrix.abs().sum(0).max().item<double>();
  return std::min(frobenius, std::sqrt(rows * columns));
}

double bound_on_strength(const BoltzmannMachine& machine, const std::vector<const EdgeInfo*>& edges) {
  double total = 0;
  for (const EdgeInfo* edge : edges) total += bound_on_norm(scaled_weights(machine, *edge));
  return total;
}

double largest_singular_value(const at::Tensor& matrix) {
  const at::Tensor square = matrix.size(0) < matrix.size(1) ? matrix.mm(matrix.t()) : matrix.t().mm(matrix);
  return std::sqrt(std::max(0.0, at::linalg_eigvalsh(square, "L").max().item<double>()));
}

// Singular values of N above the limit are set to it.
void set_to_limit_(at::Tensor& W, const at::Tensor& lower, const at::Tensor& upper, double limit) {
  const auto [left, values, right] = at::linalg_svd(scaled_weights(W, lower, upper), /*full_matrices=*/false);
  W.copy_((left * values.clamp_max(limit)).mm(right) / lower.unsqueeze(1) / upper);
}

double strength_of(const BoltzmannMachine& machine, const std::vector<const EdgeInfo*>& edges) {
  if (edges.size() == 1) return largest_singular_value(scaled_weights(machine, *edges[0]));
  std::vector<std::int64_t> begin;
  std::int64_t width = 0;
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    begin.push_back(width);
    if (growth_of(machine, layer).defined()) width += machine.unit(layer).width();
  }
  const at::Tensor all = at::zeros({width, width}, at::kDouble);
  for (const EdgeInfo* edge : edges) {
    const at::Tensor block = scaled_weights(machine, *edge);
    const auto place = [&](std::size_t row, std::size_t column, const at::Tensor& values) {
      all.narrow(0, begin[row], values.size(0)).narrow(1, begin[column], values.size(1)).add_(values);
    };
    place(edge->lower, edge->upper, block);
    place(edge->upper, edge->lower, block.t());
  }
  return at::linalg_eigvalsh(all, "L").max().item<double>();
}

// Where the weights are, in their own precision: with W they give the N of an edge.
struct Units {
  at::Tensor W, lower, upper;
};

Units units_of_weights(const BoltzmannMachine& machine, const EdgeInfo& edge) {
  const at::Tensor& W = machine.parameters()[edge.weights];
  return {W, growth_of(machine, edge.lower).to(W.scalar_type()).sqrt().unsqueeze(1),
          growth_of(machine, edge.upper).to(W.scalar_type()).sqrt()};
}

// False where nothing is known, or a number is not finite.
bool is_still_below(const KnownStrength& known, const BoltzmannMachine& machine, const EdgeInfo& edge) {
  const auto [W, lower, upper] = units_of_weights(machine, edge);
  if (!known.weights.defined() || known.weights.sizes() != W.sizes()) return false;
  constexpr double rounding = 1e-4;
  const at::Tensor change = at::addcmul(known.weights, W * lower, upper, -1);
  return known.strength + change.norm().item<double>() < strongest_coupling - rounding;
}

}  // namespace

double coupling_strength(const BoltzmannMachine& machine) {
  const auto edges = growing_edges(machine);
  return edges.empty() ? 0 : strength_of(machine, edges);
}

void require_finite_z(const BoltzmannMachine& machine) {
  const auto edges = unbounded_edges(machine);
  if (edges.empty() || bound_on_strength(machine, edges) < 1) return;
  const double strength = strength_of(machine, edges);
  const bool rectified = std::ranges::any_of(edges, [&](const EdgeInfo* edge) {
    return !same_on_both_sides(machine.unit(edge->lower)) || !same_on_both_sides(machine.unit(edge->upper));
  });
  require(
      strength < 1,
      "the weights between the real-valued layers '{}' and '{}' are too large for their precisions: their strength "
      "is {:.4g} and must be below 1. {}. Train it again with a smaller @rate_weights or with @weight_decay, or use "
      "binary hidden units",
      machine.layers()[edges[0]->lower].name, machine.layers()[edges[0]->upper].name, strength,
      rectified ? "Nothing shows that Z is finite, so probabilities and samples of the model may not exist"
                : "Z is infinite, so the model has neither probabilities nor samples");
}

bool keep_definite_(BoltzmannMachine& machine, KnownStrength* known) {
  const auto edges = growing_edges(machine);
  if (edges.empty()) return false;
  if (edges.size() != 1) known = nullptr;
  if (known != nullptr && is_still_below(*known, machine, *edges[0])) return false;
  const auto remember = [&](double strength) {
    if (known == nullptr) return;
    const auto [W, lower, upper] = units_of_weights(machine, *edges[0]);
    *known = {.weights = W * lower * upper, .strength = strength};
  };
  const double bound = bound_on_strength(machine, edges);
  if (!std::isfinite(bound)) return false;
  if (bound <= strongest_coupling) {
    remember(bound);
    return false;
  }
  const double strength = strength_of(machine, edges);
  remember(strength);
  if (!(strength > strongest_coupling)) return false;  // NaN is for others to find
  for (const EdgeInfo* edge : edges) {
    at::Tensor weights = machine.parameters()[edge->weights];
    if (edges.size() > 1) {
      weights.mul_(strongest_coupling / strength);
      continue;
    }
    set_to_limit_(weights, deviations(machine, edge->lower), deviations(machine, edge->upper), strongest_coupling);
  }
  return true;
}

double coupling_strength(const at::Tensor& W, const at::Tensor& lower, const at::Tensor& upper) {
  return largest_singular_value(scaled_weights(W, lower, upper));
}

bool clip_coupling_(at::Tensor& W, const at::Tensor& lower, const at::Tensor& upper, double limit) {
  const at::Tensor first = on_cpu(lower).to(at::kDouble), second = on_cpu(upper).to(at::kDouble);
  const at::Tensor N = scaled_weights(W, first, second);
  const double bound = bound_on_norm(N);
  if (!std::isfinite(bound) || bound <= limit) return false;
  if (!(largest_singular_value(N) > limit)) return false;  // NaN is for others to find
  set_to_limit_(W, first, second, limit);
  return true;
}

void constrain_(BoltzmannMachine& machine, KnownStrength& known) {
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    Unit::Parameters values = machine.layer_parameters(layer);  // tensors share storage with the machine's
    machine.unit(layer).constrain_(values);
  }
  for (const EdgeInfo& edge : machine.topology().edges)
    if (edge.inner()) at::Tensor(machine.parameters()[edge.weights]).mul_(edge.pairs);
  keep_definite_(machine, &known);
}

}  // namespace harmonium
