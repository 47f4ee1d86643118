// Sums on matrix tiles beside plain loops that do the same with the same digits, so that all around them is tested on
// any processor, and the processor's own where it has them.
#include "harmonium/kernels/tile_sums.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

std::int64_t tile_words(std::int64_t rows) { return (rows + 63) / 64; }

// Digit d of row k and column c is at (3k + d)·64 + c, the bit of row r and unit k at 32k + r.
void plain_split(const float* block, std::int64_t rows, std::int8_t* digits, float* scales) {
  std::fill_n(digits, digit_bytes(tile_words(rows)), std::int8_t{0});
  for (std::int64_t c = 0; c < block_columns; ++c) {
    float largest = 0;
    bool lost = false;
    for (std::int64_t k = 0; k < rows; ++k) {
      largest = std::max(largest, std::abs(block[k * block_columns + c]));
      lost = lost || std::isnan(block[k * block_columns + c]);
    }
    scales[c] = lost ? std::nanf("") : std::max(largest * (1.0F / (127 * 65536)), 1e-37F);
    const float inverse = 1 / scales[c];
    for (std::int64_t k = 0; k < rows; ++k) {
      const float scaled = block[k * block_columns + c] * inverse;
      std::int64_t whole = std::isfinite(scaled) ? std::llrint(scaled) : 0;
      for (std::int64_t d = 0; d < 3; ++d) {
        const auto digit = static_cast<std::int8_t>(((whole + 128) & 255) - 128);
        digits[(3 * k + d) * 64 + c] = digit;
        whole = (whole - digit) / 256;
      }
      EXPECT_EQ(whole, 0);
    }
  }
}

void plain_expand(const std::uint64_t* bits, std::int64_t words, std::int64_t rows, std::int8_t* units) {
  for (std::int64_t k = 0; k < 64 * words; ++k)
    for (std::int64_t r = 0; r < tile_group; ++r)
      units[tile_group * k + r] = static_cast<std::int8_t>(r < rows ? bits[r * words + k / 64] >> k % 64 & 1 : 0);
}

void plain_multiply(const std::int8_t* units, std::int64_t words, std::int64_t rows, const std::int8_t* digits,
                    const float* scales, std::int64_t columns, std::int32_t*, float* sums) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      std::int32_t sum[3] = {};
      for (std::int64_t k = 0; k < 64 * words; ++k)
        if (units[tile_group * k + r] != 0)
          for (int d = 0; d < 3; ++d) sum[d] += digits[(3 * k + d) * 64 + c];
      const auto number = [&](int d) { return static_cast<float>(sum[d]); };
      sums[r * block_columns + c] =
          std::fma(number(2), 65536 * scales[c], std::fma(number(1), 256 * scales[c], number(0) * scales[c]));
    }
}

constexpr TileLoops plain_tiles = {[] {}, [] {}, plain_split, plain_expand, plain_multiply};

BinaryTable table_of_bits(std::int64_t rows, std::int64_t columns, double part) {
  return *BinaryTable::of(uniform(Key(1), {rows, columns}).lt(part).to(at::kFloat));
}

at::Tensor sums_of(const TileLoops& loops, const BinaryTable& table, const at::Tensor& matrix) {
  at::Tensor out = at::empty({table.bits.rows, matrix.size(1)}, at::kFloat);
  TileSums{.loops = loops, .bits = table.bits, .matrix = matrix}.run(out);
  return out;
}

struct TileShape {
  std::int64_t rows, inner, columns;
};
constexpr TileShape tile_shapes[] = {{1, 1, 1}, {32, 64, 64}, {33, 65, 65}, {100, 130, 200}, {70, 784, 52}};

class TileSumsBy : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam() && tile_loops() == nullptr) GTEST_SKIP() << "the processor has no tiles";
    loops = GetParam() ? tile_loops() : &plain_tiles;
  }
  const TileLoops* loops = nullptr;
};
INSTANTIATE_TEST_SUITE_P(All, TileSumsBy, testing::Bool(),
                         [](const auto& each) { return each.param ? "Processor" : "PlainLoops"; });

TEST_P(TileSumsBy, AreThoseOfTheRowsThatArePicked) {
  for (const TileShape& shape : tile_shapes) {
    const BinaryTable table = table_of_bits(shape.rows, shape.inner, 0.3);
    // Columns of very different sizes, and one of zeros.
    at::Tensor matrix = normal(Key(2), {shape.inner, shape.columns}) * at::logspace(-6, 6, shape.columns);
    matrix.select(1, shape.columns - 1).zero_();
    for (const at::Tensor& each : {matrix, matrix.t().contiguous().t()}) {
      const at::Tensor found = sums_of(*loops, table, each),
                       exact = table.table().to(at::kDouble).mm(matrix.to(at::kDouble));
      // A digit short of each number, 2^-24 of the largest of its column, and the rounding of a sum of three.
      const at::Tensor largest = std::get<0>(matrix.abs().max(0)).to(at::kDouble);
      const at::Tensor bound = largest * (static_cast<double>(shape.inner) * 0x1p-23) + exact.abs() * 0x1p-22;
      EXPECT_TRUE((found.to(at::kDouble) - exact).abs().le(bound).all().item<bool>()) << shape.inner;
    }
  }
}

TEST_P(TileSumsBy, AddToWhatTheyAreTold) {
  const BinaryTable table = table_of_bits(70, 100, 0.4);
  const at::Tensor matrix = normal(Key(2), {100, 150}), row = normal(Key(3), {150}), all = normal(Key(4), {70, 150});
  const at::Tensor sums = sums_of(*loops, table, matrix);
  for (const at::Tensor& start : {row, all}) {
    at::Tensor out = at::empty({70, 150});
    TileSums{.loops = *loops, .bits = table.bits, .matrix = matrix, .factor = -0.5F, .start = start}.run(out);
    EXPECT_TRUE(at::allclose(out, start - 0.5 * sums, 1e-5, 1e-5));
  }
  at::Tensor target = all.clone();
  TileSums{.loops = *loops, .bits = table.bits, .matrix = matrix, .start = target}.run(target);
  EXPECT_TRUE(at::allclose(target, all + sums, 1e-5, 1e-5));
}

TEST_P(TileSumsBy, AreDrawnFromAsIfTheyWereStored) {
  const BinaryTable table = table_of_bits(90, 200, 0.4);
  const at::Tensor matrix = normal(Key(2), {200, 148}) / 4, bias = normal(Key(3), {148});
  at::Tensor field = at::empty({90, 148});
  DrawnUnits drawn(Key(5), 90, 148);
  TileSums{.loops = *loops, .bits = table.bits, .matrix = matrix, .start = bias}.run(field, &drawn);
  const BinaryTable units = drawn.take();
  const at::Tensor expected = sample_logistic(Key(5), field),
                   distance = (at::sigmoid(field) - uniform(Key(5), field.sizes())).abs();
  EXPECT_TRUE(units.table().eq(expected).logical_or(distance.lt(1e-6)).all().item<bool>());
  EXPECT_LT(distance.lt(1e-6).sum().item<std::int64_t>(), 5);
  EXPECT_EQ(units.ones, BinaryTable::of(units.table())->ones);
}

TEST_P(TileSumsBy, DoNotDependOnThreads) {
  const BinaryTable table = table_of_bits(200, 300, 0.4);
  const at::Tensor matrix = normal(Key(2), {300, 200});
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = sums_of(*loops, table, matrix);
  at::set_num_threads(3);
  const at::Tensor three = sums_of(*loops, table, matrix);
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(one, three));
}

// More words than the digits of two blocks have room for in a cache: strips of one block.
TEST_P(TileSumsBy, GoStripByStripThroughLargeMatrices) {
  const BinaryTable table = table_of_bits(40, 8500, 0.01);
  const at::Tensor matrix = normal(Key(2), {8500, 70});
  const at::Tensor exact = table.table().to(at::kDouble).mm(matrix.to(at::kDouble));
  EXPECT_LT((sums_of(*loops, table, matrix).to(at::kDouble) - exact).abs().max().item<double>(), 1e-4);
}

TEST_P(TileSumsBy, ShowWhatIsNoNumber) {
  const BinaryTable table = table_of_bits(40, 100, 0.5);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    at::Tensor matrix = normal(Key(2), {100, 20});
    matrix[50][3] = bad;
    const at::Tensor sums = sums_of(*loops, table, matrix);
    EXPECT_FALSE(sums.select(1, 3).isfinite().any().item<bool>()) << bad;
    EXPECT_TRUE(sums.narrow(1, 4, 16).isfinite().all().item<bool>()) << bad;
  }
}

TEST_P(TileSumsBy, KeepDigitsAsLongAsTheyAreTold) {
  const BinaryTable table = table_of_bits(40, 100, 0.5);
  at::Tensor matrix = normal(Key(2), {100, 20});
  const auto sums = [&](bool lasting) {
    at::Tensor out = at::empty({40, 20});
    TileSums{.loops = *loops, .bits = table.bits, .matrix = matrix, .lasting = lasting}.run(out);
    return out;
  };
  const at::Tensor before = sums(true);
  {
    const KeptDigits kept;
    EXPECT_TRUE(at::equal(sums(true), before));
    matrix.neg_();  // which nobody may do; it shows that digits are the old ones
    EXPECT_TRUE(at::equal(sums(true), before));
    EXPECT_TRUE(at::allclose(sums(false), -before, 1e-4, 1e-5)) << "a matrix that does not last is looked at anew";
  }
  EXPECT_TRUE(at::allclose(sums(true), -before, 1e-4, 1e-5));
  const KeptDigits again;
  EXPECT_TRUE(at::allclose(sums(true), -before, 1e-4, 1e-5)) << "what was kept before is forgotten";
}

TEST(TileSums, OfTheProcessorAreThoseOfPlainLoopsToTheBit) {
  if (tile_loops() == nullptr) GTEST_SKIP() << "the processor has no tiles";
  for (const TileShape& shape : tile_shapes) {
    const BinaryTable table = table_of_bits(shape.rows, shape.inner, 0.3);
    const at::Tensor matrix = normal(Key(2), {shape.inner, shape.columns});
    EXPECT_TRUE(at::equal(sums_of(*tile_loops(), table, matrix), sums_of(plain_tiles, table, matrix))) << shape.inner;
  }
}

}  // namespace
}  // namespace harmonium
