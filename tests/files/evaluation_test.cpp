#include "harmonium/training/files/evaluation.h"

#include "tests/files/support.h"

namespace harmonium {
namespace {

Evaluation answer(std::int64_t updates, double value, const std::string& data = "digits:test") {
  const Estimate log_z{
      .value = 5, .low = 4, .high = 6, .method = "ais", .chains = 10, .betas = 20, .effective_samples = std::nullopt};
  return {.model = "run",
          .updates = updates,
          .seconds = 0.5,
          .data = data,
          .n = 300,
          .binarization = "none",
          .log_z = log_z,
          .log_likelihood = Estimate{
              .value = value, .low = value - 1, .high = value + 1, .method = "ais", .effective_samples = std::nullopt}};
}

std::vector<std::pair<std::int64_t, double>> recorded(const std::filesystem::path& folder) {
  std::vector<std::pair<std::int64_t, double>> result;
  for (const Evaluation& each : read_evaluations(folder)) result.emplace_back(each.updates, each.log_likelihood->value);
  return result;
}

using Recorded = std::vector<std::pair<std::int64_t, double>>;

TEST(Evaluations, KeepOneAnswerPerQuestionAndUpdates) {
  const TemporaryFolder folder;
  record_evaluation(folder.path(), answer(100, -30));
  record_evaluation(folder.path(), answer(300, -20));
  record_evaluation(folder.path(), answer(100, -29));
  EXPECT_EQ(recorded(folder.path()), (Recorded{{300, -20}, {100, -29}}));
  record_evaluations(folder.path(), {answer(100, -31, "digits:train"), answer(300, -19)});
  EXPECT_EQ(recorded(folder.path()), (Recorded{{100, -29}, {100, -31}, {300, -19}}));
}

TEST(Evaluations, BringUpdatesAndSecondsBack) {
  const TemporaryFolder folder;
  record_evaluation(folder.path(), answer(300, -20));
  const Evaluation back = read_evaluations(folder.path()).at(0);
  EXPECT_EQ(back.updates, 300);
  EXPECT_EQ(back.seconds, 0.5);
  EXPECT_EQ(back.log_z.chains, 10);
}

TEST(Evaluations, BringDrawsAndTheirSpreadBack) {
  const TemporaryFolder folder;
  Evaluation averaged = answer(300, -20);
  averaged.draws = 5;
  averaged.draw_spread = 0.25;
  record_evaluations(folder.path(), {averaged, answer(100, -30)});
  EXPECT_EQ(read_evaluations(folder.path()).at(0).draws, 5);
  EXPECT_EQ(read_evaluations(folder.path()).at(0).draw_spread, 0.25);
  EXPECT_EQ(read_evaluations(folder.path()).at(1).draws, 1);
  EXPECT_FALSE(read_evaluations(folder.path()).at(1).draw_spread.has_value());
}

TEST(Evaluations, OfOlderFilesAreReadAndReplacedByTheSameModels) {
  const TemporaryFolder folder;
  nlohmann::ordered_json old = to_json(answer(0, -20));
  for (const char* key : {"updates", "seconds", "draws", "draw_spread"}) old.erase(key);
  (void)folder.write("evaluations.jsonl", old.dump() + "\n");
  EXPECT_EQ(read_evaluations(folder.path()).at(0).updates, 0);
  EXPECT_EQ(read_evaluations(folder.path()).at(0).seconds, 0);
  EXPECT_EQ(read_evaluations(folder.path()).at(0).draws, 1);
  Evaluation snapshot = answer(100, -30);
  snapshot.model = "run/snapshots/update-00000100.safetensors";
  record_evaluation(folder.path(), snapshot);
  EXPECT_EQ(recorded(folder.path()), (Recorded{{0, -20}, {100, -30}}));
  record_evaluation(folder.path(), answer(500, -19));
  EXPECT_EQ(recorded(folder.path()), (Recorded{{100, -30}, {500, -19}}));
}

}  // namespace
}  // namespace harmonium
