#include "harmonium/core/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "harmonium/core/error.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

using support::message_of;

Moments example(double scale = 1.0) {
  return {{"visible.bias", at::arange(3, at::kDouble) * scale},
          {"hidden.bias", at::ones({2}, at::kDouble) * scale},
          {"visible_hidden.weights", at::arange(6, at::kDouble).reshape({3, 2}) * scale}};
}

bool same(const Moments& a, const Moments& b) {
  if (a.entries().size() != b.entries().size()) return false;
  for (std::size_t i = 0; i < a.entries().size(); ++i) {
    const auto& [name_a, value_a] = a.entries()[i];
    const auto& [name_b, value_b] = b.entries()[i];
    if (name_a != name_b || !at::equal(value_a, value_b)) return false;
  }
  return true;
}

TEST(Moments, CountsTheScalarsOfAllEntries) {
  EXPECT_EQ(example().dimension(), 3 + 2 + 6);
  EXPECT_EQ(Moments().dimension(), 0);
  EXPECT_TRUE(Moments().empty());
}

TEST(Moments, KeepsEntriesInTheOrderTheyCame) {
  Moments moments;
  moments.insert("b", at::zeros({1}));
  moments.insert("a", at::zeros({1}));
  ASSERT_EQ(moments.entries().size(), 2U);
  EXPECT_EQ(moments.entries()[0].first, "b");
  EXPECT_EQ(moments.entries()[1].first, "a");
  EXPECT_TRUE(moments.contains("a"));
  EXPECT_FALSE(moments.contains("c"));
}

TEST(Moments, RefusesASecondEntryOfTheSameName) {
  Moments moments = example();
  EXPECT_THROW(moments.insert("hidden.bias", at::zeros({2})), Error);
}

TEST(Moments, NamesTheMissingEntryAndThoseThereAre) {
  const Moments moments = example();
  const std::string message = message_of([&] { static_cast<void>(moments["visible.scale"]); });
  EXPECT_NE(message.find("visible.scale"), std::string::npos) << message;
  EXPECT_NE(message.find("visible_hidden.weights"), std::string::npos) << message;
}

TEST(Moments, WritesThroughTheEntryItReturns) {
  Moments moments = example();
  moments["hidden.bias"] = at::full({2}, 7.0, at::kDouble);
  EXPECT_EQ(moments["hidden.bias"].sum().item<double>(), 14.0);
}

TEST(Moments, AreAVectorSpace) {
  const Moments a = example(), b = example(0.5);
  EXPECT_TRUE(same(a + b, example(1.5)));
  EXPECT_TRUE(same(a - b, example(0.5)));
  EXPECT_TRUE(same(4.0 * b, example(2.0)));
  EXPECT_TRUE(same(a - a, a.zeros_like()));
}

TEST(Moments, ArithmeticLeavesItsOperandsAlone) {
  const Moments a = example(), b = example(2.0);
  static_cast<void>(a + b);
  static_cast<void>(a - b);
  static_cast<void>(3.0 * a);
  EXPECT_TRUE(same(a, example()));
  EXPECT_TRUE(same(b, example(2.0)));
}

TEST(Moments, InPlaceOperationsKeepTheStorage) {
  Moments a = example();
  const void* storage = a["visible_hidden.weights"].data_ptr();
  a.add_(example(), 3.0).mul_(0.5);
  EXPECT_TRUE(same(a, example(2.0)));
  a.lerp_(example(4.0), 0.25);
  EXPECT_TRUE(same(a, example(2.5)));
  a.copy_(example(-1.0));
  EXPECT_TRUE(same(a, example(-1.0)));
  EXPECT_EQ(a["visible_hidden.weights"].data_ptr(), storage);
}

TEST(Moments, CloneSharesNothing) {
  const Moments a = example();
  a.clone().mul_(0.0);
  EXPECT_TRUE(same(a, example()));
}

TEST(Moments, DotSumsOverAllEntries) {
  // 0+1+4, 1+1, 0+1+4+9+16+25, each with factor 2.
  EXPECT_EQ(dot(example(), example(2.0)), 2.0 * (5 + 2 + 55));
  EXPECT_EQ(norm(example()), std::sqrt(62.0));
}

// A float sum of 2^25 ones would stop at 2^24, where adding one changes nothing.
TEST(Moments, DotOfFloatsAccumulatesInDouble) {
  const std::int64_t n = 1 << 25;
  const Moments ones = {{"w", at::ones({1}, at::kFloat).expand({n})}};
  EXPECT_EQ(dot(ones, ones), static_cast<double>(n));
}

TEST(Moments, OfDifferentNamesDoNotCombine) {
  Moments a = example();
  const Moments renamed = {
      {"visible.bias", at::zeros({3})}, {"hidden.bias", at::zeros({2})}, {"other", at::zeros({3, 2})}};
  const Moments reordered = {
      {"hidden.bias", at::zeros({2})}, {"visible.bias", at::zeros({3})}, {"visible_hidden.weights", at::zeros({3, 2})}};
  const Moments shorter = {{"visible.bias", at::zeros({3})}};
  for (const Moments& other : {renamed, reordered, shorter, Moments()}) {
    EXPECT_THROW(a.add_(other), Error);
    EXPECT_THROW(a.lerp_(other, 0.5), Error);
    EXPECT_THROW(a.copy_(other), Error);
    EXPECT_THROW(static_cast<void>(dot(a, other)), Error);
  }
  const std::string message = message_of([&] { a.add_(renamed); });
  EXPECT_NE(message.find("other"), std::string::npos) << message;
  EXPECT_TRUE(same(a, example())) << "a refused operation must change nothing";
}

TEST(Moments, UnflattenUndoesFlatten) {
  const Moments a = example();
  const at::Tensor flat = a.flatten();
  EXPECT_EQ(flat.dim(), 1);
  EXPECT_EQ(flat[3 + 2 + 1].item<double>(), 1.0) << "weights follow the biases, row by row";
  EXPECT_TRUE(same(a.zeros_like().unflatten(flat), a));
}

TEST(Moments, UnflattenRefusesAVectorOfAnotherLength) {
  const Moments a = example();
  EXPECT_THROW(static_cast<void>(a.unflatten(at::zeros({10}))), Error);
  EXPECT_THROW(static_cast<void>(a.unflatten(at::zeros({11, 1}))), Error);
}

TEST(Moments, ConvertEveryEntryToAnotherType) {
  const Moments single = example().to(at::kFloat);
  for (const auto& [name, value] : single.entries()) EXPECT_EQ(value.scalar_type(), at::kFloat) << name;
  EXPECT_TRUE(same(single.to(at::kDouble), example()));
}

TEST(Moments, MapKeepsNamesAndOrder) {
  EXPECT_TRUE(same(example().map([](const at::Tensor& x) { return x * 3; }), example(3.0)));
}

}  // namespace
}  // namespace harmonium
