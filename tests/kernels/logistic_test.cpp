#include "harmonium/kernels/logistic.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/elementary.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/uniform_fill.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

// The functions by the standard library in a wider type, written so that nothing cancels or overflows.
template <class Wide>
Wide true_logistic(Wide x) {
  const Wide e = std::exp(-std::abs(x));
  return (x < 0 ? e : Wide(1)) / (1 + e);
}
template <class Wide>
Wide true_softplus(Wide x) {
  return (x > 0 ? x : Wide(0)) + std::log1p(std::exp(-std::abs(x)));
}

template <class T>
struct Accuracy;
template <>
struct Accuracy<float> {
  using Wide = double;
  static constexpr double logistic = 2e-7, softplus = 2e-7, relative = 5e-7, deepest = -87;
};
template <>
struct Accuracy<double> {
  using Wide = long double;
  static constexpr double logistic = 4e-16, softplus = 4e-16, relative = 1.5e-15, deepest = -708;
};

// A fine grid over −800 … 800, both zeros, denormals, the ends of the type and infinity.
template <class T>
std::vector<T> interesting_fields() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> fields = {T(0),
                           -T(0),
                           Limits::denorm_min(),
                           -Limits::denorm_min(),
                           Limits::min(),
                           -Limits::min(),
                           Limits::epsilon(),
                           -Limits::epsilon(),
                           Limits::max(),
                           Limits::lowest(),
                           Limits::infinity(),
                           -Limits::infinity()};
  for (int i = -80000; i <= 80000; ++i) fields.push_back(static_cast<T>(i) * T(0.01) + T(0.00137));
  for (int i = -20000; i <= 20000; ++i) fields.push_back(static_cast<T>(i) * T(0.001));
  return fields;
}

template <class T>
at::Tensor tensor_of(const std::vector<T>& values) {
  const auto type = sizeof(T) == 4 ? at::kFloat : at::kDouble;
  at::Tensor result = at::empty({static_cast<std::int64_t>(values.size())}, type);
  std::copy(values.begin(), values.end(), result.data_ptr<T>());
  return result;
}

template <class T>
class Logistic : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Logistic, Types);

TYPED_TEST(Logistic, IsWithinRoundingOfTheStandardLibraryEverywhere) {
  using Limits = Accuracy<TypeParam>;
  const auto fields = interesting_fields<TypeParam>();
  const at::Tensor result = logistic(tensor_of(fields));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto expected = true_logistic(static_cast<typename Limits::Wide>(fields[i]));
    const auto actual = result.template data_ptr<TypeParam>()[i];
    ASSERT_LE(std::abs(actual - expected), Limits::logistic) << "field " << fields[i];
    ASSERT_GE(actual, 0) << "field " << fields[i];
    ASSERT_LE(actual, 1) << "field " << fields[i];
    // Small probabilities are right in relation to themselves, as far as they are normal numbers.
    if (fields[i] > Limits::deepest) {
      ASSERT_LE(std::abs(actual - expected), Limits::relative * expected) << "field " << fields[i];
    }
  }
}

TYPED_TEST(Logistic, SoftplusIsWithinRoundingOfTheStandardLibraryEverywhere) {
  using Limits = Accuracy<TypeParam>;
  const auto fields = interesting_fields<TypeParam>();
  const at::Tensor result = softplus_row_sums(tensor_of(fields).unsqueeze(1));
  EXPECT_EQ(result.scalar_type(), at::kDouble);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto expected = true_softplus(static_cast<typename Limits::Wide>(fields[i]));
    const double actual = result.data_ptr<double>()[i];
    if (std::isinf(fields[i]) && fields[i] > 0) {
      ASSERT_EQ(actual, fields[i]);
      continue;
    }
    const auto scale = std::max<typename Limits::Wide>(1, expected);
    ASSERT_LE(std::abs(actual - expected), Limits::softplus * scale) << "field " << fields[i];
    if (fields[i] > Limits::deepest) {
      ASSERT_LE(std::abs(actual - expected), Limits::relative * expected) << "field " << fields[i];
    }
  }
}

TYPED_TEST(Logistic, OfNotANumberIsNotANumber) {
  const std::vector<TypeParam> nan(19, std::numeric_limits<TypeParam>::quiet_NaN());
  EXPECT_TRUE(at::isnan(logistic(tensor_of(nan))).all().template item<bool>());
  EXPECT_TRUE(std::isnan(softplus_row_sums(tensor_of(nan).unsqueeze(0)).template item<double>()));
}

TYPED_TEST(Logistic, ScalarFormsAgreeWithTheTensorLoops) {
  const auto fields = interesting_fields<TypeParam>();
  const at::Tensor result = logistic(tensor_of(fields));
  // Fused multiply-adds, where the machine has them, may differ in the last bits.
  for (std::size_t i = 0; i < fields.size(); ++i)
    ASSERT_NEAR(elementary::logistic(fields[i]), result.template data_ptr<TypeParam>()[i],
                Accuracy<TypeParam>::logistic);
}

TYPED_TEST(Logistic, SampleIsOneWhereTheUniformOfTheKeyIsBelowTheProbability) {
  constexpr auto type = sizeof(TypeParam) == 4 ? at::kFloat : at::kDouble;
  for (const std::int64_t n : {0, 1, 3, 511, 512, 513, 7777, 100003}) {
    const Key key = Key(1).fold_in(static_cast<std::uint64_t>(n));
    const at::Tensor field = 3 * normal(key.fold_in(0), {n}, type);
    const at::Tensor expected = (uniform(key.fold_in(1), {n}, type) < logistic(field)).to(type);
    EXPECT_TRUE(at::equal(sample_logistic(key.fold_in(1), field), expected)) << n << " elements";
  }
}

TYPED_TEST(Logistic, SampleHasTheProbabilityOfTheField) {
  constexpr auto type = sizeof(TypeParam) == 4 ? at::kFloat : at::kDouble;
  constexpr std::int64_t n = 200001;
  // Five comparisons at 5.5 standard errors: false-alarm rate 2e-7.
  for (const double field : {-6.0, -1.0, 0.0, 0.3, 5.0}) {
    const double p = 1 / (1 + std::exp(-field));
    const at::Tensor draw = sample_logistic(Key(2).fold_in(static_cast<std::uint64_t>(field * 10 + 100)),
                                            at::full({n}, field, at::TensorOptions(type)));
    EXPECT_NEAR(draw.to(at::kDouble).mean().template item<double>(), p, 5.5 * std::sqrt(p * (1 - p) / n));
  }
}

TYPED_TEST(Logistic, IsBitIdenticalForAnyNumberOfThreads) {
  constexpr auto type = sizeof(TypeParam) == 4 ? at::kFloat : at::kDouble;
  const at::Tensor field = 4 * normal(Key(3), {1009, 101}, type);
  std::vector<at::Tensor> means, samples, sums;
  for (const int threads : {1, 2, 3}) {
    const support::ThreadCount limit(threads);
    means.push_back(logistic(field));
    samples.push_back(sample_logistic(Key(4), field));
    sums.push_back(softplus_row_sums(field));
  }
  for (std::size_t i = 1; i < means.size(); ++i) {
    EXPECT_TRUE(at::equal(means[0], means[i]));
    EXPECT_TRUE(at::equal(samples[0], samples[i]));
    EXPECT_TRUE(at::equal(sums[0], sums[i]));
  }
}

TYPED_TEST(Logistic, SumsRowsOfEveryLength) {
  constexpr auto type = sizeof(TypeParam) == 4 ? at::kFloat : at::kDouble;
  for (const std::int64_t columns : {0, 1, 2, 15, 16, 17, 255, 256, 257, 1000}) {
    const at::Tensor field = 5 * normal(Key(5), {7, columns}, type);
    const at::Tensor sums = softplus_row_sums(field);
    ASSERT_EQ(sums.sizes(), at::IntArrayRef({7}));
    for (std::int64_t row = 0; row < 7; ++row) {
      long double expected = 0;
      for (std::int64_t j = 0; j < columns; ++j)
        expected += true_softplus(static_cast<long double>(field[row][j].template item<double>()));
      EXPECT_NEAR(sums[row].template item<double>(), static_cast<double>(expected),
                  Accuracy<TypeParam>::softplus * (1 + static_cast<double>(expected)))
          << columns << " columns";
    }
  }
}

TYPED_TEST(Logistic, ReadsAStridedFieldInItsLogicalOrder) {
  constexpr auto type = sizeof(TypeParam) == 4 ? at::kFloat : at::kDouble;
  const at::Tensor field = normal(Key(6), {37, 11}, type);
  const at::Tensor turned = field.t().contiguous();
  EXPECT_TRUE(at::equal(logistic(field.t()), logistic(turned)));
  EXPECT_TRUE(at::equal(sample_logistic(Key(7), field.t()), sample_logistic(Key(7), turned)));
  EXPECT_TRUE(at::equal(softplus_row_sums(field.t()), softplus_row_sums(turned)));
}

TEST(LogisticKernels, RefuseFieldsThatAreNotReal) {
  EXPECT_THROW(static_cast<void>(logistic(at::ones({3}, at::kLong))), Error);
  EXPECT_THROW(static_cast<void>(sample_logistic(Key(0), at::ones({3}, at::kHalf))), Error);
  EXPECT_THROW(static_cast<void>(softplus_row_sums(at::ones({3, 2}, at::kInt))), Error);
  EXPECT_THROW(static_cast<void>(softplus_row_sums(at::ones({3}))), Error);
}

TEST(UniformChunk, HoldsTheWordsOfItsBlocksInOrder) {
  for (const std::uint64_t seed : {0ULL, 1ULL, 0xDEADBEEFCAFEF00DULL})
    // The last chunk numbers reach past 2^32 blocks, where the counter's second word begins to count.
    for (const std::int64_t chunk :
         {std::int64_t{0}, std::int64_t{1}, std::int64_t{12345}, std::int64_t{1} << 25, (std::int64_t{1} << 26) + 3}) {
      const Key key(seed);
      float single[uniform_chunk];
      double precise[uniform_chunk];
      fill_uniform_chunk(key, chunk, single);
      fill_uniform_chunk(key, chunk, precise);
      for (std::int64_t i = 0; i < uniform_chunk; ++i) {
        const auto element = static_cast<std::uint64_t>(chunk * uniform_chunk + i);
        const PhiloxBlock four = key.block(element / 4), two = key.block(element / 2);
        ASSERT_EQ(single[i], to_unit_float(four[element % 4])) << "element " << element;
        ASSERT_EQ(precise[i], to_unit_double(two[element % 2 * 2], two[element % 2 * 2 + 1])) << "element " << element;
      }
    }
}

}  // namespace
}  // namespace harmonium
