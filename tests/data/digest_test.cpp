#include "harmonium/data/digest.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <set>

namespace harmonium {
namespace {

Dataset small_table() {
  return {.name = "table", .values = at::arange(12, at::kByte).view({4, 3}), .labels = at::arange(4, at::kLong)};
}

TEST(DatasetDigest, IsTheSameForTheSameRowsWhateverTheirNameAndStorage) {
  const Dataset data = small_table();
  Dataset other = data;
  other.name = "moved/table.npy";
  other.values = data.values.t().contiguous().t();  // the same values in another order of memory
  ASSERT_FALSE(other.values.is_contiguous());
  EXPECT_EQ(dataset_digest(data), dataset_digest(other));
  EXPECT_EQ(dataset_digest(data).size(), 64U);
}

TEST(DatasetDigest, TellsApartEveryChangeOfValueShapeTypeScaleOrLabel) {
  const Dataset data = small_table();
  std::set<std::string> seen = {dataset_digest(data)};
  const auto differs = [&](const char* what, const auto& change) {
    Dataset other = data;
    other.values = data.values.clone();
    other.labels = data.labels.clone();
    change(other);
    EXPECT_TRUE(seen.insert(dataset_digest(other)).second) << what;
  };
  differs("a value", [](Dataset& d) { d.values[3][2] = 99; });
  differs("a label", [](Dataset& d) { d.labels[0] = 7; });
  differs("no labels", [](Dataset& d) { d.labels = at::Tensor(); });
  differs("shape", [](Dataset& d) { d.values = d.values.view({3, 4}); });
  differs("type", [](Dataset& d) { d.values = d.values.to(at::kFloat); });
  differs("scale", [](Dataset& d) { d.scale = 1 / 255.0; });
  differs("a row less", [](Dataset& d) { d = d.first(3); });
  differs("rows in another order", [](Dataset& d) { d = d.select(at::tensor({1, 0, 2, 3}, at::kLong)); });
}

TEST(DatasetDigest, DoesNotDependOnTheNumberOfThreads) {
  Dataset data = small_table();
  data.values = at::arange(3'000'000, at::kInt).view({-1, 3}).to(at::kByte);  // several pieces
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const std::string alone = dataset_digest(data);
  at::set_num_threads(2);
  EXPECT_EQ(dataset_digest(data), alone);
  at::set_num_threads(threads);
  data.values[999'999][2] = 255 - data.values[999'999][2].item<int>();
  EXPECT_NE(dataset_digest(data), alone) << "a change in the last piece";
}

}  // namespace
}  // namespace harmonium
