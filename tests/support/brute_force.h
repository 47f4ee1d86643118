// A second derivation of small machines: every joint state visited in a plain loop, −E written out term by term.
//
// Nothing of harmonium/models is used but the parameters and the names of layers; all sums are over
// std::vector<double>. Continuous layers are integrated by the trapezoid rule with steps of σ/1.5 out to 9.5 σ beyond
// the largest mean their neighbours can give them: for a Gaussian integrand both the discretization error (about
// e^(−2π²·1.5²) = 5e-20) and the cut tails (e^(−9.5²/2) = 3e-20) are below rounding, so these "states" are as exact as
// the discrete ones.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
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

// log of the elementary symmetric polynomial of order x over e^{−½}, e^{−3/2}, … e^{−M+½}, all subsets written out.
inline double log_ways(int copies, double x) {
  double total = 0;
  for (int subset = 0; subset < (1 << copies); ++subset) {
    double weight = 0, on = 0;
    for (int i = 0; i < copies; ++i)
      if ((subset >> i) & 1) {
        weight -= i + 0.5;
        ++on;
      }
    if (on == x) total += std::exp(weight);
  }
  return std::log(total);
}

// Steps of the grids that do not go by a precision: of log |x| on a half line, and of a slab. Slabs of one spike make a
// grid of as many dimensions, in steps that are below σ/1.5 for precisions below 2.7.
constexpr double half_line_step = 0.1;
inline double slab_step(std::size_t slabs) { return slabs == 1 ? 0.05 : 0.4; }

// A unit's text as the name of a test.
inline std::string spec_name(const testing::TestParamInfo<std::string>& one) {
  std::string name = one.param;
  std::erase(name, '<');
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

// Whether a layer's units are of a type.
inline bool of_type(const std::string& spec, const std::string& type) { return spec.starts_with(type + ":"); }

// Values that one spike gates: "spike_slab:5x3" has 3.
inline std::size_t slabs_of(const std::string& spec) {
  int spikes = 0, slabs = 1;
  std::sscanf(spec.c_str(), "spike_slab:%dx%d", &spikes, &slabs);
  return static_cast<std::size_t>(slabs);
}

// What values count for beside their potential.
inline double log_measure_of(const std::string& spec, const Row& x) {
  double total = 0;
  int units = 0, copies = 0;
  if (std::sscanf(spec.c_str(), "stepped:%dx%d", &units, &copies) == 2)
    for (const double value : x) total += log_ways(copies, value);
  if (of_type(spec, "poisson"))
    for (const double value : x) total -= std::lgamma(value + 1);
  return total;
}

// The cell that a point of points_of() stands for, beyond the volume that all have alike.
inline double log_cell(const std::string& spec, const Row& x) {
  double total = 0;
  for (const double value : x) {
    if (of_type(spec, "relu") || of_type(spec, "drelu")) total += std::log(std::abs(value));      // dx = |x| d log |x|
    if (of_type(spec, "spike_slab") && value == 0) total -= std::log(slab_step(slabs_of(spec)));  // an atom, not a cell
  }
  return total;
}

// t(x) of a layer by its formula, one row for each parameter.
inline std::vector<Row> statistics_of(const std::string& spec, const Row& x) {
  std::vector<Row> all = {x};
  const auto add = [&](auto f) {
    all.emplace_back();
    for (const double value : x) all.back().push_back(f(value));
  };
  const auto half_square = [](double value) { return -value * value / 2; };
  if (of_type(spec, "gaussian") || of_type(spec, "relu") || of_type(spec, "spike_slab")) add(half_square);
  if (of_type(spec, "spike_slab")) {
    all.emplace_back();  // at the first value of every group
    for (std::size_t i = 0; i < x.size(); ++i) all.back().push_back(i % slabs_of(spec) == 0 && x[i] != 0 ? 1.0 : 0.0);
  }
  if (of_type(spec, "drelu")) {
    add([](double value) { return -std::abs(value); });
    add([&](double value) { return value > 0 ? half_square(value) : 0; });
    add([&](double value) { return value < 0 ? half_square(value) : 0; });
  }
  return all;
}

// All values of a layer; for continuous ones, nodes of a grid that each stand for a cell of volume e^log_measure.
struct Points {
  std::vector<Row> rows;
  double log_measure = 0;
};

// `field_bound` and `precision` (one per unit) are looked at for continuous units and poisson ones only.
inline Points points_of(const std::string& spec, const Row& field_bound = {}, const Row& precision = {}) {
  std::vector<std::vector<Row>> factors;
  Points points;
  int groups = 0, states = 0;
  const auto half_line = [](double reach) {
    std::vector<Row> result;
    for (double u = -37; u <= std::log(reach); u += half_line_step) result.push_back({std::exp(u)});
    return result;
  };
  if (std::sscanf(spec.c_str(), "bernoulli:%d", &groups) == 1) {
    factors.assign(static_cast<std::size_t>(groups), {{0}, {1}});
  } else if (std::sscanf(spec.c_str(), "softmax:%dx%d", &groups, &states) == 2) {
    std::vector<Row> choices;
    for (int k = 0; k < states; ++k) {
      choices.emplace_back(static_cast<std::size_t>(states), 0.0);
      choices.back()[static_cast<std::size_t>(k)] = 1;
    }
    factors.assign(static_cast<std::size_t>(groups), choices);
  } else if (std::sscanf(spec.c_str(), "cardinality:%d<=%d", &groups, &states) == 2) {
    factors.emplace_back();
    for (int number = 0; number < (1 << groups); ++number) {
      Row row;
      for (int i = 0; i < groups; ++i) row.push_back((number >> i) & 1);
      if (std::count(row.begin(), row.end(), 1.0) <= states) factors.back().push_back(row);
    }
  } else if (std::sscanf(spec.c_str(), "pooled:%dx%d", &groups, &states) == 2) {
    std::vector<Row> choices = {Row(static_cast<std::size_t>(states), 0.0)};
    for (int k = 0; k < states; ++k) {
      choices.push_back(choices.front());
      choices.back()[static_cast<std::size_t>(k)] = 1;
    }
    factors.assign(static_cast<std::size_t>(groups), choices);
  } else if (std::sscanf(spec.c_str(), "or_pooled:%dx%d", &groups, &states) == 2) {
    std::vector<Row> choices;
    for (int number = 0; number < (1 << states); ++number) {
      choices.emplace_back();
      for (int i = 0; i < states; ++i) choices.back().push_back((number >> i) & 1);
      choices.back().push_back(number > 0 ? 1 : 0);
    }
    factors.assign(static_cast<std::size_t>(groups), choices);
  } else if (std::sscanf(spec.c_str(), "stepped:%dx%d", &groups, &states) == 2) {
    std::vector<Row> choices;
    for (int value = 0; value <= states; ++value) choices.push_back({static_cast<double>(value)});
    factors.assign(static_cast<std::size_t>(groups), choices);
  } else if (std::sscanf(spec.c_str(), "poisson:%d", &groups) == 1) {
    for (const double bound : field_bound) {
      const double rate = std::exp(bound);
      factors.emplace_back();
      for (double value = 0; value <= rate + 12 * std::sqrt(rate) + 30; ++value) factors.back().push_back({value});
    }
  } else if (std::sscanf(spec.c_str(), "relu:%d", &groups) == 1) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(groups); ++i) {
      factors.push_back(half_line(field_bound.at(i) / precision.at(i) + 9.5 / std::sqrt(precision[i])));
      points.log_measure += std::log(half_line_step);
    }
  } else if (std::sscanf(spec.c_str(), "drelu:%d", &groups) == 1) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(groups); ++i) {
      factors.push_back(half_line(field_bound.at(i) / precision.at(i) + 9.5 / std::sqrt(precision[i])));
      for (std::size_t k = factors.back().size(); k > 0; --k) factors.back().push_back({-factors.back()[k - 1][0]});
      points.log_measure += std::log(half_line_step);
    }
  } else if (std::sscanf(spec.c_str(), "spike_slab:%d", &groups) == 1) {
    const std::size_t slabs = slabs_of(spec);
    const double step = slab_step(slabs);
    for (std::size_t i = 0; i < static_cast<std::size_t>(groups) * slabs; i += slabs) {
      std::vector<Row> values = {{}};
      for (std::size_t k = i; k < i + slabs; ++k) {
        const double reach = field_bound.at(k) / precision.at(k) + 9.5 / std::sqrt(precision[k]);
        std::vector<Row> longer;
        for (const Row& row : values)
          for (double x = -reach + step / 3; x <= reach; x += step) {
            longer.push_back(row);
            longer.back().push_back(x);
          }
        values = std::move(longer);
        points.log_measure += std::log(step);
      }
      values.insert(values.begin(), Row(slabs, 0.0));
      factors.push_back(std::move(values));
    }
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
    Row bias, precision;          // the least precision of a unit, where it has any
    std::vector<Row> parameters;  // all, the bias first
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
    for (std::size_t l = 0; l < machine.layers().size(); ++l) {
      const harmonium::Layer& layer = machine.layers()[l];
      layers.push_back({layer.name, layer.unit->spec(), numbers(parameters[layer.name + ".bias"]), {}, {}});
      Layer& own = layers.back();
      for (const std::string& name : machine.topology().layers[l].parameters) {
        own.parameters.push_back(numbers(parameters[name]));
        if (name.find(".precision") == std::string::npos) continue;
        if (own.precision.empty()) own.precision = own.parameters.back();
        for (std::size_t i = 0; i < own.precision.size(); ++i)
          own.precision[i] = std::min(own.precision[i], own.parameters.back()[i]);
      }
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

  // −E and the cells of all layers, but for a volume that is the same for all.
  [[nodiscard]] double log_weight(const Configuration& x) const {
    double total = negative_energy(x);
    for (std::size_t l = 0; l < layers.size(); ++l) total += log_cell(layers[l].spec, x[l]);
    return total;
  }

  [[nodiscard]] double negative_energy(const Configuration& x) const {
    double total = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const std::vector<Row> statistics = statistics_of(layers[l].spec, x[l]);
      total += log_measure_of(layers[l].spec, x[l]);
      for (std::size_t k = 0; k < statistics.size(); ++k)
        for (std::size_t i = 0; i < x[l].size(); ++i) total += layers[l].parameters[k][i] * statistics[k][i];
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
      const std::string& spec = layers[other].spec;
      const double reach = !layers[other].precision.empty()                       ? 4
                           : of_type(spec, "poisson") || of_type(spec, "stepped") ? 3
                                                                                  : 1;
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
    for (const Configuration& one : completions(x, free, log_measure)) {
      terms.push_back(negative_energy(one));
      for (const std::size_t layer : free) terms.back() += log_cell(layers[layer].spec, one[layer]);
    }
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
      const std::vector<Row> statistics = statistics_of(plain.layers[l].spec, x[l]);
      for (std::size_t k = 0; k < statistics.size(); ++k) {
        Row& sum = sums[machine.topology().layers[l].parameters[k]];
        for (std::size_t i = 0; i < x[l].size(); ++i) sum[i] += weights[n] * statistics[k][i];
      }
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
    for (const Configuration& x : configurations) log_weights.push_back(plain.log_weight(x) + log_measure);
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
