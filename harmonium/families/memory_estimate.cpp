#include "harmonium/families/memory_estimate.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/core/machine_limits.h"
#include "harmonium/core/memory_failure.h"
#include "harmonium/families/registry.h"

namespace harmonium {

namespace {

constexpr double bytes_a_number = 4;  // parameters and states are float32

// Numbers that an optimizer keeps or needs for a moment.
double optimizer_numbers(const RunConfig& config, const ModelSize& size) {
  const auto particles = static_cast<double>(config.particles);
  const std::string& name = config.optimizer;
  // Moments of all pairs of units, their average, covariance and factor.
  if (name == "fang") return 5.5 * size.units * size.units + 12 * size.weights;
  if (name == "fang_random") return 5.5 * size.units * size.units + 22 * size.weights;
  if (name == "diagonal" || name == "metric_free") return 10 * size.weights;
  if (name == "low_rank") return 3.5 * std::min(static_cast<double>(config.rank), particles) * size.weights;
  // A matrix of the visible units for every hidden unit.
  if (name == "block_diagonal") return 6 * size.weights * static_cast<double>(make_unit(config.visible)->width());
  if (name == "exact") return 8 * size.weights * size.weights;
  return 0;
}

double bytes_of(const Dataset& data) { return data.values.defined() ? static_cast<double>(data.values.nbytes()) : 0; }

}  // namespace

ModelSize size_of_chain(const std::vector<double>& widths) {
  ModelSize size;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    size.units += widths[i];
    if (i > 0) size.weights += widths[i] * widths[i - 1];
  }
  return size;
}

MemoryEstimate estimate_memory(const RunConfig& config, const RunData& data) {
  const Family& family = find_family(config.model);
  const ModelSize size = family.size(config);
  constexpr double copies = 16;  // θ, both moments, step, average, best, checkpoint and its bytes, …
  constexpr double watched_rows = 500, batch_copies = 2, particle_copies = 4, watched_copies = 2;
  const double particles = family.has("particles") ? static_cast<double>(config.particles) : 0;
  const double rows = batch_copies * static_cast<double>(config.batch) + particle_copies * particles +
                      watched_copies * std::min(watched_rows, static_cast<double>(data.train.rows()));
  return {.parameters = bytes_a_number * copies * size.weights,
          .optimizer = bytes_a_number * optimizer_numbers(config, size),
          .states = bytes_a_number * rows * size.units,
          .data = bytes_of(data.train) + bytes_of(data.valid)};
}

std::string MemoryEstimate::in_words(const RunConfig& config) const {
  return format("{} (parameters and their copies {}, @optimizer {} {}, @batch and @particles {}, data {})",
                bytes_text(total()), bytes_text(parameters), config.optimizer, bytes_text(optimizer),
                bytes_text(states), bytes_text(data));
}

void require_memory(const RunConfig& config, const RunData& data) {
  if (config.device != "cpu") return;  // a device has memory of its own, and says when it is full
  const MemoryEstimate need = estimate_memory(config, data);
  const auto there = static_cast<double>(usable_memory());
  require(need.total() <= there,
          "this training needs about {}, and this process may use {}; smaller @batch, @particles or @hidden need less",
          need.in_words(config), bytes_text(there));
}

}  // namespace harmonium
