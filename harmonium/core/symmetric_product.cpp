#include "harmonium/core/symmetric_product.h"

namespace harmonium {

namespace {

constexpr std::int64_t smallest_block = 128;  // columns: below this a product is too small to be fast

}  // namespace

void symmetric_product_into(const at::Tensor& x, at::Tensor target) {
  const std::int64_t columns = x.size(1), half = columns / 2;
  // A device has the whole product sooner than several parts of it.
  if (half < smallest_block || !x.is_cpu()) {
    target.copy_(x.t().mm(x));
    return;
  }
  const at::Tensor left = x.narrow(1, 0, half), right = x.narrow(1, half, columns - half);
  symmetric_product_into(left, target.narrow(0, 0, half).narrow(1, 0, half));
  symmetric_product_into(right, target.narrow(0, half, columns - half).narrow(1, half, columns - half));
  const at::Tensor cross = left.t().mm(right);
  target.narrow(0, 0, half).narrow(1, half, columns - half).copy_(cross);
  target.narrow(0, half, columns - half).narrow(1, 0, half).copy_(cross.t());
}

at::Tensor symmetric_product(const at::Tensor& x) {
  at::Tensor result = at::empty({x.size(1), x.size(1)}, x.options());
  symmetric_product_into(x, result);
  return result;
}

}  // namespace harmonium
