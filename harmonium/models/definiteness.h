// Whether a machine has a finite Z. Real-valued (gaussian) units that are joined to each other are jointly Gaussian
// given all others, with their precisions on the diagonal and minus their weights beside it; Z is finite where that
// matrix is positive definite. In units in which every real unit alone has precision one it is I − N, with N the
// weights Λ^{-1/2} W Λ^{-1/2} between these layers, and the condition is that the largest eigenvalue of N is below one.
// It is linear in the natural parameters, so averages of definite machines, and lines between them, are definite as
// well.
//
// Other units take part by how fast their log-partition grows (Unit::growth): with κ in place of 1/λ the condition is
// enough for a finite Z, and necessary too for gaussian and spike_slab units. Units with bounded values (stepped) leave
// Z finite whatever the weights are; training keeps to the limit all the same, because chains would run to the end of
// their range. Units that do not grow (binary, softmax, cardinality, pooled) ask for nothing.
#pragma once

#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

// The largest eigenvalue of N: Z is finite where it is below one. 0 where no units that grow are joined.
[[nodiscard]] double coupling_strength(const BoltzmannMachine& machine);
// Fails, saying what to do, where Z is infinite or cannot be shown to be finite.
void require_finite_z(const BoltzmannMachine& machine);

// The largest strength that training keeps to.
inline constexpr double strongest_coupling = 1 - 1e-3;
// Brings weights that are too large back: between two layers singular values of N above the limit are set to it (the
// nearest machine in that scale), between more all weights among them are scaled. Says whether anything was changed.
// Cheap where norms show that all is well. constrain_() calls it after every step.
//
// With `known`, what was found out about earlier weights is remembered: ‖N‖ ≤ ‖N_then‖ + ‖N − N_then‖_F shows in two
// passes over the weights that all is still well, where the eigenvalues of a large N cost more than an update. What is
// done to the machine does not depend on what was remembered.
struct KnownStrength {
  at::Tensor weights;   // N_then between the one pair of layers; undefined: nothing is known
  double strength = 0;  // at least that of them
};
bool keep_definite_(BoltzmannMachine& machine, KnownStrength* known = nullptr);
// constrain_() of a machine that is constrained after every update.
void constrain_(BoltzmannMachine& machine, KnownStrength& known);

// The same of weights alone, W between two layers: N = diag(lower) W diag(upper) with the standard deviations √κ that
// units have alone. The largest singular value of N, and W with those above `limit` set to it, in place.
[[nodiscard]] double coupling_strength(const at::Tensor& W, const at::Tensor& lower, const at::Tensor& upper);
bool clip_coupling_(at::Tensor& W, const at::Tensor& lower, const at::Tensor& upper, double limit = strongest_coupling);

}  // namespace harmonium
