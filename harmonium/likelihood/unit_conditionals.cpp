#include "harmonium/likelihood/unit_conditionals.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/units/gaussian.h"

namespace harmonium {

namespace {

// Along Gaussian units: log of the integral, by steps of one deviation over all places where a mean can be.
at::Tensor gaussian_integral(const BoltzmannMachine& machine, const at::Tensor& visible, const at::Tensor& column,
                             const LogMass& log_f) {
  constexpr double margin = 9;  // deviations beyond the outermost means
  const Unit::Parameters parameters = machine.layer_parameters(0);
  at::Tensor low = parameters[0].to(at::kDouble), high = low.clone();
  low = low.clone();
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower != 0 && edge.upper != 0) continue;
    const std::size_t other = edge.lower == 0 ? edge.upper : edge.lower;
    require(machine.unit(other).indicator(),
            "the conditional density of Gaussian units needs neighbours with values 0 or 1, not {}",
            machine.unit(other).spec());
    const at::Tensor weights = machine.parameters()[edge.weights].to(at::kDouble);
    const std::int64_t across = edge.lower == 0 ? 1 : 0;
    low += weights.clamp_max(0).sum(across);
    high += weights.clamp_min(0).sum(across);
  }
  const at::Tensor precision = parameters[1].to(at::kDouble), deviation = precision.rsqrt();
  const auto of_rows = [&](const at::Tensor& x) { return x.index_select(0, column).unsqueeze(1); };
  const at::Tensor step = of_rows(deviation), start = of_rows(low / precision) - margin * step;
  const auto steps =
      static_cast<std::int64_t>(std::ceil(((high - low) / precision / deviation).max().item<double>() + 2 * margin));
  at::Tensor total;
  for (std::int64_t k = 0; k <= steps; ++k) {
    const at::Tensor value = (start + static_cast<double>(k) * step).to(visible.scalar_type());
    const at::Tensor mass = log_f(visible.scatter(1, column.unsqueeze(1), value));
    total = total.defined() ? at::logaddexp(total, mass) : mass;
  }
  return total + step.squeeze(1).log();
}

}  // namespace

std::int64_t count_parts(const BoltzmannMachine& machine) {
  return machine.unit(0).width() / machine.unit(0).digit().columns;
}

at::Tensor unit_conditionals(const BoltzmannMachine& machine, const at::Tensor& visible, const at::Tensor& parts,
                             const LogMass& log_f) {
  const Unit& unit = machine.unit(0);
  require(machine.inner_edge(0) == nullptr, "units that are joined to each other have no such conditionals here");
  if (dynamic_cast<const Gaussian*>(&unit) != nullptr)
    return log_f(visible) - gaussian_integral(machine, visible, parts, log_f);
  require(unit.state_count().has_value(), "{} units have no conditionals here", unit.spec());
  const auto [values, columns] = unit.digit();
  if (columns == 1) {
    const at::Tensor column = parts.unsqueeze(1);
    const at::Tensor flipped = visible.scatter(1, column, 1 - visible.gather(1, column));
    return at::softplus(log_f(flipped) - log_f(visible)).neg_();
  }
  // A group that is one-hot: every column of it in turn.
  const at::Tensor group = (parts * columns).unsqueeze(1) + at::arange(columns, at::kLong);
  at::Tensor total;
  for (std::int64_t k = 0; k < values; ++k) {
    at::Tensor one_hot = at::zeros({visible.size(0), columns}, visible.options());
    one_hot.select(1, k).fill_(1);
    const at::Tensor mass = log_f(visible.scatter(1, group, one_hot));
    total = total.defined() ? at::logaddexp(total, mass) : mass;
  }
  return log_f(visible) - total;
}

}  // namespace harmonium
