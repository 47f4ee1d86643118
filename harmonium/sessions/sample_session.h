// Drawing from a model: chains that start, are left to forget it, are watched, and have their states taken.
#pragma once

#include <optional>
#include <string>

#include "harmonium/families/machine_file.h"
#include "harmonium/samplers/chains.h"
#include "harmonium/sessions/chain_trace.h"

namespace harmonium {

struct DrawPlan {
  SamplerOptions sampler;
  std::string start = "biases";  // biases: each unit by its bias alone; noise: every state alike; data: rows of data
  std::int64_t chains = 100, per_chain = 1;
  std::int64_t every = 1;      // steps between states of one chain
  std::int64_t sweeps = 1000;  // steps before the first
  std::int64_t trace = 0;      // steps that are watched after those; 0: none
  bool means = false;          // E[v | h] in place of v
  std::uint64_t seed = 0;
};

struct Drawn {
  at::Tensor visible;  // chains · per_chain rows, those of a chain one after the other
  std::optional<Diagnosis> diagnosis = std::nullopt;
  Chains::Notes notes = {};  // of the steps that were not watched
};

// Fails where the plan asks for what does not exist. Data are needed where this says so.
void check(const DrawPlan& plan);
[[nodiscard]] bool needs_data(const DrawPlan& plan);

// `data` (observed layers) and `classes` may be null. Throws RunFailure where Ctrl-C stops it.
[[nodiscard]] Drawn draw(const TrainedMachine& model, const DrawPlan& plan, const State* data,
                         const ClassAssigner* classes, const KnownUnits& known, const std::string& label, bool silent);

}  // namespace harmonium
