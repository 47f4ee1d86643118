#include "harmonium/kernels/pair_sums.h"

#include <ATen/ATen.h>

#include <ATen/Parallel.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"

namespace harmonium {

namespace {

// Compilers split such vectors into what the instruction set has. The second kind reads and writes plain arrays.
using Reals = double __attribute__((vector_size(64)));
using Bits = std::int64_t __attribute__((vector_size(64)));
using RealsInMemory = double __attribute__((vector_size(64), aligned(8), may_alias));
using BitsInMemory = std::int64_t __attribute__((vector_size(64), aligned(8), may_alias));
constexpr std::int64_t lanes = 8, tile_rows = 4, tile_lanes = 2, tile_columns = lanes * tile_lanes;

// Fields beyond this would leave the range of double in e^x; with it a factor stays below e^(2·limit).
constexpr double field_limit = 150;
// Products start below 2 and may grow to 2^1023 before their exponent has to be taken off.
constexpr double room = 700;

constexpr std::int64_t mantissa_bits = 52, exponent_bias = 1023;

// One tile: tile_rows rows of u (stride `units`) with tile_columns columns of w (units × tile_columns, packed). Groups
// end where `group_end` says, each small enough for its product to fit. Arrays are indexed by constants once the loops
// are unrolled, so that they live in registers.
HARMONIUM_CLONES void pair_tile(const double* u, const double* w, std::int64_t units, const std::int64_t* group_end,
                                std::int64_t groups, double* mantissa, std::int64_t* exponent) {
  Reals p[tile_rows][tile_lanes];
  Bits e[tile_rows][tile_lanes];
#pragma GCC unroll 4
  for (int row = 0; row < tile_rows; ++row)
#pragma GCC unroll 2
    for (int lane = 0; lane < tile_lanes; ++lane) {
      p[row][lane] = Reals{} + 1.0;
      e[row][lane] = Bits{};
    }
  std::int64_t unit = 0;
  for (std::int64_t group = 0; group < groups; ++group) {
    for (; unit < group_end[group]; ++unit) {
      const auto* right = reinterpret_cast<const RealsInMemory*>(w + unit * tile_columns);
#pragma GCC unroll 4
      for (int row = 0; row < tile_rows; ++row)
#pragma GCC unroll 2
        for (int lane = 0; lane < tile_lanes; ++lane) p[row][lane] *= Reals(right[lane]) * u[row * units + unit] + 1.0;
    }
    // Exponents move from p to e, leaving 1 ≤ p < 2; p is positive and normal.
#pragma GCC unroll 4
    for (int row = 0; row < tile_rows; ++row)
#pragma GCC unroll 2
      for (int lane = 0; lane < tile_lanes; ++lane) {
        const Bits bits = __builtin_bit_cast(Bits, p[row][lane]);
        e[row][lane] += (bits >> mantissa_bits) - exponent_bias;
        p[row][lane] = __builtin_bit_cast(
            Reals, (bits & ((std::int64_t{1} << mantissa_bits) - 1)) | (exponent_bias << mantissa_bits));
      }
  }
#pragma GCC unroll 4
  for (int row = 0; row < tile_rows; ++row)
#pragma GCC unroll 2
    for (int lane = 0; lane < tile_lanes; ++lane) {
      const std::int64_t place = row * tile_columns + lane * lanes;
      *reinterpret_cast<RealsInMemory*>(mantissa + place) = p[row][lane];
      *reinterpret_cast<BitsInMemory*>(exponent + place) = e[row][lane];
    }
}

// Where to take exponents off: before the largest possible product of a group leaves the range.
std::vector<std::int64_t> group_ends(const at::Tensor& x, const at::Tensor& y) {
  const at::Tensor largest = (std::get<0>(x.max(0)) + std::get<0>(y.max(0))).clamp_min(0).contiguous();
  const double* bound = largest.data_ptr<double>();
  std::vector<std::int64_t> ends;
  double total = 0;
  for (std::int64_t unit = 0; unit < x.size(1); ++unit) {
    const double next = bound[unit] + std::log(2.0);  // log(1 + e^z) ≤ max(z, 0) + log 2
    if (total + next > room) {
      ends.push_back(unit);
      total = 0;
    }
    total += next;
  }
  ends.push_back(x.size(1));
  return ends;
}

// units × rows of y in packs of tile_columns rows, the last filled up with zeros.
at::Tensor packed(const at::Tensor& w) {
  const std::int64_t packs = (w.size(0) + tile_columns - 1) / tile_columns;
  at::Tensor padded = at::zeros({packs * tile_columns, w.size(1)}, at::kDouble);
  padded.narrow(0, 0, w.size(0)).copy_(w);
  return padded.reshape({packs, tile_columns, w.size(1)}).transpose(1, 2).contiguous();
}

}  // namespace

bool pair_sums_in_range(const at::Tensor& first, const at::Tensor& second) {
  const auto small = [](const at::Tensor& x) { return x.numel() == 0 || x.abs().max().item<double>() <= field_limit; };
  return small(first) && small(second);
}

at::Tensor softplus_pair_sums(const at::Tensor& first, const at::Tensor& second) {
  require(first.dim() == 2 && second.dim() == 2 && first.size(1) == second.size(1),
          "softplus_pair_sums: two tables of equally many columns are needed");
  require(first.scalar_type() == at::kDouble && second.scalar_type() == at::kDouble,
          "softplus_pair_sums needs float64");
  const std::int64_t rows = first.size(0), columns = second.size(0), units = first.size(1);
  if (rows == 0 || columns == 0 || units == 0) return at::zeros({rows, columns}, at::kDouble);
  require(pair_sums_in_range(first, second), "softplus_pair_sums: a field is beyond ±{}", field_limit);

  const std::vector<std::int64_t> ends = group_ends(first, second);
  const std::int64_t tiles = (rows + tile_rows - 1) / tile_rows;
  at::Tensor u = at::zeros({tiles * tile_rows, units}, at::kDouble);
  at::Tensor filled = u.narrow(0, 0, rows);
  at::exp_out(filled, first);
  const at::Tensor w = packed(second.exp());
  at::Tensor out = at::empty({rows, columns}, at::kDouble);
  const double *left = u.data_ptr<double>(), *right = w.data_ptr<double>();
  double* target = out.data_ptr<double>();
  at::parallel_for(0, w.size(0), 1, [&](std::int64_t begin, std::int64_t end) {
    double mantissa[tile_rows * tile_columns];
    std::int64_t exponent[tile_rows * tile_columns];
    for (std::int64_t pack = begin; pack < end; ++pack)
      for (std::int64_t tile = 0; tile < tiles; ++tile) {
        pair_tile(left + tile * tile_rows * units, right + pack * tile_columns * units, units, ends.data(),
                  static_cast<std::int64_t>(ends.size()), mantissa, exponent);
        for (std::int64_t i = 0; i < tile_rows * tile_columns; ++i) {
          const std::int64_t row = tile * tile_rows + i / tile_columns, column = pack * tile_columns + i % tile_columns;
          if (row < rows && column < columns)
            target[row * columns + column] =
                static_cast<double>(exponent[i]) * std::numbers::ln2 + std::log(mantissa[i]);
        }
      }
  });
  return out;
}

}  // namespace harmonium
