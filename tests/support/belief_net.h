// Small binary belief nets, written out state by state in plain loops.
#pragma once

#include <cmath>
#include <optional>

#include "harmonium/models/belief_net.h"
#include "tests/support/machines.h"

namespace harmonium::support {

using Bits = std::vector<double>;

inline std::vector<Bits> all_bits(std::int64_t width) {
  std::vector<Bits> states;
  for (std::int64_t number = 0; number < (1 << width); ++number) {
    Bits bits;
    for (std::int64_t i = 0; i < width; ++i) bits.push_back(static_cast<double>(number >> i & 1));
    states.push_back(bits);
  }
  return states;
}

// e^{−E} of a machine with binary layers "visible", "hidden" and, where there is one, a label.
inline double weight_of(const BoltzmannMachine& machine, const Bits& visible, const Bits& hidden,
                        std::int64_t label = -1) {
  const auto values = [&](const std::string& name) { return machine.parameters()[name].data_ptr<double>(); };
  const double* visible_bias = values("visible.bias");
  const double* hidden_bias = values("hidden.bias");
  const double* weights = values("visible_hidden.weights");
  const std::size_t width = hidden.size();
  double sum = 0;
  for (std::size_t i = 0; i < visible.size(); ++i) {
    sum += visible[i] * visible_bias[i];
    for (std::size_t j = 0; j < width; ++j) sum += visible[i] * hidden[j] * weights[i * width + j];
  }
  for (std::size_t j = 0; j < width; ++j) sum += hidden[j] * hidden_bias[j];
  if (label < 0) return std::exp(sum);
  const auto row = static_cast<std::size_t>(label);
  const double* label_weights = values("label_hidden.weights");
  for (std::size_t j = 0; j < width; ++j) sum += hidden[j] * label_weights[row * width + j];
  return std::exp(sum + values("label.bias")[row]);
}

inline std::int64_t hidden_width(const BoltzmannMachine& machine) {
  return machine.unit(machine.hidden().front()).width();
}

// p(v) of the belief net for every state of the data's units, in order of their numbers; given a class where one is
// named (then the top machine must have a label).
inline std::vector<double> belief_net_probabilities(const MachineStack& stack, std::optional<std::int64_t> label = {}) {
  const BoltzmannMachine& top = stack.back();
  const bool labelled = top.observed().size() == 2;
  const std::int64_t classes = labelled ? top.unit(top.observed()[1]).width() : 1;
  std::vector<double> p;
  double total = 0;
  for (const Bits& visible : all_bits(top.unit(0).width())) {
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c)
      if (!label || *label == c)
        for (const Bits& hidden : all_bits(hidden_width(top)))
          sum += weight_of(top, visible, hidden, labelled ? c : -1);
    p.push_back(sum);
    total += sum;
  }
  for (double& each : p) each /= total;
  for (std::size_t l = stack.size() - 1; l-- > 0;) {
    const std::vector<Bits> below = all_bits(stack[l].unit(0).width()), above = all_bits(hidden_width(stack[l]));
    std::vector<double> next(below.size(), 0.0);
    for (std::size_t h = 0; h < above.size(); ++h) {
      double sum = 0;
      for (const Bits& visible : below) sum += weight_of(stack[l], visible, above[h]);
      for (std::size_t v = 0; v < below.size(); ++v) next[v] += p[h] * weight_of(stack[l], below[v], above[h]) / sum;
    }
    p = next;
  }
  return p;
}

inline MachineStack small_belief_net(bool labelled = false) {
  MachineStack stack = {randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 1, 1.0),
                        randomized(make_rbm("bernoulli:3", "bernoulli:3", at::kDouble), 2, 1.0)};
  stack.push_back(labelled ? randomized(make_classification_rbm("bernoulli:3", 3, "bernoulli:2", at::kDouble), 3, 1.0)
                           : randomized(make_rbm("bernoulli:3", "bernoulli:2", at::kDouble), 3, 1.0));
  return stack;
}

// The same with a way up that is not that of its machines.
inline BeliefNet small_untied_net(bool labelled = false) {
  return {small_belief_net(labelled),
          {randomized(make_rbm("bernoulli:4", "bernoulli:3", at::kDouble), 11, 1.0),
           randomized(make_rbm("bernoulli:3", "bernoulli:3", at::kDouble), 12, 1.0)}};
}

// log p(x | h) and log q(h | x) of one machine.
inline double log_given_hidden(const BoltzmannMachine& machine, const Bits& visible, const Bits& hidden) {
  double total = 0;
  for (const Bits& other : all_bits(machine.unit(0).width())) total += weight_of(machine, other, hidden);
  return std::log(weight_of(machine, visible, hidden) / total);
}
inline double log_given_visible(const BoltzmannMachine& machine, const Bits& visible, const Bits& hidden) {
  double total = 0;
  for (const Bits& other : all_bits(hidden_width(machine))) total += weight_of(machine, visible, other);
  return std::log(weight_of(machine, visible, hidden) / total);
}

// log Σ_h e^{−E} / Z of the top machine; the label is summed out where none is given.
inline double log_top_probability(const BoltzmannMachine& top, const Bits& visible, std::int64_t label = -1) {
  const bool labelled = top.observed().size() == 2;
  const std::int64_t classes = labelled ? top.unit(top.observed()[1]).width() : 1;
  double sum = 0, total = 0;
  for (std::int64_t c = 0; c < classes; ++c)
    for (const Bits& hidden : all_bits(hidden_width(top))) {
      const std::int64_t held = labelled ? c : -1;
      if (label < 0 || label == c) sum += weight_of(top, visible, hidden, held);
      for (const Bits& other : all_bits(top.unit(0).width())) total += weight_of(top, other, hidden, held);
    }
  return std::log(sum / total);
}

// Σ_h q(h | v) [log p(v, h) − log q(h | v)] over all hidden states below the top machine; with a class, of log p(v, h,
// class).
inline double exact_bound(const BeliefNet& net, const Bits& visible, std::int64_t label = -1, std::size_t l = 0) {
  if (l + 1 == net.down.size()) return log_top_probability(net.top(), visible, label);
  double result = 0;
  for (const Bits& h : all_bits(hidden_width(net.down[l]))) {
    const double log_q = log_given_visible(net.up[l], visible, h);
    result += std::exp(log_q) * (log_given_hidden(net.down[l], visible, h) - log_q + exact_bound(net, h, label, l + 1));
  }
  return result;
}

// A machine with its two layers exchanged.
inline BoltzmannMachine turned_over(const BoltzmannMachine& machine) {
  BoltzmannMachine other = make_rbm(format("bernoulli:{}", hidden_width(machine)),
                                    format("bernoulli:{}", machine.unit(0).width()), at::kDouble);
  other.parameters()["visible.bias"].copy_(machine.parameters()["hidden.bias"]);
  other.parameters()["hidden.bias"].copy_(machine.parameters()["visible.bias"]);
  other.parameters()["visible_hidden.weights"].copy_(machine.parameters()["visible_hidden.weights"].t());
  return other;
}

inline at::Tensor to_rows(const std::vector<Bits>& states) {
  std::vector<at::Tensor> rows;
  for (const Bits& each : states) rows.push_back(at::tensor(each, at::kDouble));
  return at::stack(rows);
}

}  // namespace harmonium::support
