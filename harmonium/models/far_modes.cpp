#include "harmonium/models/far_modes.h"

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"

namespace harmonium {

BoltzmannMachine make_far_modes(const FarModesOptions& options) {
  require(options.visible >= 2 && options.visible % 2 == 0,
          "far modes: half of the visible units are on in each, so their number is even, not {}", options.visible);
  require(options.units_per_mode >= 1 && options.other_units >= 0,
          "far modes: needs at least one unit for each mode and no fewer than zero others, not {} and {}",
          options.units_per_mode, options.other_units);
  const std::int64_t half = options.visible / 2, units = options.units_per_mode;
  BoltzmannMachine machine = make_rbm(format("bernoulli:{}", options.visible + options.free_visible),
                                      format("bernoulli:{}", 2 * units + options.other_units));
  const Key key = Key(options.seed).fold_in(0xFA2);
  at::Tensor sign = at::zeros({options.visible + options.free_visible, 1});
  sign.narrow(0, 0, options.visible).fill_(1);
  sign.index_fill_(0, permutation(key.fold_in(0), options.visible).narrow(0, 0, half), -1);
  Moments& p = machine.parameters();
  at::Tensor &w = p["visible_hidden.weights"], &b = p["hidden.bias"];
  w.copy_(options.other_weights * normal(key.fold_in(1), w.sizes(), at::kFloat));
  w.narrow(1, 0, units).copy_((options.weight * sign).expand({-1, units}));
  w.narrow(1, units, units).copy_((-options.weight * sign).expand({-1, units}));
  // Without these sums the small weights would prefer one mode, and base rates would point at it.
  p["visible.bias"].copy_(-0.5 * w.narrow(1, 2 * units, options.other_units).sum(1));
  b.copy_(-0.5 * w.sum(0));
  b.narrow(0, 0, 2 * units).fill_(options.reward - options.weight * static_cast<double>(half));
  return machine;
}

}  // namespace harmonium
