// Every instruction set this processor has, against the plain definitions.
#include "harmonium/kernels/vector_loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/kernels/random.h"

namespace harmonium {
namespace {

std::vector<const VectorLoops*> every_set() {
  int count = 0;
  const VectorLoops* const* sets = all_vector_loops(count);
  return {sets, sets + count};
}

class VectorLoopsOf : public testing::TestWithParam<const VectorLoops*> {
 protected:
  const VectorLoops& loops = *GetParam();
};

TEST_P(VectorLoopsOf, DrawThePhiloxOfKeys) {
  const Key key(0x123456789ABCDEF0U);
  for (const std::uint64_t first : {std::uint64_t{0}, std::uint64_t{16}, (std::uint64_t{7} << 32) - 32}) {
    std::vector<std::uint32_t> bits(4 * 32);
    std::vector<float> u(bits.size());
    loops.fill_bits(key.bits(), first, 32, bits.data());
    loops.fill_uniform(key.bits(), first, 32, u.data());
    for (std::uint64_t block = 0; block < 32; ++block)
      for (std::size_t i = 0; i < 4; ++i) {
        const std::uint32_t expected = key.block(first + block)[i];
        ASSERT_EQ(bits[4 * block + i], expected) << "block " << first + block << ", word " << i;
        ASSERT_EQ(u[4 * block + i], to_unit_float(expected)) << "block " << first + block << ", word " << i;
      }
  }
}

TEST_P(VectorLoopsOf, PackBitsOfAnyLength) {
  for (std::int64_t n = 1; n <= 200; ++n) {
    const at::Tensor row = uniform(Key(static_cast<std::uint64_t>(n)), {n}).lt(0.4).to(at::kFloat);
    const float* x = row.data_ptr<float>();
    const auto words = static_cast<std::size_t>((n + 63) / 64);
    // One more of each, which must stay as it is.
    std::vector<std::uint64_t> bits(words + 1, 77);
    std::vector<float> counts(static_cast<std::size_t>(n) + 1, 3);
    ASSERT_TRUE(loops.pack_bits(x, n, bits.data(), counts.data())) << n;
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_EQ(bits[static_cast<std::size_t>(i / 64)] >> i % 64 & 1, x[i] == 1 ? 1U : 0U) << i << " of " << n;
      ASSERT_EQ(counts[static_cast<std::size_t>(i)], 3 + x[i]) << i << " of " << n;
    }
    if (n % 64 != 0) {
      EXPECT_EQ(bits[words - 1] >> n % 64, 0U) << "bits beyond the end of " << n;
    }
    EXPECT_EQ(bits[words], 77U);
    EXPECT_EQ(counts[static_cast<std::size_t>(n)], 3);
  }
}

TEST_P(VectorLoopsOf, SeeEveryNumberThatIsNoBit) {
  const float strange[] = {0.5F,
                           -1,
                           2,
                           1e-38F,
                           std::nextafter(1.0F, 0.0F),
                           std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN()};
  for (const std::int64_t n : {std::int64_t{5}, std::int64_t{64}, std::int64_t{130}})
    for (std::int64_t place = 0; place < n; ++place)
      for (const float value : strange) {
        std::vector<float> row(static_cast<std::size_t>(n), 1), counts(row.size());
        std::vector<std::uint64_t> bits(static_cast<std::size_t>((n + 63) / 64));
        row[static_cast<std::size_t>(place)] = value;
        ASSERT_FALSE(loops.pack_bits(row.data(), n, bits.data(), counts.data()))
            << value << " at " << place << " of " << n;
      }
}

struct SumCase {
  bool has_start, same_start, has_factors;
  std::int64_t columns;
};

TEST_P(VectorLoopsOf, TurnATile) {
  const at::Tensor from = normal(Key(1), {16, 20});
  at::Tensor to = at::full({16, 18}, 7.0F);
  loops.turn_tile(from.data_ptr<float>(), 20, to.data_ptr<float>(), 18);
  EXPECT_TRUE(at::equal(to.narrow(1, 0, 16), from.narrow(1, 0, 16).t()));
  EXPECT_TRUE(to.narrow(1, 16, 2).eq(7).all().item<bool>());
}

TEST_P(VectorLoopsOf, UnpackWhatTheyPack) {
  for (const std::int64_t n : {1, 16, 63, 64, 100, 200}) {
    const at::Tensor row = uniform(Key(1), {n}).lt(0.4).to(at::kFloat);
    const auto words = static_cast<std::size_t>((n + 63) / 64);
    std::vector<std::uint64_t> bits(words);
    std::vector<float> counts(static_cast<std::size_t>(n)), found(static_cast<std::size_t>(n) + 1, 7);
    ASSERT_TRUE(loops.pack_bits(row.data_ptr<float>(), n, bits.data(), counts.data()));
    loops.unpack_bits(bits.data(), n, found.data());
    for (std::int64_t i = 0; i < n; ++i)
      ASSERT_EQ(found[static_cast<std::size_t>(i)], row[i].item<float>()) << i << " of " << n;
    EXPECT_EQ(found[static_cast<std::size_t>(n)], 7);
  }
}

TEST_P(VectorLoopsOf, SumPickedRows) {
  // More words than a tile and an odd number of them; the last group of eight is not full of rows that may be picked.
  constexpr std::int64_t picked = 180, rows = 184, words = 3, results = chunk_rows + 50, stride = 70;
  const at::Tensor block = normal(Key(1), {rows, block_columns}), base = normal(Key(2), {block_columns}),
                   start = normal(Key(3), {results, stride}), set = uniform(Key(4), {results, rows}).lt(0.1);
  set.narrow(1, picked, rows - picked).fill_(false);
  std::vector<std::uint64_t> bits(results * words);
  for (std::int64_t r = 0; r < results; ++r)
    for (std::int64_t k = 0; k < rows; ++k)
      if (set[r][k].item<bool>()) bits[static_cast<std::size_t>(r * words + k / 64)] |= std::uint64_t{1} << k % 64;
  std::vector<Factors> factors(results);
  for (std::size_t r = 0; r < factors.size(); ++r)
    factors[r] = {.base = static_cast<float>(r % 3), .sum = 0.5F - static_cast<float>(r % 2)};
  const at::Tensor sums = set.to(at::kDouble).mm(block.to(at::kDouble));
  const at::Tensor partial = at::empty({chunk_rows, block_columns}), table = at::empty({table_rows(8), block_columns});
  for (const int group : {1, 4, 8})
    for (const SumCase& each : {SumCase{true, false, false, 64}, SumCase{false, false, true, 64},
                                SumCase{true, true, false, 31}, SumCase{false, false, false, 1}}) {
      table.fill_(std::numeric_limits<float>::quiet_NaN());  // what was not tabulated is not to be added
      at::Tensor out = at::full({results, stride}, 99.0F);
      const RowSums plan{.bits = bits.data(),
                         .words = words,
                         .group = group,
                         .block = block.data_ptr<float>(),
                         .block_rows = rows,
                         .base = base.data_ptr<float>(),
                         .factors = each.has_factors ? factors.data() : nullptr,
                         .start = each.has_start ? start.data_ptr<float>() : nullptr,
                         .start_stride = each.same_start ? 0 : stride,
                         .out = out.data_ptr<float>(),
                         .out_stride = stride,
                         .columns = each.columns,
                         .draw = nullptr,
                         .partial = partial.data_ptr<float>(),
                         .table = table.data_ptr<float>()};
      loops.sum_rows(plan, 0, 2);
      loops.sum_rows(plan, 2, results);
      for (std::int64_t r = 0; r < results; ++r) {
        const Factors factor = each.has_factors ? factors[static_cast<std::size_t>(r)] : Factors{1, 1};
        at::Tensor expected = factor.base * base.to(at::kDouble) + factor.sum * sums[r];
        if (each.has_start) expected += start[each.same_start ? 0 : r].narrow(0, 0, block_columns);
        ASSERT_TRUE(out[r].narrow(0, each.columns, stride - each.columns).eq(99).all().item<bool>())
            << "written beyond the columns of row " << r;
        ASSERT_LT((out[r].narrow(0, 0, each.columns) - expected.narrow(0, 0, each.columns)).abs().max().item<double>(),
                  1e-5)
            << "row " << r << " by groups of " << group;
      }
    }
}

// Draws are those of the plain definition, but where the uniform and the probability are the same to six digits.
TEST_P(VectorLoopsOf, DrawFromTheirSums) {
  constexpr std::int64_t rows = 8, results = 400, width = 192, words = 3, first_column = 64;
  const at::Tensor block = 2 * normal(Key(1), {rows, block_columns}), base = normal(Key(2), {block_columns}),
                   set = uniform(Key(3), {results, rows}).lt(0.5), u = uniform(Key(4), {results, width}),
                   partial = at::empty({chunk_rows, block_columns});
  std::vector<std::uint64_t> bits(results);
  for (std::int64_t r = 0; r < results; ++r)
    for (std::int64_t k = 0; k < rows; ++k)
      bits[static_cast<std::size_t>(r)] |= static_cast<std::uint64_t>(set[r][k].item<bool>()) << k;
  const at::Tensor field = set.to(at::kDouble).mm(block.to(at::kDouble)) + base, p = at::sigmoid(field);
  for (const std::int64_t columns : {64, 50, 32, 20, 3}) {
    std::vector<std::uint64_t> drawn(results * words, 5);
    at::Tensor counts = at::ones({block_columns}), out = at::empty({results, block_columns});
    const LogisticDraw draw{.key = Key(4).bits(),
                            .width = width,
                            .first_column = first_column,
                            .bits = drawn.data(),
                            .words = words,
                            .counts = counts.data_ptr<float>()};
    loops.sum_rows({.bits = bits.data(),
                    .words = 1,
                    .group = 1,
                    .block = block.data_ptr<float>(),
                    .block_rows = rows,
                    .base = base.data_ptr<float>(),
                    .factors = nullptr,
                    .start = nullptr,
                    .start_stride = 0,
                    .out = out.data_ptr<float>(),
                    .out_stride = block_columns,
                    .columns = columns,
                    .draw = &draw,
                    .partial = partial.data_ptr<float>(),
                    .table = nullptr},
                   0, results);
    std::int64_t close = 0;
    for (std::int64_t j = 0; j < columns; ++j) {
      std::int64_t ones = 0;
      for (std::int64_t r = 0; r < results; ++r) {
        const bool on = (drawn[static_cast<std::size_t>(r * words + 1)] >> j & 1) != 0;
        const double distance = p[r][j].item<double>() - u[r][first_column + j].item<double>();
        ones += static_cast<std::int64_t>(on);
        if (std::abs(distance) < 1e-6)
          ++close;
        else
          ASSERT_EQ(on, distance > 0) << r << ", " << j;
      }
      EXPECT_EQ(counts[j].item<float>(), static_cast<float>(1 + ones)) << j;
    }
    EXPECT_LT(close, 10);
    for (std::int64_t r = 0; r < results; ++r) {
      if (columns < 64) {
        ASSERT_EQ(drawn[static_cast<std::size_t>(r * words + 1)] >> columns, 0U) << "bits beyond the last";
      }
      ASSERT_EQ(drawn[static_cast<std::size_t>(r * words)], 5U) << "another block's";
    }
    EXPECT_LT((out.narrow(1, 0, columns) - field.narrow(1, 0, columns)).abs().max().item<double>(), 1e-5);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, VectorLoopsOf, testing::ValuesIn(every_set()),
                         [](const auto& each) { return "Bits" + std::to_string(each.param->vector_bits); });

}  // namespace
}  // namespace harmonium
