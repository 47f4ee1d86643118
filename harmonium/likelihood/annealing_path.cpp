#include "harmonium/likelihood/annealing_path.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/samplers/single_site.h"

namespace harmonium {

namespace {

void check_places(const std::vector<double>& places, std::size_t lines) {
  const auto last = static_cast<double>(lines);
  require(places.size() >= 2 && places.front() == 0 && places.back() == last,
          "annealing: a schedule starts at 0 and ends at {}", lines);
  // Asking for every pair to be in order, and not for none to be out of it, refuses NaN as well.
  require(std::ranges::adjacent_find(places, [](double a, double b) { return !(a <= b); }) == places.end(),
          "annealing: a schedule must increase");
  for (std::size_t knot = 1; knot < lines; ++knot)
    require(std::ranges::binary_search(places, static_cast<double>(knot)), "annealing: a schedule must stop at knot {}",
            knot);
}

}  // namespace

Unit::Parameters AnnealingPath::Line::parameters(std::size_t layer, double t) const {
  Unit::Parameters result = start.layer_parameters(layer);
  for (std::size_t i = 0; const at::Tensor& last : end.layer_parameters(layer)) {
    result[i] = at::lerp(result[i], last, t);
    ++i;
  }
  return result;
}

BoltzmannMachine AnnealingPath::Line::at(double t) const {
  return start.with_parameters(start.parameters().clone().lerp_(end.parameters(), t));
}

AnnealingPath::AnnealingPath(BaseModel base, std::vector<BoltzmannMachine> knots, std::vector<double> places,
                             SumOut sum_out)
    : base_(std::move(base)), places_(std::move(places)) {
  require(!knots.empty(), "annealing: a path needs a target");
  check_places(places_, knots.size());
  walked_ = walked_layers(knots.back(), sum_out);
  BoltzmannMachine start = base_.machine();
  bool independent = base_.independent();
  require_finite_z(start);  // lines between definite machines are definite
  for (BoltzmannMachine& knot : knots) {
    require_finite_z(knot);
    Line line{.start = start,
              .end = knot,
              .slope = {},
              .weights_grow_from_zero = independent,
              .growth = knot.with_parameters(knot.parameters() - start.parameters())};
    for (std::size_t layer = 0; layer < knot.layers().size(); ++layer) {
      Unit::Parameters slope = knot.layer_parameters(layer);
      for (std::size_t i = 0; const at::Tensor& first : start.layer_parameters(layer)) {
        slope[i] = slope[i] - first;
        ++i;
      }
      line.slope.push_back(std::move(slope));
    }
    lines_.push_back(std::move(line));
    start = knot;
    independent = false;
  }
}

void AnnealingPath::move(State& state, std::int64_t from, std::int64_t to, const Key& key,
                         at::Tensor& log_weights) const {
  const double place_from = places_[static_cast<std::size_t>(from)], place_to = places_[static_cast<std::size_t>(to)];
  const double first = std::min(std::floor(std::min(place_from, place_to)), static_cast<double>(lines_.size() - 1));
  const Line& line = lines_[static_cast<std::size_t>(first)];
  const double before = place_from - first, after = place_to - first;
  // The kept layers' own part of log f is linear along a line.
  for (const std::size_t layer : kept())
    log_weights.add_(target().unit(layer).log_potential(state.layers[layer], line.slope[layer]), after - before);
  if (walked_.joined) log_weights.add_(line.growth.edge_potential(state, kept()), after - before);

  const auto draw_summed = [&](std::size_t layer, const Unit::AnnealedField& old_field,
                               const Unit::AnnealedField& new_field) {
    return target().unit(layer).anneal(key.fold_in(layer), old_field, new_field, log_weights);
  };
  if (line.weights_grow_from_zero) {
    // The neighbours' share of every field scales with t, so one product serves both ends of the step.
    for (const std::size_t layer : summed()) {
      const at::Tensor input = line.end.input(layer, state);
      state.layers[layer] = draw_summed(layer, {input, before, line.parameters(layer, before)},
                                        {input, after, line.parameters(layer, after)});
    }
    walked_.sweep(state, key, [&](State& rows, const LayerSet& in_turn, const Key& own) {
      for (const std::size_t layer : in_turn) {
        const Unit::Parameters theta = line.parameters(layer, after);
        const at::Tensor input = line.end.input(layer, rows);
        const Unit::AnnealedField field{input, after, theta};
        rows.layers[layer] = target().inner_edge(layer) == nullptr
                                 ? target().unit(layer).sample(own.fold_in(layer), field)
                                 : single_site_sweep(target(), layer, rows, own.fold_in(layer), field.total(), after);
      }
    });
    return;
  }
  for (const std::size_t layer : summed()) {
    // Both fields from the same two products, so that rounding cancels in their difference.
    const at::Tensor at_start = line.start.input(layer, state), at_end = line.end.input(layer, state);
    state.layers[layer] = draw_summed(layer, {at::lerp(at_start, at_end, before), 1, line.parameters(layer, before)},
                                      {at::lerp(at_start, at_end, after), 1, line.parameters(layer, after)});
  }
  const BoltzmannMachine there = line.at(after);
  walked_.sweep(state, key, [&](State& rows, const LayerSet& in_turn, const Key& own) {
    (void)sample_layers(there, rows, own, in_turn);
  });
}

}  // namespace harmonium
