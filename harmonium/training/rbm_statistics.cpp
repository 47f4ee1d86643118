#include "harmonium/training/rbm_statistics.h"

namespace harmonium {

RbmStatistics::RbmStatistics(const BoltzmannMachine& machine, const State& particles, ParticleSource source)
    : ParticleStatistics(machine.topology(), machine.parameters(), std::move(source)) {
  const std::int64_t visible = machine.unit(0).width(), hidden = machine.unit(1).width();
  units_ = at::empty({particles.rows(), visible + hidden}, particles.layers[1].options());
  at::Tensor means = units_.narrow(1, 0, visible);
  at::addmm_out(means, machine.layer_parameters(0)[0], particles.layers[1],
                machine.parameters()[machine.topology().edges[0].weights].t());
  means.sigmoid_();
  units_.narrow(1, visible, hidden).copy_(particles.layers[1]);
  mean_ = units_.mean(0);
}

at::Tensor RbmStatistics::unary_second_moment() const {
  at::Tensor result = units_.t().mm(units_).div_(static_cast<double>(units_.size(0)));
  // Units are 0 or 1, so that E[x²] = E[x]: of means it would lack their variance.
  result.diagonal().copy_(mean_);
  return result;
}

}  // namespace harmonium
