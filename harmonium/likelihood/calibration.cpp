#include "harmonium/likelihood/calibration.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/likelihood/raise.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/exact_sample.h"

namespace harmonium {

namespace {

double stiffness_of(const CalibrationOptions& options, std::int64_t number) {
  const double fraction =
      options.machines > 1 ? static_cast<double>(number) / static_cast<double>(options.machines - 1) : 0;
  return options.weakest * std::pow(options.stiffest / options.weakest, fraction);
}

CalibratedMachine look_at(const CalibrationOptions& options, std::int64_t number) {
  const BoltzmannMachine machine = calibration_machine(options, number);
  const BaseModel base = uniform_base(machine);
  CalibratedMachine result{.stiffness = stiffness_of(options, number),
                           .log_z = exact_log_z(machine).value,
                           .ais = {},
                           .reverse_ais = {},
                           .forward = {},
                           .reverse = {},
                           .raise = {}};
  const Key key = Key(options.seed).fold_in(0xCA1).fold_in(static_cast<std::uint64_t>(number));
  const AnnealingOptions annealing{.chains_at_once = options.chains, .seed = key.bits()};
  const AnnealingPath fine(base, {machine}, linear_schedule(options.betas));
  result.ais = ais(fine, options.chains, annealing).log_z;
  result.reverse_ais = reverse_ais(fine, exact_sample(machine, key.fold_in(0), options.chains), annealing).log_z;
  for (const std::int64_t betas : options.ladder) {
    const AnnealingPath path(base, {machine}, linear_schedule(betas));
    const Key rung = key.fold_in(static_cast<std::uint64_t>(betas));
    result.forward.push_back(ais(path, options.ladder_chains, annealing).log_z.value - result.log_z);
    result.reverse.push_back(
        reverse_ais(path, exact_sample(machine, rung.fold_in(0), options.ladder_chains), annealing).log_z.value -
        result.log_z);
    const State rows = machine.observe({exact_sample(machine, rung.fold_in(1), options.rows).layers[0]});
    const double exact = log_unnormalized(machine, rows).mean().item<double>() - result.log_z;
    result.raise.push_back(raise(path, rows, 1, annealing).log_likelihood.value - exact);
  }
  return result;
}

}  // namespace

BoltzmannMachine calibration_machine(const CalibrationOptions& options, std::int64_t number) {
  BoltzmannMachine machine =
      make_rbm(format("bernoulli:{}", options.visible), format("bernoulli:{}", options.hidden), at::kDouble);
  const Key key = Key(options.seed).fold_in(0x3AC).fold_in(static_cast<std::uint64_t>(number));
  Moments& p = machine.parameters();
  at::Tensor &w = p["visible_hidden.weights"], &a = p["visible.bias"], &b = p["hidden.bias"];
  constexpr double field = 0.3;
  w.copy_(stiffness_of(options, number) * normal(key.fold_in(0), w.sizes(), at::kDouble));
  a.copy_(-0.5 * w.sum(1) + field * normal(key.fold_in(1), a.sizes(), at::kDouble));
  b.copy_(-0.5 * w.sum(0) + field * normal(key.fold_in(2), b.sizes(), at::kDouble));
  return machine;
}

std::vector<CalibratedMachine> calibrate(const CalibrationOptions& options) {
  require(options.machines >= 1, "calibration needs at least one machine, not {}", options.machines);
  require(options.weakest > 0 && options.stiffest >= options.weakest,
          "calibration: stiffness goes from a positive number ({}) up ({})", options.weakest, options.stiffest);
  std::vector<CalibratedMachine> result;
  for (std::int64_t i = 0; i < options.machines; ++i) {
    result.push_back(look_at(options, i));
    if (options.progress) options.progress(i + 1, options.machines);
  }
  return result;
}

}  // namespace harmonium
