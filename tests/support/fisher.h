// Mean and covariance of all statistics, state by state in a plain loop: the second derivation of a Fisher information.
#pragma once

#include "tests/support/brute_force.h"

namespace harmonium::support {

struct PlainFisher {
  at::Tensor mean, covariance;  // in the order of Moments::flatten()
};

inline PlainFisher plain_fisher(const BoltzmannMachine& machine) {
  const BruteForce all(machine);
  std::vector<at::Tensor> rows;
  for (const Configuration& x : all.configurations) rows.push_back(expected_statistics(machine, {x}, {1.0}).flatten());
  const at::Tensor g = at::stack(rows), p = to_tensor({all.probabilities});
  const at::Tensor mean = p.mm(g)[0], centered = g - mean;
  return {mean, (centered * p.t()).t().mm(centered)};
}

}  // namespace harmonium::support
