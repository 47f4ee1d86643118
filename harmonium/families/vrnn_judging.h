// How good is a variational recurrent net: by particle filters (likelihood/particle_filter.h), by importance sampling
// of whole sequences, or by the bound that training climbs. All are lower bounds in expectation, per frame over all
// frames.
#pragma once

#include <string>
#include <vector>

#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/models/directed/vrnn.h"

namespace harmonium {

enum class SequenceMethod { particles, importance, bound };
// "particles" (also "auto"), "importance" or "bound", named neutrally in an error for all else.
[[nodiscard]] SequenceMethod sequence_method(const std::string& name);
// How an estimate by it calls itself.
[[nodiscard]] std::string name_of(SequenceMethod method);

// log p̂ of every frame given those before it, in the order of the data's rows, and their mean. Particle filters and
// importance sampling are two of `draws`/2 particles each: p̂ is their mean, and how far they are apart says how large
// its noise is. The bound is the mean of `bound_draws`.
inline constexpr std::int64_t bound_draws = 10;
[[nodiscard]] JudgedRows judge_sequences(const Vrnn& net, const Dataset& data, SequenceMethod method,
                                         std::int64_t draws, const Key& key, const Progress& progress);

// The bound's mean per frame of data: what training watches.
[[nodiscard]] double mean_bound(const Vrnn& net, const Dataset& data, std::int64_t draws, const Key& key);

// Both sides, in nats per frame, on sequences that the net draws itself, of these lengths.
[[nodiscard]] OwnDrawBounds own_sequence_bounds(const Vrnn& net, std::vector<std::int64_t> lengths,
                                                SequenceMethod method, std::int64_t draws, const Key& key);

[[nodiscard]] std::vector<Evaluation> judge_vrnn(const Vrnn& net, const Unit& visible,
                                                 const std::vector<const TestData*>& tests,
                                                 const EstimationOptions& options, Watcher& watcher);

}  // namespace harmonium
