// What is timed: images and a machine that has learnt them, because states of a trained machine are not those of a
// fresh one. MNIST where it is at hand (HARMONIUM_DATA, or the tool's own cache), else the embedded digits, enlarged.
#pragma once

#include "bench/bench.h"
#include "harmonium/data/dataset.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/training/make_training.h"

namespace harmonium::bench {

struct Subject {
  std::string name;  // of the images
  Dataset images;    // gray, 28×28
  std::int64_t hidden;
};

[[nodiscard]] Subject subject(const Options& options);
// PCD with as many particles as the batch has rows; images are binarized anew at every update.
[[nodiscard]] Training training_of(const Subject& subject, const std::string& optimizer, std::int64_t batch);
// A machine after some updates, and chains that have run on from its data.
[[nodiscard]] BoltzmannMachine trained_machine(const Options& options, const Subject& subject);
[[nodiscard]] State states_of(const BoltzmannMachine& machine, const Subject& subject, std::int64_t chains);

}  // namespace harmonium::bench
