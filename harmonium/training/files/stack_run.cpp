#include "harmonium/training/files/stack_run.h"

#include <algorithm>
#include <sstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/training/files/stages.h"
#include "harmonium/training/files/up_down_run.h"
#include "harmonium/training/net_error.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/gaussian.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// Hidden layers from the bottom up as unit types.
std::vector<std::string> stage_units(const RunConfig& config) {
  std::vector<std::string> units;
  std::istringstream text(config.layers);
  for (std::string item; std::getline(text, item, ',');) {
    const bool number = !item.empty() && item.find_first_not_of("0123456789") == std::string::npos;
    units.push_back(number ? "bernoulli:" + item : item);
  }
  return units;
}

Dataset encode(const BoltzmannMachine& machine, const Dataset& data, Binarization binarization) {
  if (data.rows() == 0) return data;
  constexpr std::int64_t rows_at_once = 2000;
  Dataset result{.name = data.name, .values = {}, .labels = data.labels};
  result.values = at::empty({data.rows(), machine.unit(machine.hidden().front()).width()}, at::kFloat);
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const std::int64_t end = std::min(first + rows_at_once, data.rows());
    result.values.narrow(0, first, end - first)
        .copy_(up_means({machine}, shown_values(data.slice(first, end), binarization)).back());
  }
  return result;
}

}  // namespace

bool trains_stack(const RunConfig& config) { return config.model == "dbn" || config.model == "classification_dbn"; }

std::size_t count_stages(const RunConfig& config) { return stage_units(config).size(); }

std::string layers_text(const MachineStack& stack) {
  std::string text;
  for (const BoltzmannMachine& machine : stack) {
    const std::string spec = machine.unit(machine.hidden().front()).spec(), bits = "bernoulli:";
    text += (text.empty() ? "" : ",") + (spec.starts_with(bits) ? spec.substr(bits.size()) : spec);
  }
  return text;
}

void resolve_stack(RunConfig& config) {
  if (tunes_stack(config)) resolve_up_down(config);
  require(config.layers != "none" && !config.layers.empty(),
          "--model {} needs --layers: its hidden layers from the bottom up, such as 500,500,2000", config.model);
  require(config.hidden == RunConfig().hidden || config.hidden == "none",
          "--hidden {}: a {} has several hidden layers; give them all by --layers", config.hidden, config.model);
  config.hidden = "none";
  require(config.snapshots == "none" && config.track == "none",
          "--snapshots and --track are about one machine, and --model {} trains one after the other", config.model);
  require(config.keep != "best" || config.model == "classification_dbn",
          "--keep best chooses by classification error; it needs --model classification_dbn");
  for (const std::string& spec : stage_units(config)) {
    try {
      const auto unit = make_unit(spec);
      require(
          dynamic_cast<const Bernoulli*>(unit.get()) != nullptr || dynamic_cast<const Gaussian*>(unit.get()) != nullptr,
          "layers of a stack have bernoulli or gaussian units");
    } catch (const Error& error) {
      fail("--layers {}: {}", config.layers, error.what());
    }
  }
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
  result.binarize = result.visible.starts_with("bernoulli") ? "stochastic" : "none";
  return result;
}

RunData encode_data(const BoltzmannMachine& machine, const RunData& data) {
  const bool bits = machine.unit(machine.hidden().front()).spec().starts_with("bernoulli");
  return {.train = encode(machine, data.train, data.binarization),
          .valid = encode(machine, data.valid, data.binarization),
          .binarization = bits ? Binarization::stochastic : Binarization::none};
}

void check_stack_config(const RunConfig& config, const RunData& data) {
  if (tunes_stack(config)) {
    check_up_down_config(config, data);
    return;
  }
  // A rehearsal: all stages on a few rows, each machine as it begins.
  constexpr std::int64_t few_rows = 200;
  RunData seen = data;
  for (std::size_t stage = 0; stage < count_stages(config); ++stage) {
    const RunConfig one = stage_config(config, stage);
    check_config(one, seen);
    seen = encode_data(initial_model(one, seen).machine,
                       {.train = seen.train.first(few_rows), .valid = seen.valid, .binarization = seen.binarization});
  }
}

RunResult run_stack_training(const fs::path& folder, const RunConfig& config, const ConfigText& config_text,
                             const RunData& data, const RunHooks& hooks) {
  if (tunes_stack(config)) return run_up_down(folder, config, config_text, data, hooks);
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw RunFailure(format("cannot create the run folder {}: {}", folder.string(), failure.message()));
  if (!fs::exists(folder / "config.toml")) write_file_atomically(folder / "config.toml", config_text(config));
  const Stages stages{
      .count = count_stages(config),
      .config = [&](std::size_t stage) { return stage_config(config, stage); },
      .encode = [](const fs::path& place, const RunData& seen) { return encode_data(read_model(place).machine, seen); },
      .updates = config.updates};
  const RunResult total = run_stages(folder, stages, config_text, data, hooks);
  if (!total.finished) return total;
  StackModel stack{.machines = {}, .kind = config.model, .image = data.train.image};
  for (std::size_t stage = 0; stage < stages.count; ++stage)
    stack.machines.push_back(read_model(stage_folder(folder, stage)));
  stack.notes = stack.machines.front().notes;
  stack.notes["updates"] = std::to_string(total.updates);
  stack.notes["seed"] = std::to_string(config.seed);
  write_stack(folder / "model.safetensors", stack);
  return total;
}

}  // namespace harmonium
