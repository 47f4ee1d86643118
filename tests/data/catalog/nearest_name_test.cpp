#include "harmonium/data/catalog/nearest_name.h"

#include <gtest/gtest.h>

namespace harmonium {
namespace {

const std::vector<std::string> names = {"digits", "mnist", "fashion_mnist", "shifter"};

TEST(NearestName, FindsTheNameBehindATypingMistake) {
  EXPECT_EQ(nearest_name("digts", names), "digits");
  EXPECT_EQ(nearest_name("minst", names), "mnist");
  EXPECT_EQ(nearest_name("fashionmnist", names), "fashion_mnist");
  EXPECT_EQ(nearest_name("shifter", names), "shifter");
}

TEST(NearestName, GuessesNothingForAWordUnlikeAll) {
  EXPECT_EQ(nearest_name("newsgroups", names), "");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

}  // namespace
}  // namespace harmonium
