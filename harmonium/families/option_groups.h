// Names of options that families share, by what they are about (families/run_config.h has the options themselves).
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace harmonium::option_groups {

using Names = std::vector<std::string>;

// Every family has these.
[[nodiscard]] inline Names common() {
  return {"data",
          "valid",
          "binarize",
          "shrink",
          "limit",
          "label_column",
          "scale",
          "shape",
          "transpose",
          "first_label",
          "first_category",
          "model",
          "visible",
          "updates",
          "batch",
          "averaging",
          "keep",
          "seed",
          "device",
          "precision",
          "log_every",
          "checkpoint_every",
          "checkpoint_minutes",
          "optimizer",
          "rate_weights",
          "rate_bias",
          "schedule",
          "schedule_tau",
          "momentum",
          "weight_decay",
          "weight_decay_l1"};
}
// Models with a likelihood that can be followed during training.
[[nodiscard]] inline Names tracked() { return {"snapshots", "track", "track_chains", "track_betas"}; }
// Data moments minus model moments.
[[nodiscard]] inline Names contrastive() {
  return {"gradient", "particles", "sweeps",     "sweeps_final",   "mean_field_steps",
          "rungs",    "fast_rate", "fast_decay", "initial_weights"};
}
// Natural gradients.
[[nodiscard]] inline Names metric() {
  return {"damping", "damping_of", "statistics_every", "statistics_averaging", "refit_every", "rank", "iterations"};
}
[[nodiscard]] inline Names sparsity() { return {"sparsity_target", "sparsity_cost"}; }

[[nodiscard]] inline Names joined(std::initializer_list<Names> groups) {
  Names all;
  for (const Names& each : groups) all.insert(all.end(), each.begin(), each.end());
  return all;
}

}  // namespace harmonium::option_groups
