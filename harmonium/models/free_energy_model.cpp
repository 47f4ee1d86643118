#include "harmonium/models/free_energy_model.h"

#include "harmonium/core/error.h"

namespace harmonium {

double FreeEnergyModel::exact_log_z(const Moments&) const { fail("the exact log Z of this model is not known"); }

}  // namespace harmonium
