// The covariance that a model implies around single rows, as pictures.
//
// Hidden units at the means that a row gives them leave a Gaussian with precision Λ (FreeEnergyModel::precision_given):
// in the units of the data its covariance is AᵀΛ⁻¹A with A the linear part of the map back. Eigenvectors with large
// variance are the directions in which the model lets the row vary.
#pragma once

#include <optional>

#include "harmonium/data/whitening.h"
#include "harmonium/families/model.h"
#include "harmonium/models/free_energy_model.h"

namespace harmonium {

// For some rows, one line of pictures each: the row less the mean, then the eigenvectors. Nothing where the model
// implies no such covariance, where there are no rows, or where a matrix would take too long.
[[nodiscard]] std::optional<Exhibit> covariance_eigenvectors(const FreeEnergyModel& model, const Moments& theta,
                                                             const Whitening& whitening, const Dataset& rows);

}  // namespace harmonium
