#include "harmonium/samplers/tempered_line.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/samplers/single_site.h"

namespace harmonium {

TemperedLine::TemperedLine(BoltzmannMachine target, const Moments& base)
    : target_(std::move(target)),
      base_(target_.with_parameters(base.to(target_.options()))),
      walked_(walked_layers(target_)) {
  (void)(base_.parameters() - target_.parameters());  // refuses other names and shapes
  for (const EdgeInfo& edge : target_.topology().edges)
    require(base_.parameters()[edge.weights].count_nonzero().item<std::int64_t>() == 0,
            "tempering starts at a base without weights, but '{}' of the base is not zero", edge.weights);
}

BoltzmannMachine TemperedLine::at(double beta) const {
  return target_.with_parameters(base_.parameters().clone().lerp_(target_.parameters(), beta));
}

Unit::Parameters TemperedLine::parameters(std::size_t layer, double beta) const {
  Unit::Parameters result = base_.layer_parameters(layer);
  for (std::size_t i = 0; const at::Tensor& last : target_.layer_parameters(layer)) {
    result[i] = at::lerp(result[i], last, beta);
    ++i;
  }
  return result;
}

Fields TemperedLine::inputs(const State& x) const {
  Fields result(target_.layers().size());
  for (const std::size_t layer : summed()) result[layer] = target_.input(layer, x);
  return result;
}

at::Tensor TemperedLine::log_f(const State& x, const Fields& inputs, double beta) const {
  at::Tensor total = at::zeros({x.rows()}, target_.options(at::kDouble));
  for (const std::size_t layer : kept()) {
    Unit::Parameters theta = parameters(layer, beta);
    for (at::Tensor& each : theta) each = each.to(at::kDouble);
    total += target_.unit(layer).log_potential(x.layers[layer].to(at::kDouble), theta);
  }
  total.add_(target_.edge_potential(x, kept()), beta);
  for (const std::size_t layer : summed()) {
    const Unit::Parameters theta = parameters(layer, beta);
    total += target_.unit(layer).log_partition(at::add(theta[0], inputs[layer], beta), theta);
  }
  return total;
}

void TemperedLine::sweep(State& x, const Fields& inputs, double beta, const Key& key) const {
  for (const std::size_t layer : summed())
    x.layers[layer] = target_.unit(layer).sample(key.fold_in(layer), {inputs[layer], beta, parameters(layer, beta)});
  walked_.sweep(x, key, [&](State& rows, const LayerSet& in_turn, const Key& own) {
    for (const std::size_t layer : in_turn) {
      const at::Tensor input = target_.input(layer, rows);
      const Unit::Parameters theta = parameters(layer, beta);
      const Unit::AnnealedField field{input, beta, theta};
      rows.layers[layer] = target_.inner_edge(layer) == nullptr
                               ? target_.unit(layer).sample(own.fold_in(layer), field)
                               : single_site_sweep(target_, layer, rows, own.fold_in(layer), field.total(), beta);
    }
  });
}

State TemperedLine::draw_base(const Key& key, std::int64_t rows) const {
  State result = base_.independent_sample(key, rows);
  for (const std::size_t layer : summed()) result.layers[layer] = at::Tensor();
  return result;
}

Moments uniform_parameters(const BoltzmannMachine& machine) {
  Moments result = machine.parameters().zeros_like();
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer)
    for (std::size_t i = 0; const at::Tensor& neutral : machine.unit(layer).neutral_parameters(machine.scalar_type()))
      result[machine.topology().layers[layer].parameters[i++]].copy_(neutral);
  return result;
}

std::vector<double> linear_ladder(std::int64_t rungs) {
  require(rungs >= 2, "a ladder of inverse temperatures has at least two rungs (0 and 1), not {}", rungs);
  std::vector<double> ladder;
  for (std::int64_t rung = 0; rung < rungs; ++rung)
    ladder.push_back(static_cast<double>(rung) / static_cast<double>(rungs - 1));
  return ladder;
}

void check_ladder(const std::vector<double>& ladder) {
  require(ladder.size() >= 2 && ladder.front() == 0 && ladder.back() == 1,
          "a ladder of inverse temperatures begins at 0 and ends at 1");
  // Asking for every pair to be in order, and not for none to be out of it, refuses NaN as well.
  require(std::ranges::adjacent_find(ladder, [](double a, double b) { return !(a < b); }) == ladder.end(),
          "a ladder of inverse temperatures must rise from rung to rung");
}

}  // namespace harmonium
