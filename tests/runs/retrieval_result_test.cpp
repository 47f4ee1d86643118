#include "harmonium/runs/retrieval_result.h"

#include <nlohmann/json.hpp>
#include "harmonium/runs/damaged_records.h"

#include "tests/files/support.h"

namespace harmonium {
namespace {

RetrievalResult sample_retrieval(const std::string& data, double precision) {
  return {.model = "runs/a",
          .updates = 7,
          .data = data,
          .against = data,
          .fitted = "corpus",
          .queries = 4,
          .pool = 3,
          .curves = {{.name = "code", .numbers = 2, .points = {{1, precision, 0.4, 0.9}, {3, 0.25, 0.2, 0.3}}},
                     {.name = "LSA", .numbers = 2, .points = {{1, 0.5, 0.4, 0.6}, {3, 0.25, 0.2, 0.3}}}}};
}

TEST(RetrievalResults, AreReadAsTheyWereWritten) {
  const RetrievalResult result = sample_retrieval("corpus:test", 0.75);
  EXPECT_EQ(to_json(retrieval_from_json(to_json(result))), to_json(result));
}

TEST(RetrievalResults, OfTheSameQuestionReplaceEachOther) {
  const TemporaryFolder folder;
  record_retrieval(folder.path(), sample_retrieval("corpus:test", 0.5));
  record_retrieval(folder.path(), sample_retrieval("corpus:valid", 0.5));
  record_retrieval(folder.path(), sample_retrieval("corpus:test", 0.75));
  const std::vector<RetrievalResult> all = read_retrievals(folder.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].data, "corpus:valid");
  EXPECT_EQ(all[1].curves.front().points.front().precision, 0.75);
}

TEST(RetrievalResults, SayWhatIsWrongWithAFile) {
  const TemporaryFolder folder;
  EXPECT_TRUE(read_retrievals(folder.path()).empty());
  RetrievalResult uneven = sample_retrieval("corpus:test", 0.5);
  uneven.curves[1].points.pop_back();
  folder.write("retrievals.jsonl", to_json(sample_retrieval("a", 1)).dump() + "\n" + to_json(uneven).dump() + "\n");
  EXPECT_EQ(read_retrievals(folder.path()).size(), 1U);
  const std::vector<std::string> told = damaged_records(folder.path());
  ASSERT_EQ(told.size(), 1U);
  for (const char* part : {"retrievals.jsonl", "line 2", "LSA", "1 points"})
    EXPECT_NE(told[0].find(part), std::string::npos) << told[0];
}

}  // namespace
}  // namespace harmonium
