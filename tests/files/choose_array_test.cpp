#include "harmonium/data/formats/choose_array.h"

#include "tests/files/support.h"

namespace harmonium {

namespace {

std::string chosen_name(const std::vector<ArrayInfo>& arrays, const std::string& wanted = "") {
  return arrays[choose_array(arrays, wanted, "f.npz")].name;
}

}  // namespace

TEST(ChooseArray, TakesTheOnlyArrayOrTheOnlyMatrix) {
  EXPECT_EQ(chosen_name({{"arr_0", "", {5}}}), "arr_0");
  EXPECT_EQ(chosen_name({{"step", "", {}}, {"foo", "", {5, 3}}, {"bar", "", {5, 1}}}), "foo");
  EXPECT_EQ(chosen_name({{"text", "char", {2, 3}, false}, {"foo", "double", {5, 3}}}), "foo");
}

TEST(ChooseArray, TakesTheMostObviousName) {
  EXPECT_EQ(chosen_name({{"x_test", "", {5, 3}}, {"X_train", "", {9, 3}}}), "X_train");
  EXPECT_EQ(chosen_name({{"images", "", {5, 3, 3}}, {"features", "", {5, 9}}}), "images");
}

TEST(ChooseArray, TakesTheArrayThatIsWanted) {
  EXPECT_EQ(chosen_name({{"x", "", {5, 3}}, {"z", "", {9, 3}}}, "z"), "z");
  expect_error([] { (void)chosen_name({{"x", "", {5, 3}}}, "w"); }, {"f.npz", "named w", "x (5×3)"});
  expect_error([] { (void)chosen_name({{"c", "cell", {5, 3}, false}}, "c"); }, {"f.npz", "c is a cell"});
}

TEST(ChooseArray, ListsTheArraysWhenNoneIsObvious) {
  expect_error(
      [] {
        (void)chosen_name({{"x_one", "uint8", {5, 3}}, {"x_two", "", {6, 3}}});
      },
      {"f.npz", "several", "x_one (uint8 5×3), x_two (6×3)", "PATH:NAME"});
  expect_error([] { (void)chosen_name({{"a", "", {5}}, {"b", "", {6}}}); }, {"f.npz", "no array here"});
  expect_error([] { (void)chosen_name({}); }, {"f.npz", "no arrays"});
}

TEST(ChooseArray, FindsTheLabelsBesideTheData) {
  const auto labels_of = [](const std::vector<ArrayInfo>& arrays) { return find_labels(arrays, 0); };
  EXPECT_EQ(labels_of({{"x_one", "", {5, 3}}, {"y_two", "", {5}}, {"y_one", "", {5}}}), 2U);
  EXPECT_EQ(labels_of({{"train_images", "", {5, 3}}, {"test_labels", "", {5}}, {"train_labels", "", {5, 1}}}), 2U);
  EXPECT_EQ(labels_of({{"data", "", {5, 3}}, {"target", "", {1, 5}}}), 1U);
  EXPECT_EQ(labels_of({{"data", "", {5, 3}}, {"target", "", {6}}}), std::nullopt);
  EXPECT_EQ(labels_of({{"data", "", {5, 3}}, {"labels", "", {5, 2}}}), std::nullopt);
}

}  // namespace harmonium
