// Damaged lines of a run's records.
#include "harmonium/runs/json_lines.h"

#include "harmonium/runs/damaged_records.h"
#include "harmonium/runs/evaluation.h"
#include "harmonium/runs/metrics_log.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

std::string metrics_line(int update) { return "{\"seconds\":1.0,\"update\":" + std::to_string(update) + "}\n"; }

TEST(DamagedRecords, OfMetricsCostTheirLineAndAreKeptAside) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  const std::string nothing(20, '\0');
  (void)folder.write("metrics.jsonl",
                     metrics_line(0) + nothing + "\n" + metrics_line(10) + metrics_line(20) + "{\"upd");
  const MetricsLog log(run.metrics());
  ASSERT_EQ(log.read().size(), 3U);
  const std::vector<std::string> told = damaged_records(run);
  ASSERT_EQ(told.size(), 1U) << "a line that a crash has cut short is no damage";
  EXPECT_NE(told[0].find("metrics.jsonl, line 2: damaged"), std::string::npos) << told[0];
  log.truncate_after(10);
  EXPECT_EQ(read_file(run.metrics()), metrics_line(0) + metrics_line(10)) << "good lines stay as they were";
  EXPECT_EQ(read_file(folder.path() / "metrics.jsonl.damaged"), nothing + "\n");
  EXPECT_TRUE(damaged_records(run).empty());
}

TEST(DamagedRecords, OfEvaluationsDoNotStopANewAnswer) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  Evaluation answer{.model = "run", .updates = 7, .data = "digits:test", .n = 3, .binarization = "none"};
  answer.log_likelihood = Estimate{.value = -1, .low = -1, .high = -1, .kind = EstimateKind::exact, .method = "exact"};
  record_evaluation(run.path(), answer);
  const std::string good = read_file(run.evaluations());
  (void)folder.write("evaluations.jsonl", "{\"model\": 1}\n" + good + "\x01 garbage\n");
  EXPECT_EQ(damaged_records(run).size(), 2U);
  answer.updates = 8;
  record_evaluation(run.path(), answer);
  EXPECT_EQ(read_evaluations(run.path()).size(), 2U);
  EXPECT_EQ(read_file(folder.path() / "evaluations.jsonl.damaged"), "{\"model\": 1}\n\x01 garbage\n");
  EXPECT_TRUE(damaged_records(run).empty());
}

}  // namespace
}  // namespace harmonium
