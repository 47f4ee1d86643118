#include "harmonium/geometry/identity.h"

namespace harmonium {

Direction Identity::solve(const Moments& gradient) const { return without_split(topology_, gradient); }

at::Tensor Identity::to_dense() const { return at::eye(shape_.dimension(), at::kDouble); }

}  // namespace harmonium
