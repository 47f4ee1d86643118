// Principal components: the linear code of so many numbers that loses least, for others to be held against.
#pragma once

#include "harmonium/data/dataset.h"

namespace harmonium {

class PrincipalComponents {
 public:
  // The `count` directions of largest variance of the rows (1 ≤ count ≤ columns), found in float64 from their
  // covariance, in pieces.
  PrincipalComponents(const Dataset& data, std::int64_t count);

  [[nodiscard]] at::Tensor encode(const at::Tensor& rows) const;       // rows × count
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const;  // rows × columns

 private:
  at::Tensor mean_, directions_;  // columns; columns × count, orthonormal
};

}  // namespace harmonium
