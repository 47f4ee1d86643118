// Which layers of a machine a walk keeps, and which are summed out in closed form at every state of those.
//
// Layers that share no edge, and have none inside, can be summed out together: one block of them is. A walk that is to
// be reversible redraws the summed layers and then the kept ones. Where kept layers are joined to each other, a row
// redraws them in their order or against it, by the throw of a coin: the two are each other's reverse, so that their
// mixture is reversible.
#pragma once

#include <functional>

#include "harmonium/core/key.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// Which layers to sum out: odd ones (of an RBM: the hidden layer) or even ones.
enum class SumOut { odd, even };

struct WalkedLayers {
  LayerSet kept, summed;
  bool joined = false;   // an edge joins kept layers to each other, or one to itself
  bool ordered = false;  // two different ones are joined, so that it matters which is redrawn first

  // Redraws the kept layers of all rows once: `redraw` is handed rows and the layers to redraw, one after another.
  using Redraw = std::function<void(State& rows, const LayerSet& in_turn, const Key& key)>;
  void sweep(State& state, const Key& key, const Redraw& redraw) const;
};

// Where odd layers are to be summed out and cannot be, even ones are, or none (a general Boltzmann machine). Even ones
// are refused where they cannot be.
[[nodiscard]] WalkedLayers walked_layers(const BoltzmannMachine& machine, SumOut sum_out = SumOut::odd);

}  // namespace harmonium
