#include "harmonium/inference/enumerated_posterior.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_hidden_states = 1 << 15;
constexpr std::int64_t pairs_at_once = 1 << 22;  // of a row and a state

EnumerationPlan all_hidden_states(const BoltzmannMachine& machine) {
  EnumerationPlan plan{.enumerated = machine.hidden(), .summed = {}, .states = 1};
  for (const std::size_t layer : plan.enumerated) {
    const auto count = machine.unit(layer).state_count();
    require(count.has_value(), "the hidden layer '{}' ({}) has no finite number of states to be enumerated",
            machine.layers()[layer].name, machine.unit(layer).spec());
    plan.states *= *count;
  }
  return plan;
}

}  // namespace

void require_few_hidden_states(const BoltzmannMachine& machine) {
  const EnumerationPlan plan = all_hidden_states(machine);
  require(plan.states <= static_cast<double>(most_hidden_states),
          "@inference exact visits every state of the hidden layers for every row, at most {} (15 binary units), and "
          "this model has more; use @inference gibbs or mean_field",
          most_hidden_states);
}

Moments enumerated_data_moments(const BoltzmannMachine& given, const State& data) {
  require_few_hidden_states(given);
  const BoltzmannMachine machine = given.precise_on_cpu();
  const EnumerationPlan plan = all_hidden_states(machine);
  const LayerSet hidden = plan.enumerated, observed = machine.observed();
  const State states = enumerated_states(machine, plan, at::arange(static_cast<std::int64_t>(plan.states), at::kLong));
  // −E of a row and a state is a part of the row, which cancels, one of the state, and what data add to the fields.
  at::Tensor own = machine.edge_potential(states, hidden);
  for (const std::size_t layer : hidden)
    own = own + machine.unit(layer).log_factor(states.layers[layer], machine.layer_parameters(layer));
  State rows;
  rows.layers.resize(machine.layers().size());
  for (const std::size_t layer : observed) rows.layers[layer] = on_cpu(data.layers[layer]).to(at::kDouble);

  const std::int64_t count = data.rows(), at_once = std::max<std::int64_t>(1, pairs_at_once / own.size(0));
  at::Tensor of_states = at::zeros_like(own);  // how often each occurs
  std::vector<std::vector<at::Tensor>> means(machine.layers().size());
  for (std::int64_t first = 0; first < count; first += at_once) {
    State part = rows;
    for (const std::size_t layer : observed)
      part.layers[layer] = rows.layers[layer].narrow(0, first, std::min(at_once, count - first));
    at::Tensor log_weights = own.unsqueeze(0).expand({part.rows(), own.size(0)});
    for (const std::size_t layer : hidden) {
      const at::Tensor none = at::zeros({machine.unit(layer).width()}, at::kDouble);
      log_weights = log_weights + machine.add_input(none, layer, part, observed).mm(states.layers[layer].t());
    }
    const at::Tensor weights = at::softmax(log_weights, 1);
    of_states += weights.sum(0);
    for (const std::size_t layer : hidden) means[layer].push_back(weights.mm(states.layers[layer]));
  }
  of_states /= static_cast<double>(count);

  Moments result;
  State joint = rows;  // with hidden layers by their means given the row
  for (const std::size_t layer : hidden) joint.layers[layer] = at::cat(means[layer]);
  const auto is_hidden = [&](std::size_t layer) { return !machine.layers()[layer].observed; };
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const std::vector<at::Tensor> unary = is_hidden(layer)
                                              ? machine.unit(layer).moments(states.layers[layer], of_states)
                                              : machine.unit(layer).moments(rows.layers[layer], {});
    for (std::size_t i = 0; i < unary.size(); ++i)
      result.insert(machine.topology().layers[layer].parameters[i], unary[i]);
  }
  for (const EdgeInfo& edge : machine.topology().edges) {
    const bool both = is_hidden(edge.lower) && is_hidden(edge.upper);
    const State& from = both ? states : joint;
    const at::Tensor lower =
        both ? from.layers[edge.lower] * of_states.unsqueeze(1) : from.layers[edge.lower] / static_cast<double>(count);
    result.insert(edge.weights, edge.masked(lower.t().mm(from.layers[edge.upper])));
  }
  return result.to(given.options());
}

}  // namespace harmonium
