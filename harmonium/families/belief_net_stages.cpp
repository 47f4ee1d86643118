#include "harmonium/families/belief_net_stages.h"

#include <algorithm>

#include "harmonium/families/encoded_data.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/families/registry.h"
#include "harmonium/units/unit_types.h"

namespace harmonium {

std::vector<std::string> stage_units(const RunConfig& config) {
  std::vector<std::string> units;
  for (const std::string& item : split_layers(config.layers)) units.push_back(hidden_spec(item));
  return units;
}

RunConfig greedy_config(const RunConfig& config) {
  const RunConfig usual;
  RunConfig result = config;
  result.start = result.pretrain = "none";
  result.pretrain_updates = 0;
  result.updates = config.pretrain_updates;
  result.gradient = "pcd";
  result.sweeps = usual.sweeps;
  result.sweeps_final = usual.sweeps_final;
  result.mean_field_steps = usual.mean_field_steps;
  learn_layers_soon(result);
  result.log_every = std::max<std::int64_t>(1, config.pretrain_updates / 20);
  return result;
}

std::size_t count_stages(const RunConfig& config) { return stage_units(config).size(); }

std::string layers_text(const MachineStack& stack) {
  std::string text;
  for (const BoltzmannMachine& machine : stack) {
    if (!text.empty()) text += ',';
    text += hidden_text(machine.unit(machine.hidden().front()));
  }
  return text;
}

RunConfig stage_config(const RunConfig& config, std::size_t stage) {
  const std::vector<std::string> units = stage_units(config);
  const bool top = stage + 1 == units.size();
  RunConfig result = config;
  result.model = top && config.model == "classification_dbn" ? "classification_rbm" : "rbm";
  result.hidden = units.at(stage);
  result.layers = "none";
  result.keep = result.model == "classification_rbm" ? config.keep : "last";
  result.seed = Key(config.seed).fold_in(stage).bits() >> 1;  // a seed has 63 bits
  if (stage == 0) return result;
  result.visible = units.at(stage - 1);
  result.shrink = 0;
  result.binarize = make_unit(result.visible)->support() == Unit::Support::bits ? "stochastic" : "none";
  return result;
}

void learn_layers_soon(RunConfig& config) {
  const RunConfig usual;
  config.optimizer = "fang";
  // Not larger: at four times these rates layers begin classifiers worse than random weights do (docs/nets.md).
  const Rates rates = default_rates(config.optimizer);
  config.rate_bias = rates.bias;
  config.rate_weights = rates.weights;
  config.schedule = usual.schedule;
  config.momentum = usual.momentum;
  config.weight_decay = usual.weight_decay;
  config.weight_decay_l1 = usual.weight_decay_l1;
  config.averaging = usual.averaging;
  config.particles = config.batch;
}

void rehearse_stages(const RunConfig& config, const RunData& data) {
  constexpr std::int64_t few_rows = 200;
  RunData seen = data;
  for (std::size_t stage = 0; stage < count_stages(config); ++stage) {
    const RunConfig one = stage_config(config, stage);
    const Family& family = find_family(one.model);
    const std::unique_ptr<Model> machine = family.make(one, seen, {});
    (void)family.train(one, seen, *machine);
    seen = encode_data(machine->machine()->machine,
                       {.train = seen.train.first(few_rows), .valid = seen.valid, .binarization = seen.binarization});
  }
}

}  // namespace harmonium
