#include "harmonium/models/free_energy_model.h"

#include "harmonium/core/error.h"

namespace harmonium {

double FreeEnergyModel::exact_log_z(const Moments&) const { fail("the exact log Z of this model is not known"); }

void FreeEnergyModel::gibbs_(at::Tensor&, const Moments&, const Key&, double) const {
  fail("this model has no exact Gibbs sampling; use Hamiltonian Monte Carlo");
}

}  // namespace harmonium
