#include "harmonium/models/enumeration_layout.h"

#include <algorithm>

namespace harmonium {

namespace {

std::vector<Digit> digits_of(const BoltzmannMachine& machine, const EnumerationPlan& plan) {
  std::vector<Digit> digits;
  std::int64_t stride = 1;
  for (const std::size_t layer : plan.enumerated) {
    const Unit::Digit digit = machine.unit(layer).digit();
    for (std::int64_t column = 0; column < machine.unit(layer).width(); column += digit.columns) {
      digits.push_back({layer, column, digit.values, digit.columns, stride});
      stride *= digit.values;
    }
  }
  return digits;
}

}  // namespace

at::Tensor place_range(std::int64_t begin, std::int64_t count) { return at::arange(begin, begin + count, at::kLong); }

std::vector<DigitGroup> grouped_digits(const BoltzmannMachine& machine, const EnumerationPlan& plan, std::size_t most) {
  const std::vector<Digit> digits = digits_of(machine, plan);
  std::vector<DigitGroup> groups(std::min(most, digits.size()));
  std::vector<double> states(groups.size(), 1);
  for (const Digit& digit : digits) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(states) - states.begin());
    groups[least].push_back(digit);
    states[least] *= static_cast<double>(digit.values);
  }
  return groups;
}

at::Tensor number_offsets(const DigitGroup& digits) {
  at::Tensor offsets = at::zeros({1}, at::kLong);
  for (const Digit& digit : digits)
    offsets = (offsets.unsqueeze(1) + digit.stride * place_range(0, digit.values).unsqueeze(0)).reshape(-1);
  return offsets;
}

EnumerationLayout::EnumerationLayout(const BoltzmannMachine& machine, const EnumerationPlan& plan)
    : machine_(machine), plan_(plan) {
  for (const auto& [name, value] : machine.parameters().entries()) {
    begin_[name] = dimension_;
    dimension_ += value.numel();
  }
  std::vector<at::Tensor> own;
  for (const std::size_t layer : plan.summed) {
    summed_begin_[layer] = summed_size_;
    for (const std::string& name : machine.topology().layers[layer].parameters) {
      own.push_back(place_range(begin_.at(name), machine.unit(layer).width()));
      summed_size_ += machine.unit(layer).width();
    }
  }
  features_.push_back({.columns = place_range(0, summed_size_), .places = at::cat(own)});
  for (const std::size_t layer : plan.enumerated)
    for (std::int64_t column = 0; column < machine.unit(layer).width(); ++column) add_feature(layer, column);
}

at::Tensor EnumerationLayout::known(const State& state) const {
  std::vector<at::Tensor> values = {at::zeros({state.rows(), 0}, at::kDouble)};
  for (const std::size_t layer : plan_.enumerated)
    for (const at::Tensor& one : machine_.unit(layer).statistics(state.layers[layer])) values.push_back(one);
  for (const EdgeInfo& edge : machine_.topology().edges) {
    if (summed_begin_.contains(edge.lower) || summed_begin_.contains(edge.upper)) continue;
    const at::Tensor &x = state.layers[edge.lower], &y = state.layers[edge.upper];
    values.push_back(edge.masked(x.unsqueeze(2) * y.unsqueeze(1)).reshape({x.size(0), -1}));
  }
  return at::cat(values, 1);
}

at::Tensor EnumerationLayout::known_places() const {
  std::vector<at::Tensor> places = {at::zeros({0}, at::kLong)};
  for (const std::size_t layer : plan_.enumerated)
    for (const std::string& name : machine_.topology().layers[layer].parameters)
      places.push_back(place_range(begin_.at(name), machine_.unit(layer).width()));
  for (const EdgeInfo& edge : machine_.topology().edges)
    if (!summed_begin_.contains(edge.lower) && !summed_begin_.contains(edge.upper))
      places.push_back(place_range(begin_.at(edge.weights), machine_.parameters()[edge.weights].numel()));
  return at::cat(places);
}

void EnumerationLayout::add_feature(std::size_t layer, std::int64_t column) {
  std::vector<at::Tensor> columns, places;
  for (const EdgeInfo& edge : machine_.topology().edges) {
    if (edge.lower != layer && edge.upper != layer) continue;
    const std::size_t other = edge.lower == layer ? edge.upper : edge.lower;
    if (!summed_begin_.contains(other)) continue;
    const std::int64_t width = machine_.unit(other).width(), stride = machine_.unit(edge.upper).width();
    columns.push_back(place_range(summed_begin_.at(other), width));
    places.push_back(edge.upper == layer ? begin_.at(edge.weights) + column + stride * place_range(0, width)
                                         : begin_.at(edge.weights) + column * stride + place_range(0, width));
  }
  if (!columns.empty()) features_.push_back({layer, column, at::cat(columns), at::cat(places)});
}

}  // namespace harmonium
