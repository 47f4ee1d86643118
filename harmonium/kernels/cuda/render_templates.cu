#include "harmonium/kernels/cuda/render_templates.h"

#include <cmath>

#include "harmonium/kernels/cuda/launch.cuh"
#include "harmonium/kernels/cuda/render_pixel.cuh"

namespace harmonium::cuda {

namespace {

constexpr int warps = threads_per_block / 32;

// Sums over the threads of a block in a fixed order; thread 0 has them. All threads of the block call it.
template <int count>
__device__ void add_up(double (&values)[count]) {
  __shared__ double parts[warps][count];
  __syncthreads();  // the sums before have been read
#pragma unroll
  for (int i = 0; i < count; ++i) {
    for (int distance = 16; distance > 0; distance /= 2)
      values[i] += __shfl_down_sync(0xFFFFFFFFU, values[i], distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32][i] = values[i];
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    values[i] = 0;
    for (int warp = 0; warp < warps; ++warp) values[i] += parts[warp][i];
  }
}

// Numbers ≥ 0 are ordered as their bits are; infinity comes after all numbers, and what is none after that.
__device__ void raise(unsigned long long* bound, double value) {
  atomicMax(bound, static_cast<unsigned long long>(__double_as_longlong(fabs(value))));
}

template <class T>
__global__ void __launch_bounds__(threads_per_block)
    draw_pictures(const RenderInput<T> input, const RenderSizes sizes, const OutputForm form, T* drawn,
                  const RenderComparison<T> comparison) {
  __shared__ unsigned long long largest[2];  // |factor| and |intensity| of the picture
  const int pixels = sizes.pixels(), strengths = sizes.parts * sizes.channels;
  for (std::int64_t picture = blockIdx.x; picture < sizes.pictures; picture += gridDim.x) {
    __syncthreads();  // the numbers of the picture before have been read
    if (threadIdx.x < 2) largest[threadIdx.x] = 0;
    __syncthreads();
    double squares[1] = {0}, factor_bound = 0, intensity_bound = 0;
    for (int pixel = threadIdx.x; pixel < pixels; pixel += threads_per_block) {
      const DrawnPixel<T> x = draw_pixel(input, sizes, form, picture, pixel);
      const std::int64_t at = picture * pixels + pixel;
      if (drawn != nullptr) drawn[at] = x.value;
      if (comparison.target == nullptr) continue;
      const T off = x.value - comparison.target[at], factor = 2 * off * x.slope;
      squares[0] += static_cast<double>(off) * static_cast<double>(off);
      comparison.marks[at] = x.mark;
      comparison.factors[at] = factor;
      const double size = fabs(static_cast<double>(factor));
      if (!(size <= factor_bound)) factor_bound = size;  // stays what is not a number
    }
    if (comparison.target == nullptr) continue;
    for (int i = threadIdx.x; i < strengths; i += threads_per_block) {
      const double size = fabs(static_cast<double>(input.intensities[picture * strengths + i]));
      if (!(size <= intensity_bound)) intensity_bound = size;
    }
    raise(&largest[0], factor_bound);
    raise(&largest[1], intensity_bound);
    add_up(squares);  // waits for all threads
    if (threadIdx.x != 0) continue;
    comparison.squared_error[picture] = squares[0];
    raise(comparison.bound, __longlong_as_double(static_cast<long long>(largest[0])) *
                                __longlong_as_double(static_cast<long long>(largest[1])));
  }
}

template <class T>
__global__ void __launch_bounds__(threads_per_block)
    draw_contributions(const RenderInput<T> input, const RenderSizes sizes, T* out) {
  const int pixels = sizes.pixels();
  const std::int64_t all = sizes.pictures * sizes.parts * pixels,
                     threads = static_cast<std::int64_t>(gridDim.x) * threads_per_block;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads_per_block) + threadIdx.x; i < all;
       i += threads) {
    const std::int64_t part = i / pixels;
    const Place<T> place = place_of(input.poses + part * 6, sizes, static_cast<int>(i % pixels));
    out[i] = place.inside ? part_of(input, sizes, part / sizes.parts, static_cast<int>(part % sizes.parts), place).value
                          : T(0);
  }
}

// Steps of fixed-point numbers in one: sums of all pixels stay below 2^62. 0 where the bound is none.
__device__ double steps_in_one(unsigned long long bound, const RenderSizes& sizes) {
  constexpr int bits = 61, largest_exponent = 1000;
  const double most = __longlong_as_double(static_cast<long long>(bound)) * static_cast<double>(sizes.pictures) *
                      static_cast<double>(sizes.pixels());
  if (!isfinite(most)) return 0;
  if (most == 0) return 1;
  return ldexp(1.0, min(bits - ilogb(most), largest_exponent));
}

constexpr int pictures_in_group = 4;  // that one block goes back through, for one part

template <class T>
__global__ void __launch_bounds__(threads_per_block)
    go_back(const RenderInput<T> input, const RenderSizes sizes, const OutputForm form,
            const RenderComparison<T> comparison, const RenderedGradient<T> gradient, bool sums_are_shared) {
  extern __shared__ unsigned long long shared_sums[];
  const int pixels = sizes.pixels(), size = sizes.template_size, area = size * size, of_part = sizes.of_part();
  const double steps = steps_in_one(*comparison.bound, sizes);
  const std::int64_t groups = (sizes.pictures + pictures_in_group - 1) / pictures_in_group, work = groups * sizes.parts;
  for (std::int64_t item = blockIdx.x; item < work; item += gridDim.x) {
    const int k = static_cast<int>(item % sizes.parts);
    const std::int64_t first = item / sizes.parts * pictures_in_group,
                       after = min(first + pictures_in_group, sizes.pictures);
    unsigned long long* all_sums = gradient.sums + static_cast<std::int64_t>(k) * of_part;
    unsigned long long* sums = sums_are_shared ? shared_sums : all_sums;
    if (sums_are_shared) {
      __syncthreads();
      for (int i = threadIdx.x; i < of_part; i += threads_per_block) shared_sums[i] = 0;
      __syncthreads();
    }
    for (std::int64_t picture = first; picture < after; ++picture) {
      const std::int64_t part = picture * sizes.parts + k;
      const T* pose = input.poses + part * 6;
      for (int l = 0; l < sizes.channels; ++l) {
        const T intensity = input.intensities[part * sizes.channels + l];
        const T* t = input.templates + static_cast<std::int64_t>(k) * of_part + l * area;
        unsigned long long* to = sums + l * area;
        double totals[7] = {0, 0, 0, 0, 0, 0, 0};  // of u by x, y, 1; of v likewise; of the intensity
        for (int pixel = threadIdx.x; pixel < pixels; pixel += threads_per_block) {
          const Place<T> place = place_of(pose, sizes, pixel);
          if (!place.inside) continue;
          const std::int64_t at = picture * pixels + pixel;
          const Sample<T> all = part_of(input, sizes, picture, k, place);
          const T g = share_of(form, k, all.value, comparison.marks[at], comparison.factors[at]);
          totals[6] += static_cast<double>(g * sample_of(t, size, place).value);
          if (l == 0) {
            const double x = pixel % sizes.columns + 0.5, y = pixel / sizes.columns + 0.5,  // in pixels
                of_u = static_cast<double>(g * all.du), of_v = static_cast<double>(g * all.dv);
            totals[0] += of_u * x;
            totals[1] += of_u * y;
            totals[2] += of_u;
            totals[3] += of_v * x;
            totals[4] += of_v * y;
            totals[5] += of_v;
          }
          const double h = static_cast<double>(g * intensity) * steps, right = static_cast<double>(place.phi),
                       below = static_cast<double>(place.psi);
          const auto add = [&](int row, int column, double share) {
            if (row >= 0 && row < size && column >= 0 && column < size)
              atomicAdd(to + row * size + column, static_cast<unsigned long long>(__double2ll_rn(share)));
          };
          add(place.row, place.column, h * (1 - below) * (1 - right));
          add(place.row, place.column + 1, h * (1 - below) * right);
          add(place.row + 1, place.column, h * below * (1 - right));
          add(place.row + 1, place.column + 1, h * below * right);
        }
        add_up(totals);
        if (threadIdx.x != 0) continue;
        gradient.intensities[part * sizes.channels + l] = static_cast<T>(totals[6]);
        if (l > 0) continue;
        const double of_frame[3] = {static_cast<double>(sizes.columns), static_cast<double>(sizes.rows), 1};
        for (int i = 0; i < 6; ++i) gradient.poses[part * 6 + i] = static_cast<T>(size * totals[i] / of_frame[i % 3]);
      }
    }
    if (sums_are_shared) {
      __syncthreads();
      for (int i = threadIdx.x; i < of_part; i += threads_per_block)
        if (shared_sums[i] != 0) atomicAdd(all_sums + i, shared_sums[i]);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(threads_per_block)
    unpack_sums(const RenderSizes sizes, const unsigned long long* bound, const RenderedGradient<T> gradient) {
  const double steps = steps_in_one(*bound, sizes);
  const std::int64_t all = static_cast<std::int64_t>(sizes.parts) * sizes.of_part(),
                     threads = static_cast<std::int64_t>(gridDim.x) * threads_per_block;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads_per_block) + threadIdx.x; i < all; i += threads)
    gradient.templates[i] =
        static_cast<T>(steps > 0 ? static_cast<double>(static_cast<long long>(gradient.sums[i])) / steps
                                 : __longlong_as_double(static_cast<long long>(0x7FF8000000000000ULL)));
}

unsigned blocks_of(std::int64_t items) {
  constexpr std::int64_t most = 1 << 20;  // kernels go on by strides of the grid
  return static_cast<unsigned>(std::min(items, most));
}

}  // namespace

template <class T>
void launch_render(const RenderInput<T>& input, const RenderSizes& sizes, const OutputForm& form, T* picture,
                   const RenderComparison<T>& comparison, Stream stream) {
  if (sizes.pictures == 0) return;
  draw_pictures<T>
      <<<blocks_of(sizes.pictures), threads_per_block, 0, stream>>>(input, sizes, form, picture, comparison);
  check_launch("drawing templates");
}

template <class T>
void launch_contributions(const RenderInput<T>& input, const RenderSizes& sizes, T* out, Stream stream) {
  if (sizes.pictures == 0) return;
  draw_contributions<T>
      <<<blocks_for(sizes.pictures * sizes.parts * sizes.pixels()), threads_per_block, 0, stream>>>(input, sizes, out);
  check_launch("drawing parts");
}

template <class T>
void launch_render_gradient(const RenderInput<T>& input, const RenderSizes& sizes, const OutputForm& form,
                            const RenderComparison<T>& comparison, const RenderedGradient<T>& gradient, Stream stream) {
  constexpr std::size_t most_shared = 32 << 10;  // larger templates are summed in the device's memory
  const std::size_t bytes = sizeof(unsigned long long) * static_cast<std::size_t>(sizes.of_part());
  const bool shared = bytes <= most_shared;
  if (sizes.pictures > 0) {
    const std::int64_t groups = (sizes.pictures + pictures_in_group - 1) / pictures_in_group;
    go_back<T><<<blocks_of(groups * sizes.parts), threads_per_block, shared ? bytes : 0, stream>>>(
        input, sizes, form, comparison, gradient, shared);
    check_launch("going back through templates");
  }
  unpack_sums<T>
      <<<blocks_for(static_cast<std::int64_t>(sizes.parts) * sizes.of_part()), threads_per_block, 0, stream>>>(
          sizes, comparison.bound, gradient);
  check_launch("gradients of templates");
}

#define HARMONIUM_INSTANTIATE(T)                                                                        \
  template void launch_render<T>(const RenderInput<T>&, const RenderSizes&, const OutputForm&, T*,      \
                                 const RenderComparison<T>&, Stream);                                   \
  template void launch_contributions<T>(const RenderInput<T>&, const RenderSizes&, T*, Stream);         \
  template void launch_render_gradient<T>(const RenderInput<T>&, const RenderSizes&, const OutputForm&, \
                                          const RenderComparison<T>&, const RenderedGradient<T>&, Stream)
HARMONIUM_INSTANTIATE(float);
HARMONIUM_INSTANTIATE(double);
#undef HARMONIUM_INSTANTIATE

}  // namespace harmonium::cuda
