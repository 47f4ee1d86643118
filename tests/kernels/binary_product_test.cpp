#include "harmonium/kernels/binary_product.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/binary_code.h"
#include "harmonium/kernels/column_blocks.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/picked_sums.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/vector_loops.h"

namespace harmonium {
namespace {

// Bits of which the given part deviate from majorities that are themselves on or off at random.
at::Tensor deviating_bits(std::uint64_t seed, std::int64_t rows, std::int64_t columns, double part) {
  const Key key(seed);
  const at::Tensor usual = uniform(key.fold_in(1), {columns}).lt(0.5);
  return uniform(key.fold_in(2), {rows, columns}).lt(part).logical_xor(usual).to(at::kFloat);
}

void expect_close(const at::Tensor& found, const at::Tensor& expected, double tolerance) {
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_LT((found.to(at::kDouble) - expected).abs().max().item<double>(), tolerance);
}

at::Tensor exactly(const at::Tensor& x) { return x.to(at::kDouble); }

TEST(ColumnBlocks, CopyAnyLayoutOfTheirSource) {
  const at::Tensor wide = normal(Key(1), {130, 150});
  for (const at::Tensor& source : {wide, wide.t(), wide.narrow(1, 3, 70), wide.t().narrow(1, 2, 65),
                                   wide.narrow(0, 1, 128).slice(1, 0, 150, 2), wide.narrow(1, 0, 1)}) {
    const ColumnBlocks blocks(source);
    for (std::int64_t block = 0; block < blocks.count(); ++block) {
      at::Tensor copy = at::full({blocks.rows() + 1, block_columns}, 7.0F);
      blocks.copy(block, nullptr, copy.data_ptr<float>());
      const at::Tensor expected = at::zeros({blocks.rows() + 1, block_columns});
      expected.narrow(0, 0, blocks.rows())
          .narrow(1, 0, blocks.columns_of(block))
          .copy_(source.narrow(1, block * block_columns, blocks.columns_of(block)));
      expected[blocks.rows()].fill_(7);  // not to be written
      EXPECT_TRUE(at::equal(copy, expected)) << block;
    }
  }
}

TEST(ColumnBlocks, NegateTheRowsTheyAreTold) {
  const at::Tensor source = normal(Key(1), {70, 10});
  const std::uint64_t negated[] = {0x8000000000000002U, 0x20U};
  for (const at::Tensor& each : {source, source.t().contiguous().t()}) {
    at::Tensor copy = at::empty({70, block_columns});
    ColumnBlocks(each).copy(0, negated, copy.data_ptr<float>());
    for (std::int64_t row = 0; row < 70; ++row)
      EXPECT_EQ(copy[row][3].item<float>(),
                (row == 1 || row == 63 || row == 69 ? -1 : 1) * source[row][3].item<float>());
  }
}

TEST(BinaryCode, IsTheTableItWasMadeOf) {
  for (const std::int64_t rows : {1, 2, 63, 64, 130})
    for (const std::int64_t columns : {1, 64, 100, 129}) {
      const at::Tensor table = deviating_bits(3, rows, columns, 0.2);
      const auto bits = BinaryTable::of(table);
      ASSERT_TRUE(bits.has_value());
      const BinaryCode code(*bits);
      const at::Tensor majority = table.sum(0).gt(0.5 * static_cast<double>(rows));
      EXPECT_EQ(code.deviations, table.ne(majority).sum().item<std::int64_t>());
      EXPECT_EQ(code.fours, at::constant_pad_nd(table.ne(majority), {0, (columns + 3) / 4 * 4 - columns})
                                .view({rows, -1, 4})
                                .any(2)
                                .sum()
                                .item<std::int64_t>());
      EXPECT_TRUE(at::equal(bits->table(), table));
      const BitTable turned = code.deviating.transposed();
      ASSERT_EQ(turned.rows, columns);
      for (std::int64_t i = 0; i < columns; ++i) {
        ASSERT_EQ(code.majority.at(0, i), majority[i].item<bool>());
        for (std::int64_t r = 0; r < rows; ++r) {
          const bool deviates = (table[r][i].item<float>() == 1) != majority[i].item<bool>();
          ASSERT_EQ(code.deviating.at(r, i), deviates) << r << ", " << i;
          ASSERT_EQ(turned.at(i, r), deviates) << r << ", " << i;
        }
        // Bits beyond the end would pick rows that do not exist.
        if (rows % 64 != 0) {
          EXPECT_EQ(turned.row(i)[turned.words - 1] >> rows % 64, 0U);
        }
      }
    }
}

// Which bits pick together decides how sums are rounded, so the choice is part of what a run repeats.
TEST(PickedSums, AreMadeTheCheapestWay) {
  const auto group = [](const at::Tensor& table) { return cheapest_group(BinaryCode(*BinaryTable::of(table))); };
  EXPECT_EQ(group(deviating_bits(1, 2000, 784, 0.15)), 1);
  EXPECT_EQ(group(deviating_bits(1, 2000, 196, 0.15).repeat_interleave(4, 1)), 4) << "neighbours that go together";
  EXPECT_EQ(group(deviating_bits(1, 2000, 784, 0.45)), 8);
  EXPECT_EQ(group(deviating_bits(1, 100, 784, 0.35)), 1) << "tables are not worth so few rows";
  EXPECT_EQ(group(deviating_bits(1, 100, 784, 0.2)), 1);
}

// Sums of up to 800 numbers of size 1 in float32; rounding errors grow like a random walk to about 5e-6.
constexpr double rounding = 1e-4;

// The way of processors without tiles, on any: many rows, each way to pick, sums and draws.
TEST(PickedSums, AreThoseOfTheRowsThatArePicked) {
  const at::Tensor x = deviating_bits(4, 2100, 300, 0.3), weights = normal(Key(5), {300, 100}),
                   bias = normal(Key(6), {100});
  const BinaryCode code(*BinaryTable::of(x));
  const at::Tensor expected = exactly(x).mm(exactly(weights)) + exactly(bias);
  for (const int group : {1, 4, 8}) {
    at::Tensor sums = at::empty({2100, 100});
    DrawnUnits drawn(Key(7), 2100, 100);
    PickedSums{.bits = code.deviating,
               .group = group,
               .matrix = weights,
               .negated = code.majority.row(0),
               .all_in_base = false,
               .start = bias}
        .run(sums, &drawn);
    expect_close(sums, expected, rounding);
    const BinaryTable units = drawn.take();
    const at::Tensor distance = (at::sigmoid(sums) - uniform(Key(7), sums.sizes())).abs();
    EXPECT_TRUE(units.table().eq(sample_logistic(Key(7), sums)).logical_or(distance.lt(1e-6)).all().item<bool>())
        << group;
    EXPECT_EQ(units.ones, BinaryTable::of(units.table())->ones) << group;
  }
}

TEST(BinaryTable, RefusesWhatItCannotHold) {
  at::Tensor table = at::ones({70, 90});
  EXPECT_TRUE(BinaryTable::of(table).has_value());
  EXPECT_FALSE(BinaryTable::of(table.t()).has_value()) << "not contiguous";
  EXPECT_FALSE(BinaryTable::of(table.to(at::kDouble)).has_value());
  EXPECT_FALSE(BinaryTable::of(at::ones({0, 4})).has_value());
  table[69][89] = 0.25;
  EXPECT_FALSE(BinaryTable::of(table).has_value());
}

struct ProductCase {
  const char* name;
  std::int64_t rows, inner, columns;
  double part;
};

class BinaryProduct : public testing::TestWithParam<ProductCase> {
 protected:
  const ProductCase size = GetParam();
  const at::Tensor x = deviating_bits(5, size.rows, size.inner, size.part);
};

TEST_P(BinaryProduct, IsTheDenseProduct) {
  const at::Tensor weights = normal(Key(6), {size.inner, size.columns}), row = normal(Key(7), {size.columns}),
                   table = normal(Key(8), {size.rows, size.columns}),
                   turned = normal(Key(9), {size.columns, size.inner}).t();
  for (const at::Tensor& w : {weights, turned}) {
    const at::Tensor product = exactly(x).mm(exactly(w));
    expect_close(add_product({}, x, w), product, rounding);
    expect_close(add_product(row, x, w), product + row, rounding);
    expect_close(add_product(table, x, w), product + table, rounding);
  }
}

TEST_P(BinaryProduct, OuterProductsAreDenseOnes) {
  const at::Tensor y = normal(Key(10), {size.rows, size.columns});
  const at::Tensor expected = exactly(x).t().mm(exactly(y)) / static_cast<double>(size.rows);
  expect_close(mean_outer_product(x, y), expected, rounding);
  expect_close(mean_outer_product(y, x), expected.t(), rounding);
  EXPECT_TRUE(mean_outer_product(y, x).is_contiguous());
  // In place, with another factor, and into a table whose rows do not lie one after another.
  const at::Tensor before = normal(Key(11), expected.sizes());
  at::Tensor sum = before.clone(), other_way = before.t().contiguous(), loose = before.t().contiguous().t();
  add_mean_outer_product_(sum, x, y, -2);
  expect_close(sum, before - 2 * expected, rounding);
  add_mean_outer_product_(other_way, y, x, 3);
  expect_close(other_way, (before + 3 * expected).t(), rounding);
  add_mean_outer_product_(loose, x, y, 1);
  expect_close(loose, before + expected, rounding);
}

// Dense products are left out: OpenBLAS rounds them by threads.
class CodedProduct : public BinaryProduct {};
TEST_P(CodedProduct, DoesNotDependOnThreads) {
  const at::Tensor weights = normal(Key(6), {size.inner, size.columns}), y = normal(Key(10), {size.rows, size.columns});
  const int before = at::get_num_threads();
  std::vector<at::Tensor> products, drawn, outer;
  for (const int threads : {1, 2, 3}) {
    at::set_num_threads(threads);
    products.push_back(add_product({}, x, weights));
    drawn.push_back(draw_from_product(Key(8), {}, x, weights).table());
    outer.push_back(mean_outer_product(x, y));
  }
  at::set_num_threads(before);
  for (const at::Tensor& each : products) EXPECT_TRUE(at::equal(each, products[0]));
  for (const at::Tensor& each : drawn) EXPECT_TRUE(at::equal(each, drawn[0]));
  for (const at::Tensor& each : outer) EXPECT_TRUE(at::equal(each, outer[0]));
}

// Drawing from the product as it comes is drawing from the product; fields are the same numbers to the last digit.
TEST_P(CodedProduct, IsDrawnFromAsIfItWereStored) {
  const at::Tensor weights = normal(Key(6), {size.inner, size.columns}) / 4, bias = normal(Key(7), {size.columns});
  const at::Tensor stored = add_product(bias, x, weights);
  at::Tensor field;
  const CodedTable drawn = draw_from_product(Key(8), bias, x, weights, &field);
  EXPECT_TRUE(at::equal(field, stored));
  const at::Tensor expected = sample_logistic(Key(8), stored),
                   distance = (at::sigmoid(stored) - uniform(Key(8), stored.sizes())).abs();
  EXPECT_TRUE(drawn.table().eq(expected).logical_or(distance.lt(1e-6)).all().item<bool>());
  EXPECT_LT(distance.lt(1e-6).sum().item<std::int64_t>(), 5);
  EXPECT_TRUE(at::equal(draw_from_product(Key(8), bias, x, weights).table(), drawn.table()));
  // What comes with a code is coded as if it had come without.
  const auto bits = BinaryTable::of(drawn.table());
  ASSERT_TRUE(bits.has_value());
  EXPECT_EQ(drawn.bits()->ones, bits->ones);
  const BinaryCode anew(*bits);
  ASSERT_NE(drawn.code(), nullptr);
  EXPECT_TRUE(at::equal(drawn.code()->deviating.storage, anew.deviating.storage));
  EXPECT_TRUE(at::equal(drawn.code()->majority.storage, anew.majority.storage));
  EXPECT_EQ(drawn.code()->deviations, anew.deviations);
  EXPECT_EQ(drawn.code()->fours, anew.fours);
}

constexpr ProductCase coded_cases[] = {
    ProductCase{"sparse", 150, 130, 100, 0.1},  ProductCase{"one_block", 300, 200, 64, 0.1},
    ProductCase{"one_row", 1, 2000, 700, 0.01}, ProductCase{"wide", 40, 784, 500, 0.13},
    ProductCase{"constant", 200, 130, 65, 0},   ProductCase{"half_and_half", 2500, 400, 72, 0.45}};

INSTANTIATE_TEST_SUITE_P(Coded, BinaryProduct, testing::ValuesIn(coded_cases),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Coded, CodedProduct, testing::ValuesIn(coded_cases),
                         [](const auto& each) { return each.param.name; });
// Too little to code.
INSTANTIATE_TEST_SUITE_P(Dense, BinaryProduct, testing::Values(ProductCase{"small", 3, 5, 4, 0.2}),
                         [](const auto& each) { return each.param.name; });

TEST(BinaryProductOf, ShapesThatDoNotFitIsRefused) {
  const at::Tensor x = deviating_bits(1, 120, 130, 0.05), w = normal(Key(2), {130, 100});
  EXPECT_THROW((void)add_product({}, x, w.t()), Error);
  EXPECT_THROW((void)add_product(normal(Key(3), {99}), x, w), Error);
  EXPECT_THROW((void)add_product(normal(Key(3), {1, 100}), x, w), Error);
  EXPECT_THROW((void)mean_outer_product(x, w), Error);
  at::Tensor square = at::zeros({130, 130});
  EXPECT_THROW(add_mean_outer_product_(square, x, normal(Key(4), {120, 100}), 1), Error);
}

TEST(BinaryProductOf, RealNumbersIsDense) {
  const at::Tensor x = uniform(Key(1), {100, 200}), w = normal(Key(2), {200, 100}), b = normal(Key(3), {100});
  EXPECT_TRUE(at::equal(add_product(b, x, w), at::addmm(b, x, w)));
  EXPECT_TRUE(at::equal(mean_outer_product(x, x), x.t().mm(x) / 100));
}

TEST(BinaryProductOf, OneNumberAmongBitsIsNotRounded) {
  at::Tensor x = deviating_bits(1, 120, 130, 0.05);
  x[119][129] = 0.5;
  const at::Tensor w = normal(Key(2), {130, 100});
  expect_close(add_product({}, x, w), exactly(x).mm(exactly(w)), rounding);
}

}  // namespace
}  // namespace harmonium
