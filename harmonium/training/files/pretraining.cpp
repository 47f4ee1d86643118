#include "harmonium/training/files/pretraining.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/pretrained_chain.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/training/files/metrics_log.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// The stream of the run's seed that belongs to pretraining (those of training are in run.cpp).
constexpr std::uint64_t pretraining_stream = 5;

// What the hidden units say of every row: their probabilities given one draw of it.
Dataset probabilities(const BoltzmannMachine& rbm, const Dataset& below, Binarization binarization, const Key& key) {
  constexpr std::int64_t rows_at_once = 4096;
  Dataset above{.name = below.name + ", one layer up", .values = {}};
  if (below.rows() == 0) return above;
  std::vector<at::Tensor> parts;
  for (std::int64_t first = 0; first < below.rows(); first += rows_at_once) {
    const at::Tensor gray = below.slice(first, std::min(first + rows_at_once, below.rows())).to_float();
    const at::Tensor drawn = binarize(gray, binarization, key.fold_in(static_cast<std::uint64_t>(first)));
    parts.push_back(rbm.unit(1).mean(rbm.field(1, rbm.observe({drawn})), rbm.layer_parameters(1)));
  }
  above.values = at::cat(parts);
  return above;
}

RunConfig stage_config(const RunConfig& config, const std::pair<std::string, std::string>& layers, std::size_t stage) {
  RunConfig result = config;
  result.model = "rbm";
  result.layers = "none";
  result.visible = layers.first;
  result.hidden = layers.second;
  result.gradient = "pcd";  // what a deep machine can be trained with besides need not do for an RBM of twins
  result.updates = config.pretrain;
  result.pretrain = 0;
  result.labels = result.snapshots = result.track = "none";
  result.keep = "last";
  result.log_every = std::max<std::int64_t>(1, config.pretrain / 50);
  if (stage > 0) result.shrink = 0;
  result.seed = Key(config.seed).fold_in(pretraining_stream).fold_in(stage).bits() >> 1;
  return result;
}

}  // namespace

std::optional<PretrainedMachine> pretrain(const fs::path& folder, const RunConfig& config, const RunData& data,
                                          const RunHooks& hooks) {
  const auto layers = pretraining_rbms(chain_specs(config));
  std::vector<BoltzmannMachine> rbms;
  RunData stage_data = data;
  double seconds = 0;
  RunHooks quiet = hooks;
  quiet.snapshot = RunHooks().snapshot;
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    const fs::path home = folder / "pretrain" / std::to_string(stage + 1);
    const RunConfig own = stage_config(config, layers[stage], stage);
    if (!fs::exists(home / "model.safetensors")) {
      hooks.message(format("pretraining layer {} of {}: {} – {}, {} updates", stage + 1, layers.size(), own.visible,
                           own.hidden, own.updates));
      if (!run_training(home, own, "", stage_data, quiet).finished) return std::nullopt;
    }
    for (const MetricsRow& row : MetricsLog(home / "metrics.jsonl").read())
      if (row.update == own.updates) seconds += row.seconds;
    rbms.push_back(read_model(home).machine);
    if (stage + 1 == layers.size()) break;
    const Key key = Key(own.seed).fold_in(pretraining_stream);
    stage_data = {.train = probabilities(rbms.back(), stage_data.train, stage_data.binarization, key.fold_in(0)),
                  .valid = probabilities(rbms.back(), stage_data.valid, stage_data.binarization, key.fold_in(1)),
                  .binarization = Binarization::stochastic};
  }
  return PretrainedMachine{.machine = compose_chain(rbms), .seconds = seconds};
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
