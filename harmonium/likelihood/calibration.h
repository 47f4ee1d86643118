// Do estimates keep their promises? Many random machines, small enough to know everything about them exactly.
//
// Machine i is a binary RBM with weights N(0, stiffness²), stiffness from weak to stiff over the machines, and biases
// that make it the ±1 machine with weak fields (half of the units on): the stiffer, the more and the deeper its modes.
#pragma once

#include <vector>

#include "harmonium/likelihood/estimate.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

struct CalibrationOptions {
  std::int64_t machines = 200;
  std::int64_t visible = 10, hidden = 8;
  double weakest = 0.1, stiffest = 3;  // geometric from one to the other
  // For the intervals: enough of both.
  std::int64_t chains = 100, betas = 1'000;
  // For the bounds: few to many β, and few chains, so that the biases show.
  std::vector<std::int64_t> ladder = {1, 4, 16, 64, 256};
  std::int64_t ladder_chains = 10;
  std::int64_t rows = 100;  // of RAISE, drawn from the model
  std::uint64_t seed = 0;
  Progress progress = {};
};

struct CalibratedMachine {
  double stiffness = 0;
  double log_z = 0;           // exact
  Estimate ais, reverse_ais;  // with enough β; reverse from exact draws
  // For each number of β in the ladder, difference to the exact value:
  std::vector<double> forward, reverse;  // log Z by AIS, and by reverse AIS from exact draws
  std::vector<double> raise;             // RAISE's bound on the mean log-likelihood of rows drawn from the model

  [[nodiscard]] bool covered_by(const Estimate& estimate) const {
    return estimate.low <= log_z && log_z <= estimate.high;
  }
};

[[nodiscard]] BoltzmannMachine calibration_machine(const CalibrationOptions& options, std::int64_t number);

[[nodiscard]] std::vector<CalibratedMachine> calibrate(const CalibrationOptions& options);

}  // namespace harmonium
