#include "harmonium/runs/classification_result.h"

#include <nlohmann/json.hpp>

#include <cmath>

#include "tests/files/support.h"

namespace harmonium {
namespace {

// The ends of the interval are the proportions that the one measured is just 1.96 standard errors away from.
TEST(WilsonInterval, HoldsThoseProportionsFromWhichTheMeasuredOneIsNotFar) {
  for (const auto& [hits, n] : {std::pair(1, 10), std::pair(128, 10'000), std::pair(299, 300), std::pair(50, 100)}) {
    const Proportion share = wilson_interval(hits, n);
    EXPECT_EQ(share.value, static_cast<double>(hits) / n);
    EXPECT_LT(share.low, share.value);
    EXPECT_GT(share.high, share.value);
    for (const double p : {share.low, share.high})
      EXPECT_NEAR(std::abs(share.value - p), 1.959963984540054 * std::sqrt(p * (1 - p) / n), 1e-12) << hits << " " << n;
  }
  EXPECT_EQ(wilson_interval(0, 10).low, 0);
  EXPECT_NEAR(wilson_interval(0, 10).high, 0.277533, 1e-6);
  EXPECT_EQ(wilson_interval(10, 10).high, 1);
  EXPECT_THROW((void)wilson_interval(0, 0), Error);
}

ClassificationResult small_result() {
  const at::Tensor p = at::tensor({0.7, 0.2, 0.1,     // 0 as 0
                                   0.1, 0.8, 0.1,     // 0 as 1, at 0.1
                                   0.3, 0.3, 0.4,     // 2 as 2
                                   0.05, 0.9, 0.05,   // 2 as 1, at 0.05: the surest
                                   0.4, 0.25, 0.35},  // 1 as 0, at 0.25
                                  at::kDouble)
                           .reshape({5, 3});
  ClassificationResult result = classification_result(p.log(), at::tensor({0, 0, 2, 2, 1}, at::kLong), 2);
  result.model = "run";
  result.updates = 60;
  result.data = "digits:test";
  result.binarization = "none";
  return result;
}

TEST(ClassificationResult, CountsWhatIsTakenForWhat) {
  const ClassificationResult result = small_result();
  EXPECT_EQ(result.n, 5);
  EXPECT_EQ(result.wrong, 3);
  EXPECT_EQ(result.confusion, (std::vector<std::vector<std::int64_t>>{{1, 1, 0}, {1, 0, 0}, {0, 1, 1}}));
  EXPECT_NEAR(result.mean_log_probability,
              (std::log(0.7) + std::log(0.1) + std::log(0.4) + std::log(0.05) + std::log(0.25)) / 5, 1e-12);
  EXPECT_EQ(result.class_error(1).value, 1);
  EXPECT_EQ(result.class_error(2).value, 0.5);
  ASSERT_EQ(result.mistakes.size(), 2U);
  EXPECT_EQ(result.mistakes[0].row, 3);
  EXPECT_EQ(result.mistakes[0].truth, 2);
  EXPECT_EQ(result.mistakes[0].predicted, 1);
  EXPECT_NEAR(result.mistakes[0].log_probability, std::log(0.05), 1e-12);
  EXPECT_EQ(result.mistakes[1].row, 1);
}

TEST(ClassificationResult, IsRecordedOncePerQuestionAndReadBackWhole) {
  const TemporaryFolder folder;
  EXPECT_TRUE(read_classifications(folder.path()).empty());
  ClassificationResult first = small_result(), other = small_result();
  other.data = "digits:valid";
  record_classification(folder.path(), first);
  record_classification(folder.path(), other);
  first.mean_log_probability = -7;
  record_classification(folder.path(), first);
  const std::vector<ClassificationResult> all = read_classifications(folder.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].data, "digits:valid");
  EXPECT_EQ(to_json(all[1]), to_json(first));
  folder.write("classifications.jsonl", "{\"model\": 1}\n");
  EXPECT_TRUE(read_classifications(folder.path()).empty()) << "a damaged line costs no more than itself";
}

}  // namespace
}  // namespace harmonium
