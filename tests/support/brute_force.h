// A second derivation of small machines: every joint state visited in a plain loop, −E written out term by term.
//
// Nothing of harmonium/models is used but the parameters and the names of layers; all sums are over
// std::vector<double>. Continuous layers are integrated by the trapezoid rule with steps of σ/1.5 out to 9.5 σ beyond
// the largest mean their neighbours can give them: for a Gaussian integrand both the discretization error (about
// e^(−2π²·1.5²) = 5e-20) and the cut tails (e^(−9.5²/2) = 3e-20) are below rounding, so these "states" are as exact as
// the discrete ones.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/core/state.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium::support {

using Row = std::vector<double>;         // the values of one layer
using Configuration = std::vector<Row>;  // one row for every layer

inline Row numbers(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

inline at::Tensor to_tensor(const std::vector<Row>& rows) {
  at::Tensor result =
      at::empty({static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.at(0).size())}, at::kDouble);
  double* out = result.data_ptr<double>();
  for (const Row& row : rows) out = std::copy(row.begin(), row.end(), out);
  return result;
}

inline double log_sum_exp(const Row& x) {
  const double peak = *std::max_element(x.begin(), x.end());
  double total = 0;
  for (const double value : x) total += std::exp(value - peak);
  return peak + std::log(total);
}

inline Row normalized(const Row& log_weights) {
  const double log_z = log_sum_exp(log_weights);
  Row result;
  for (const double value : log_weights) result.push_back(std::exp(value - log_z));
  return result;
}

// All values of a layer; for continuous ones, nodes of a grid that each stand for a cell of volume e^log_measure.
struct Points {
  std::vector<Row> rows;
  double log_measure = 0;
};

// `field_bound` and `precision` (one per unit) are looked at for continuous units only.
inline Points points_of(const std::string& spec, const Row& field_bound = {}, const Row& precision = {}) {
  std::vector<std::vector<Row>> factors;
  Points points;
  int groups = 0, states = 0;
  if (std::sscanf(spec.c_str(), "bernoulli:%d", &groups) == 1) {
    factors.assign(static_cast<std::size_t>(groups), {{0}, {1}});
  } else if (std::sscanf(spec.c_str(), "softmax:%dx%d", &groups, &states) == 2) {
    std::vector<Row> choices;
    for (int k = 0; k < states; ++k) {
      choices.emplace_back(static_cast<std::size_t>(states), 0.0);
      choices.back()[static_cast<std::size_t>(k)] = 1;
    }
    factors.assign(static_cast<std::size_t>(groups), choices);
  } else if (std::sscanf(spec.c_str(), "gaussian:%d", &groups) == 1) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(groups); ++i) {
      const double deviation = 1 / std::sqrt(precision.at(i)), step = deviation / 1.5;
      const double reach = field_bound.at(i) / precision[i] + 9.5 * deviation;
      factors.emplace_back();
      for (double x = -reach; x <= reach; x += step) factors.back().push_back({x});
      points.log_measure += std::log(step);
    }
  } else {
    throw std::logic_error("brute force does not know units like " + spec);
  }
  points.rows = {{}};
  for (const auto& choices : factors) {
    std::vector<Row> longer;
    for (const Row& row : points.rows)
      for (const Row& choice : choices) {
        longer.push_back(row);
        longer.back().insert(longer.back().end(), choice.begin(), choice.end());
      }
    points.rows = std::move(longer);
  }
  return points;
}

// A machine's parameters as plain numbers, with its energy as the formula says it.
struct PlainMachine {
  struct Layer {
    std::string name, spec;
    Row bias, precision;
  };
  struct Edge {
    std::string name;
    std::size_t lower = 0, upper = 0;
    Row weights;  // row-major, width(lower) × width(upper)
  };
  std::vector<Layer> layers;
  std::vector<Edge> edges;

  explicit PlainMachine(const BoltzmannMachine& machine) {
    const Moments& parameters = machine.parameters();
    for (const harmonium::Layer& layer : machine.layers()) {
      layers.push_back({layer.name, layer.unit->spec(), numbers(parameters[layer.name + ".bias"]), {}});
      if (parameters.contains(layer.name + ".precision"))
        layers.back().precision = numbers(parameters[layer.name + ".precision"]);
    }
    for (std::size_t lower = 0; lower < layers.size(); ++lower)
      for (std::size_t upper = 0; upper < layers.size(); ++upper) {
        const std::string name = layers[lower].name + "_" + layers[upper].name + ".weights";
        if (parameters.contains(name)) edges.push_back({name, lower, upper, numbers(parameters[name])});
      }
  }

  // Inside a layer every pair of units counts once, and values of one softmax group are no pair.
  [[nodiscard]] bool is_pair(const Edge& edge, std::size_t i, std::size_t j) const {
    if (edge.lower != edge.upper) return true;
    int groups = 0, states = 1;
    if (std::sscanf(layers[edge.lower].spec.c_str(), "softmax:%dx%d", &groups, &states) != 2) states = 1;
    return i / static_cast<std::size_t>(states) < j / static_cast<std::size_t>(states);
  }

  [[nodiscard]] double negative_energy(const Configuration& x) const {
    double total = 0;
    for (std::size_t l = 0; l < layers.size(); ++l)
      for (std::size_t i = 0; i < x[l].size(); ++i) {
        total += layers[l].bias[i] * x[l][i];
        if (!layers[l].precision.empty()) total -= layers[l].precision[i] * x[l][i] * x[l][i] / 2;
      }
    for (const Edge& edge : edges)
      for (std::size_t i = 0; i < x[edge.lower].size(); ++i)
        for (std::size_t j = 0; j < x[edge.upper].size(); ++j)
          if (is_pair(edge, i, j))
            total += x[edge.lower][i] * edge.weights[i * x[edge.upper].size() + j] * x[edge.upper][j];
    return total;
  }

  // Every value of a layer. A continuous neighbour is taken to stay within ±4.
  [[nodiscard]] Points points(std::size_t layer) const {
    Row bound;
    for (const double bias : layers[layer].bias) bound.push_back(std::abs(bias));
    for (const Edge& edge : edges) {
      const std::size_t columns = layers[edge.upper].bias.size();
      const std::size_t other = edge.lower == layer ? edge.upper : edge.lower;
      const double reach = layers[other].precision.empty() ? 1 : 4;
      for (std::size_t k = 0; k < edge.weights.size(); ++k) {
        if (edge.lower == layer) bound[k / columns] += reach * std::abs(edge.weights[k]);
        if (edge.upper == layer) bound[k % columns] += reach * std::abs(edge.weights[k]);
      }
    }
    return points_of(layers[layer].spec, bound, layers[layer].precision);
  }

  // x with the given layers replaced by every combination of their values; log_measure is added up.
  [[nodiscard]] std::vector<Configuration> completions(const Configuration& x, const LayerSet& free,
                                                       double& log_measure) const {
    std::vector<Configuration> all = {x};
    log_measure = 0;
    for (const std::size_t layer : free) {
      const Points values = points(layer);
      log_measure += values.log_measure;
      std::vector<Configuration> more;
      for (const Configuration& one : all)
        for (const Row& row : values.rows) {
          more.push_back(one);
          more.back()[layer] = row;
        }
      all = std::move(more);
    }
    return all;
  }

  // log Σ over the free layers of e^(−E).
  [[nodiscard]] double log_sum(const Configuration& x, const LayerSet& free) const {
    double log_measure = 0;
    Row terms;
    for (const Configuration& one : completions(x, free, log_measure)) terms.push_back(negative_energy(one));
    return log_sum_exp(terms) + log_measure;
  }
};

// Σ weight · g(x), entry by entry.
inline Moments expected_statistics(const BoltzmannMachine& machine, const std::vector<Configuration>& configurations,
                                   const Row& weights) {
  const PlainMachine plain(machine);
  std::map<std::string, Row> sums;
  for (const auto& [name, value] : machine.parameters().entries())
    sums[name].assign(static_cast<std::size_t>(value.numel()), 0);
  for (std::size_t n = 0; n < configurations.size(); ++n) {
    const Configuration& x = configurations[n];
    for (std::size_t l = 0; l < x.size(); ++l) {
      Row& first = sums[plain.layers[l].name + ".bias"];
      for (std::size_t i = 0; i < x[l].size(); ++i) first[i] += weights[n] * x[l][i];
      if (plain.layers[l].precision.empty()) continue;
      Row& second = sums[plain.layers[l].name + ".precision"];
      for (std::size_t i = 0; i < x[l].size(); ++i) second[i] -= weights[n] * x[l][i] * x[l][i] / 2;
    }
    for (const PlainMachine::Edge& edge : plain.edges) {
      Row& products = sums[edge.name];
      for (std::size_t i = 0; i < x[edge.lower].size(); ++i)
        for (std::size_t j = 0; j < x[edge.upper].size(); ++j)
          if (plain.is_pair(edge, i, j))
            products[i * x[edge.upper].size() + j] += weights[n] * x[edge.lower][i] * x[edge.upper][j];
    }
  }
  Moments result;
  for (const auto& [name, value] : machine.parameters().entries())
    result.insert(name, to_tensor({sums[name]}).reshape(value.sizes()));
  return result;
}

// The whole distribution of a machine, state by state.
struct BruteForce {
  std::vector<Configuration> configurations;
  Row log_weights;  // −E, plus the log volume of the cell for continuous layers
  Row probabilities;
  double log_z = 0;

  explicit BruteForce(const BoltzmannMachine& machine) {
    const PlainMachine plain(machine);
    LayerSet all;
    for (std::size_t l = 0; l < plain.layers.size(); ++l) all.push_back(l);
    double log_measure = 0;
    configurations = plain.completions(Configuration(plain.layers.size()), all, log_measure);
    for (const Configuration& x : configurations) log_weights.push_back(plain.negative_energy(x) + log_measure);
    log_z = log_sum_exp(log_weights);
    probabilities = normalized(log_weights);
  }

  // What one Gibbs step on some layers makes of a distribution over the configurations: the mass of every setting of
  // the other layers is shared out again in proportion to e^(−E).
  [[nodiscard]] Row resample(const Row& distribution, const LayerSet& layers) const {
    std::map<Configuration, double> mass, weight;
    const auto rest = [&](Configuration x) {
      for (const std::size_t layer : layers) x[layer].clear();
      return x;
    };
    for (std::size_t n = 0; n < configurations.size(); ++n) {
      mass[rest(configurations[n])] += distribution[n];
      weight[rest(configurations[n])] += probabilities[n];
    }
    Row result;
    for (std::size_t n = 0; n < configurations.size(); ++n)
      result.push_back(mass[rest(configurations[n])] * probabilities[n] / weight[rest(configurations[n])]);
    return result;
  }
};

// Configurations as a machine's state, one row each.
inline State to_state(const std::vector<Configuration>& configurations) {
  State state;
  for (std::size_t layer = 0; layer < configurations.at(0).size(); ++layer) {
    std::vector<Row> rows;
    for (const Configuration& x : configurations) rows.push_back(x[layer]);
    state.layers.push_back(to_tensor(rows));
  }
  return state;
}

}  // namespace harmonium::support
