#include "harmonium/samplers/single_site.h"

#include "harmonium/kernels/site_sweep.h"

namespace harmonium {

at::Tensor single_site_sweep(const BoltzmannMachine& machine, std::size_t layer, const State& state, const Key& key,
                             const at::Tensor& field, double scale, const at::Tensor& held) {
  return site_sweep(key, state.layers[layer],
                    {.field = field,
                     .couplings = machine.couplings(layer),
                     .scale = scale,
                     .columns = machine.unit(layer).digit().columns,
                     .held = held});
}

}  // namespace harmonium
