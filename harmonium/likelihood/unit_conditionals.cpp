#include "harmonium/likelihood/unit_conditionals.h"

#include <utility>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

// The lowest and the highest field that each unit of layer 0 can have, whatever its neighbours are.
std::pair<at::Tensor, at::Tensor> field_range(const BoltzmannMachine& machine) {
  const at::Tensor bias = machine.layer_parameters(0)[0].to(at::kDouble);
  at::Tensor low = bias.clone(), high = bias.clone();
  for (const EdgeInfo& edge : machine.topology().edges) {
    if (edge.lower != 0 && edge.upper != 0) continue;
    const std::size_t other = edge.lower == 0 ? edge.upper : edge.lower;
    require(machine.unit(other).indicator(),
            "the conditional density of continuous units needs neighbours with values 0 or 1, not {}",
            machine.unit(other).spec());
    const at::Tensor weights = machine.parameters()[edge.weights].to(at::kDouble);
    const std::int64_t across = edge.lower == 0 ? 1 : 0;
    low += weights.clamp_max(0).sum(across);
    high += weights.clamp_min(0).sum(across);
  }
  return {low, high};
}

// Along a continuous unit of each row: log of the integral.
at::Tensor log_integral(const Unit::Grid& grid, const at::Tensor& visible, const at::Tensor& column,
                        const LogMass& log_f) {
  const auto of_rows = [&](const at::Tensor& x) { return x.index_select(0, column).unsqueeze(1); };
  const at::Tensor step = of_rows(grid.step), start = of_rows(grid.start);
  at::Tensor total;
  for (std::int64_t k = 0; k <= grid.steps; ++k) {
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
  require(machine.inner_edge(0) == nullptr, "conditionals of units that are joined to each other are not implemented");
  if (unit.support() == Unit::Support::reals) {
    const auto [low, high] = field_range(machine);
    if (const auto grid = unit.grid(low, high, machine.layer_parameters(0)))
      return log_f(visible) - log_integral(*grid, visible, parts, log_f);
  }
  require(unit.state_count().has_value(), "conditionals of {} units are not implemented", unit.spec());
  const auto [values, columns] = unit.digit();
  if (columns == 1 && values == 2) {
    const at::Tensor column = parts.unsqueeze(1);
    const at::Tensor flipped = visible.scatter(1, column, 1 - visible.gather(1, column));
    return at::softplus(log_f(flipped) - log_f(visible)).neg_();
  }
  constexpr std::int64_t most_values = 1 << 12;
  require(values <= most_values, "conditionals of {} units would take too long: a part has more than {} values",
          unit.spec(), most_values);
  // Every value of the part in turn: of a one-hot group, every column of it.
  const at::Tensor group = (parts * columns).unsqueeze(1) + at::arange(columns, at::kLong);
  const at::Tensor tried = unit.part_values(visible.scalar_type());
  at::Tensor total;
  for (std::int64_t k = 0; k < values; ++k) {
    const at::Tensor mass = log_f(visible.scatter(1, group, tried[k].expand({visible.size(0), columns})));
    total = total.defined() ? at::logaddexp(total, mass) : mass;
  }
  return log_f(visible) - total;
}

}  // namespace harmonium
