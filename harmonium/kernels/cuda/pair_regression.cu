#include "harmonium/kernels/cuda/pair_regression.h"

#include "harmonium/kernels/cuda/launch.cuh"

namespace harmonium::cuda {

namespace {

template <class T>
__global__ void regress(const PairRegression<T> fit) {
  const std::int64_t all = fit.rows * fit.columns;
  for (std::int64_t k = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; k < all;
       k += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t i = k / fit.columns, j = k % fit.columns;
    const T p = fit.row_mean[i], q = fit.column_mean[j], r = fit.product_mean[i * fit.stride + j];
    const T first = fit.row_variance[i], second = fit.column_variance[j], covariance = r - p * q;
    T with_first = r - r * p, with_second = r - r * q, own = r - r * r;
    if (fit.centered) {
      own += q * q * first + p * p * second - 2 * q * with_first - 2 * p * with_second + 2 * p * q * covariance;
      with_first -= q * first + p * covariance;
      with_second -= q * covariance + p * second;
    }
    const T first_damped = first + fit.damping, second_damped = second + fit.damping;
    const T determinant = first_damped * second_damped - covariance * covariance;
    const T alpha = (second_damped * with_first - covariance * with_second) / determinant;
    const T beta = (first_damped * with_second - covariance * with_first) / determinant;
    fit.variance[k] = own + fit.damping - alpha * with_first - beta * with_second;
    fit.on_first[k] = fit.centered ? alpha + q : alpha;
    fit.on_second[k] = fit.centered ? beta + p : beta;
  }
}

}  // namespace

template <class T>
void launch_pair_regression(const PairRegression<T>& fit, Stream stream) {
  regress<T><<<blocks_for(fit.rows * fit.columns), threads_per_block, 0, stream>>>(fit);
  check_launch("regressions of products");
}

template void launch_pair_regression(const PairRegression<float>&, Stream);
template void launch_pair_regression(const PairRegression<double>&, Stream);

}  // namespace harmonium::cuda
