#include "harmonium/runs/folder_journal.h"

#include <gtest/gtest.h>

#include <fstream>

#include "harmonium/models/builders.h"
#include "tests/files/support.h"
#include "tests/support/machines.h"

namespace harmonium {
namespace {

namespace fs = std::filesystem;

class FolderJournalTest : public testing::Test {
 protected:
  const TemporaryFolder temporary;
  const fs::path folder = temporary.path();
  const NamedTensors some = {{"step", at::scalar_tensor(7, at::kLong)}, {"log_weights", at::ones({3}, at::kDouble)}};
};

TEST_F(FolderJournalTest, GivesBackWhatWasKeptLast) {
  FolderJournal journal(folder / "evaluating" / "abc", std::chrono::hours(1));
  EXPECT_FALSE(journal.find("ais-0").has_value());
  EXPECT_FALSE(fs::exists(folder / "evaluating")) << "made before there was anything to keep";
  journal.keep("ais-0", some);
  FolderJournal later(folder / "evaluating" / "abc", std::chrono::hours(1));
  const auto found = later.find("ais-0");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(find_tensor(*found, "step", "journal").item<std::int64_t>(), 7);
  EXPECT_TRUE(at::equal(find_tensor(*found, "log_weights", "journal"), at::ones({3}, at::kDouble)));
  EXPECT_FALSE(later.find("ais-1").has_value());
  later.keep("ais-0", {{"step", at::scalar_tensor(8, at::kLong)}});
  EXPECT_EQ(find_tensor(*journal.find("ais-0"), "step", "journal").item<std::int64_t>(), 8);
}

TEST_F(FolderJournalTest, TakesADamagedFileForNone) {
  FolderJournal journal(folder / "abc", std::chrono::hours(1));
  journal.keep("ais-0", some);
  fs::resize_file(folder / "abc" / "ais-0.safetensors", 40);
  EXPECT_FALSE(journal.find("ais-0").has_value());
}

TEST_F(FolderJournalTest, LeavesNothingBehindWhenFinished) {
  FolderJournal journal(folder / "evaluating" / "abc", std::chrono::hours(1)),
      other(folder / "evaluating" / "other", std::chrono::hours(1));
  journal.keep("ais-0", some);
  other.keep("ais-0", some);
  journal.finish();
  EXPECT_TRUE(other.find("ais-0").has_value()) << "another question's work is not ours to remove";
  other.finish();
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(FolderJournalTest, IsDueAfterItsInterval) {
  EXPECT_FALSE(FolderJournal(folder, std::chrono::hours(1)).due());
  FolderJournal hasty(folder / "abc", std::chrono::seconds(0));
  EXPECT_TRUE(hasty.due());
}

TEST_F(FolderJournalTest, SaysWhereItCannotWriteAndStopsNobody) {
  std::ofstream(folder / "file") << "in the way";
  FolderJournal journal(folder / "file" / "abc", std::chrono::hours(1));
  EXPECT_EQ(journal.trouble(), "");
  EXPECT_NO_THROW(journal.keep("ais-0", some));
  support::expect_mentions(journal.trouble(), {(folder / "file" / "abc").string()});
}

TEST(QuestionDigest, ChangesWithEveryParameterAndTheQuestion) {
  const BoltzmannMachine machine = support::randomized(make_rbm("bernoulli:5", "bernoulli:3"), 1);
  const std::string digest = question_digest(machine.parameters(), "ais");
  EXPECT_EQ(digest.size(), 16U);
  EXPECT_EQ(digest, question_digest(machine.to(at::kFloat).parameters(), "ais"));
  EXPECT_NE(digest, question_digest(machine.parameters(), "raise"));
  for (const auto& [name, value] : machine.parameters().entries()) {
    BoltzmannMachine changed = machine.to(at::kFloat);
    changed.parameters()[name].reshape({-1})[-1] += 0.5;
    EXPECT_NE(digest, question_digest(changed.parameters(), "ais")) << name;
  }
}

}  // namespace
}  // namespace harmonium
