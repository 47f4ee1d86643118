#include "harmonium/sessions/sample_data.h"

#include <algorithm>
#include <filesystem>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

namespace {

std::int64_t limited(std::int64_t asked, std::int64_t most) { return asked > 0 ? std::min(asked, most) : most; }

}  // namespace

std::optional<DataSource> find_data(const std::string& given, const std::string& model_path) {
  if (!given.empty()) return DataSource{.spec = given};
  namespace fs = std::filesystem;
  // A run, its model, or one of its snapshots.
  const fs::path path = fs::absolute(model_path);
  for (const fs::path& folder : {path, path.parent_path(), path.parent_path().parent_path()}) {
    if (!RunFolder(folder).is_run()) continue;
    RunConfig config;
    read_toml(RunFolder(folder).config(), config);
    // Gray values learnt as they are still have to become states of binary units here.
    return DataSource{.spec = config.data,
                      .binarize = config.binarize == "none" ? "auto" : config.binarize,
                      .reading = reading_of(config),
                      .limit = config.limit};
  }
  return std::nullopt;
}

SteeringData open_steering_data(const DataSource& source, const BoltzmannMachine& machine) {
  const TestData test = open_test_data({.spec = source.spec, .limit = limited(source.limit, steering_rows)},
                                       {.binarize = source.binarize, .reading = source.reading}, machine.unit(0));
  return {.spec = test.spec,
          .binarization = test.binarization,
          .rows = test.rows.rows(),
          .state = observed_state(machine, test.rows, test.spec)};
}

std::optional<std::size_t> find_label_layer(const BoltzmannMachine& machine) {
  const LayerSet observed = machine.observed();
  if (observed.size() != 2 || machine.unit(observed[1]).classes() == 0) return std::nullopt;
  return observed[1];
}

ClassAssigner::ClassAssigner(const BoltzmannMachine& machine, std::size_t label_layer)
    : classes_(machine.unit(label_layer).width()),
      how_(format("the model's own layer '{}'", machine.layers()[label_layer].name)),
      label_layer_(label_layer) {}

ClassAssigner::ClassAssigner(const BoltzmannMachine& machine, const DataSource& source) {
  const std::int64_t rows = limited(source.limit, labelled_rows);
  const Dataset data = open_dataset(source.spec, {.limit = rows, .reading = reading_for(source.spec, source.reading)});
  require(data.labels.defined(), "--labels {}: the data have no labels", source.spec);
  const TestData bits = open_test_data({.spec = source.spec, .limit = rows},
                                       {.binarize = source.binarize, .reading = source.reading}, machine.unit(0));
  nearest_.emplace(bits.rows.to_float().to(machine.options()), data.labels);
  classes_ = nearest_->classes();
  how_ = format("the label of the nearest of {} rows of {}", nearest_->rows(), source.spec);
}

NearestLabelled::Assignment ClassAssigner::assign(const State& state) const {
  if (nearest_) return nearest_->assign(state.layers[0]);
  return {state.layers[label_layer_].argmax(1), {}};
}

}  // namespace harmonium
