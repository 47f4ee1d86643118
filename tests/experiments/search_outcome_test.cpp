// Files that trials of a search leave: whole ones are believed, damaged ones are work to be done again.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "harmonium/experiments/search_session.h"

namespace harmonium {
namespace {

class SearchOutcome : public ::testing::Test {
 protected:
  SearchOutcome() { std::filesystem::create_directories(folder); }
  ~SearchOutcome() override { std::filesystem::remove_all(folder); }

  [[nodiscard]] SearchedRun read(const std::string& failed, const std::string& score) const {
    const auto write = [&](const char* name, const std::string& text) {
      std::filesystem::remove(folder / name);
      if (!text.empty()) std::ofstream(folder / name) << text;
      return folder / name;
    };
    SearchedRun run;
    read_outcome(run, write("failed", failed), write("score", score));
    return run;
  }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("harmonium_outcome_" + std::to_string(::getpid()));
};

TEST_F(SearchOutcome, OfWholeFilesIsBelieved) {
  EXPECT_FALSE(read("", "").done());
  EXPECT_EQ(read(R"({"reason": "diverged"})", "").failure, "diverged");
  const SearchedRun scored = read("", R"({"score": -1.5, "seconds": 2, "updates": 10, "data": "digits"})");
  EXPECT_EQ(scored.score, -1.5);
  EXPECT_EQ(scored.config.updates, 10);
  EXPECT_FALSE(read("", R"({"score": null, "seconds": 2, "updates": 10})").failure.empty());
}

TEST_F(SearchOutcome, OfDamagedFilesIsNone) {
  for (const char* damaged :
       {"[]", "3", "{}", "{\"reason\": 3}", "{\"score\": -1}", "{\"score\": -1, \"seconds\": \"x\"",
        "{\"score\": -1, \"seconds\": \"x\", \"updates\": 1}", "null"}) {
    EXPECT_FALSE(read(damaged, "").done()) << damaged;
    EXPECT_FALSE(read("", damaged).done()) << damaged;
  }
}

}  // namespace
}  // namespace harmonium
