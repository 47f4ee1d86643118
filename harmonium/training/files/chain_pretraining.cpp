#include "harmonium/training/files/chain_pretraining.h"

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/pretrained_chain.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/training/files/stack_run.h"
#include "harmonium/training/files/stages.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// The stream of the run's seed that belongs to pretraining (those of training are in run.cpp).
constexpr std::uint64_t pretraining_stream = 5;

}  // namespace

RunConfig chain_stage_config(const RunConfig& config, std::size_t stage) {
  const auto layers = pretraining_rbms(chain_specs(config)).at(stage);
  RunConfig result = config;
  result.model = "rbm";
  result.layers = "none";
  result.visible = layers.first;
  result.hidden = layers.second;
  result.gradient = "pcd";  // what a deep machine can be trained with besides need not do for an RBM of twins
  result.mean_field_steps = 0;
  result.updates = config.pretrain_updates;
  result.pretrain = "none";
  result.pretrain_updates = 0;
  // The joint training's rates may be small for reasons of its own; those that do for an RBM are known.
  const Rates rates = default_rates(config.optimizer);
  result.rate_bias = std::max(config.rate_bias, rates.bias);
  result.rate_weights = std::max(config.rate_weights, rates.weights);
  result.labels = result.snapshots = result.track = "none";
  result.keep = "last";
  result.log_every = std::max<std::int64_t>(1, config.pretrain_updates / 50);
  if (stage > 0) {
    result.shrink = 0;
    result.binarize = "stochastic";
  }
  result.seed = Key(config.seed).fold_in(pretraining_stream).fold_in(stage).bits() >> 1;
  return result;
}

Rates joint_rates(const RunConfig& config) {
  const Rates usual = default_rates(config.optimizer);
  if (config.optimizer != "fang") return usual;
  // MNIST: 200 and 100 hidden units keep what they know at the usual rates (0.05 for biases, 0.005 for weights); 500
  // and 1000 lose it at 0.03 and 0.003 and at 0.003 and 0.003, and keep it at 0.005 and 0.0005 and at 0.001 and 0.001.
  constexpr double few = 300;
  double hidden = 0;
  const std::vector<std::string> specs = chain_specs(config);
  for (std::size_t layer = 1; layer < specs.size(); ++layer) {
    check_unit("--layers", config.layers, specs[layer]);
    hidden += static_cast<double>(make_unit(specs[layer])->width());
  }
  const double share = few / std::max(few, hidden);
  return {.bias = usual.bias * share * share, .weights = usual.weights * share};
}

RunResult pretrain_chain(BoltzmannMachine& machine, const fs::path& folder, const RunConfig& config,
                         const ConfigText& config_text, const RunData& data, const RunHooks& hooks) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw RunFailure(format("cannot create the run folder {}: {}", folder.string(), failure.message()));
  write_file_atomically(folder / "config.toml", config_text(config));
  RunHooks quiet = hooks;
  quiet.snapshot = RunHooks().snapshot;
  const Stages stages{
      .count = pretraining_rbms(chain_specs(config)).size(),
      .config = [&](std::size_t stage) { return chain_stage_config(config, stage); },
      .encode = [](const fs::path& place, const RunData& seen) { return encode_data(read_model(place).machine, seen); },
      .updates = config.pretrain_updates};
  const fs::path place = folder / "pretraining";
  RunResult result = run_stages(place, stages, config_text, data, quiet);
  if (!result.finished) return result;
  std::vector<BoltzmannMachine> rbms;
  for (std::size_t stage = 0; stage < stages.count; ++stage)
    rbms.push_back(read_model(stage_folder(place, stage)).machine);
  const BoltzmannMachine chain = compose_chain(rbms);
  for (const auto& [name, value] : chain.parameters().entries()) machine.parameters()[name].copy_(value);
  hooks.message("the layers are learnt; now all of them together");
  return result;
}

NamedTensors chains_of_pretrained(const BoltzmannMachine& machine, const RunConfig& config, const RunData& data) {
  if (config.gradient != "pcd" && config.gradient != "fpcd") return {};
  constexpr std::int64_t sweeps = 200;
  const Key key = Key(config.seed).fold_in(pretraining_stream).fold_in(1000);
  const at::Tensor rows = at::remainder(at::arange(config.particles, at::kLong), data.train.rows());
  const at::Tensor chosen = permutation(key.fold_in(0), data.train.rows()).index_select(0, rows);
  State state = machine.independent_sample(key.fold_in(1), config.particles);
  state.layers[0] = binarize(data.train.gather(chosen), data.binarization, key.fold_in(2));
  (void)sample_layers(machine, state, key.fold_in(3), machine.hidden());
  gibbs(machine, state, key.fold_in(4), sweeps);
  NamedTensors chains;
  for (std::size_t layer = 0; layer < state.layers.size(); ++layer)
    chains.emplace_back(format("particles.{}", layer), state.layers[layer].to(find_device(config.device)));
  return chains;
}

}  // namespace harmonium
