#include "harmonium/models/definiteness.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"

namespace harmonium {

namespace {

bool is_real(const BoltzmannMachine& machine, std::size_t layer) {
  const Unit& unit = machine.unit(layer);
  return unit.support() == Unit::Support::reals && unit.parameter_names().size() > 1 &&
         unit.parameter_names()[1] == "precision";
}

std::vector<const EdgeInfo*> real_edges(const BoltzmannMachine& machine) {
  std::vector<const EdgeInfo*> result;
  for (const EdgeInfo& edge : machine.topology().edges)
    if (is_real(machine, edge.lower) && is_real(machine, edge.upper)) result.push_back(&edge);
  return result;
}

// Standard deviations of a layer's units when they are alone, float64 on the CPU.
at::Tensor deviations(const BoltzmannMachine& machine, std::size_t layer) {
  return on_cpu(machine.layer_parameters(layer)[1]).to(at::kDouble).rsqrt();
}

at::Tensor scaled_weights(const BoltzmannMachine& machine, const EdgeInfo& edge) {
  return on_cpu(machine.parameters()[edge.weights]).to(at::kDouble) * deviations(machine, edge.lower).unsqueeze(1) *
         deviations(machine, edge.upper);
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

double strength_of(const BoltzmannMachine& machine, const std::vector<const EdgeInfo*>& edges) {
  if (edges.size() == 1) return largest_singular_value(scaled_weights(machine, *edges[0]));
  std::vector<std::int64_t> begin;
  std::int64_t width = 0;
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    begin.push_back(width);
    if (is_real(machine, layer)) width += machine.unit(layer).width();
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

}  // namespace

bool real_units_joined(const BoltzmannMachine& machine) { return !real_edges(machine).empty(); }

double coupling_strength(const BoltzmannMachine& machine) {
  const auto edges = real_edges(machine);
  return edges.empty() ? 0 : strength_of(machine, edges);
}

void require_finite_z(const BoltzmannMachine& machine) {
  const auto edges = real_edges(machine);
  if (edges.empty() || bound_on_strength(machine, edges) < 1) return;
  const double strength = strength_of(machine, edges);
  require(strength < 1,
          "the weights between the real-valued layers '{}' and '{}' are too large for their precisions: their strength "
          "is {:.4g} and must be below 1. Z is infinite, so the model has neither probabilities nor samples. Train it "
          "again with a smaller @rate_weights or with @weight_decay, or use binary hidden units",
          machine.layers()[edges[0]->lower].name, machine.layers()[edges[0]->upper].name, strength);
}

bool keep_definite_(BoltzmannMachine& machine) {
  const auto edges = real_edges(machine);
  if (edges.empty() || !(bound_on_strength(machine, edges) > strongest_coupling)) return false;
  const double strength = strength_of(machine, edges);
  if (!(strength > strongest_coupling)) return false;  // NaN is for others to find
  for (const EdgeInfo* edge : edges) {
    at::Tensor weights = machine.parameters()[edge->weights];
    if (edges.size() > 1) {
      weights.mul_(strongest_coupling / strength);
      continue;
    }
    const auto [left, values, right] = at::linalg_svd(scaled_weights(machine, *edge), /*full_matrices=*/false);
    const at::Tensor clipped = (left * values.clamp_max(strongest_coupling)).mm(right);
    weights.copy_(clipped / deviations(machine, edge->lower).unsqueeze(1) / deviations(machine, edge->upper));
  }
  return true;
}

}  // namespace harmonium
