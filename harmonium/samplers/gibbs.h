// Block Gibbs sampling: every block of mutually independent layers is redrawn given all others, block after block.
//
// One sweep visits the blocks in order (an RBM: visible given hidden, then hidden given visible) and leaves the
// machine's distribution invariant. Cost per sweep and row: two products with every weight matrix. A layer with an edge
// inside is redrawn unit by unit (single_site.h).
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Runs `sweeps` sweeps on `state` in place; clamped layers keep their values.
void gibbs(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps = 1,
           const LayerSet& clamped = {});
// The same, and the average statistics of the rows it ends in, with the block drawn last (if it has no edge inside) by
// its conditional expectation.
[[nodiscard]] Moments walk_and_average(const BoltzmannMachine& machine, State& state, const Key& key,
                                       std::int64_t sweeps = 1);
// The same, with `scale` times the average added to `target`.
void walk_and_add_(Moments& target, double scale, const BoltzmannMachine& machine, State& state, const Key& key,
                   std::int64_t sweeps = 1);

// Draws the given layers (a block, or part of one) once, given the others, and returns their fields.
Fields sample_layers(const BoltzmannMachine& machine, State& state, const Key& key, const LayerSet& layers);

// Known values of some units: per layer a tensor (rows × width, or 1 × width) with NaN where a unit is free, undefined
// where the whole layer is. A softmax group is known as a whole or not at all.
using KnownUnits = std::vector<at::Tensor>;

// Gibbs sampling of the free units given the known ones: units of a layer are independent given the other layers, so
// drawing all of them and putting the known values back is a draw of the free ones. In a layer with an edge inside the
// known ones are passed over.
void conditional_gibbs(const BoltzmannMachine& machine, State& state, const Key& key, std::int64_t sweeps,
                       const KnownUnits& known);

}  // namespace harmonium
