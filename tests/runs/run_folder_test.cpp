#include "harmonium/runs/run_folder.h"

#include <fstream>
#include <set>

#include "tests/files/support.h"

namespace harmonium {
namespace {

namespace fs = std::filesystem;

void put(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "x";
}

std::set<std::string> files_below(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.insert(fs::relative(entry.path(), folder).string());
  return names;
}

TEST(RunFolder, IsBlankWithNothingButWhatARunLeavesThatWasKilledAtItsStart) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path() / "run");
  EXPECT_TRUE(run.is_blank()) << "there is nothing";
  run.create();
  EXPECT_TRUE(run.is_blank());
  put(run.path() / "config.toml.4711.tmp");
  put(run.lock());
  EXPECT_TRUE(run.is_blank());
  EXPECT_FALSE(run.is_run());
  put(run.config());
  EXPECT_FALSE(run.is_blank());
  EXPECT_TRUE(run.is_run());
  EXPECT_FALSE(run.finished());
  put(run.model());
  EXPECT_TRUE(run.finished());
  const RunFolder other(folder.path() / "other");
  put(other.path() / "thesis.tex");
  EXPECT_FALSE(other.is_blank());
}

TEST(RunFolder, LosesHalfWrittenFilesInAllItsPartsAndNothingElse) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  for (const fs::path& part :
       {run.path(), run.checkpoints(), run.snapshots(), run.journals() / "0123", run.pretraining(),
        run.pretraining() / "layer-1", run.pretraining() / "layer-2" / "checkpoint"}) {
    put(part / "file.safetensors");
    put(part / "file.safetensors.1.tmp");
  }
  const std::set<std::string> before = files_below(run.path());
  run.remove_unfinished_files();
  std::set<std::string> expected;
  for (const std::string& name : before)
    if (!name.ends_with(".tmp")) expected.insert(name);
  EXPECT_EQ(expected.size() * 2, before.size());
  EXPECT_EQ(files_below(run.path()), expected);
}

TEST(RunFolder, IsRemovedWithoutWhatAPersonHasPutThere) {
  const TemporaryFolder folder;
  const RunFolder run(folder.path());
  for (const fs::path& file :
       {run.config(), run.model(), run.metrics(), run.start(), run.report(), run.evaluations(), run.classifications(),
        run.retrievals(), run.mistakes(), run.checkpoints() / "latest.json", run.snapshots() / "a",
        run.journals() / "b", run.path() / "layer-1" / "config.toml", run.path() / "layer-2" / "config.toml",
        run.path() / "notes.txt"})
    put(file);
  run.remove_run();
  EXPECT_EQ(files_below(run.path()), std::set<std::string>{"notes.txt"});
}

}  // namespace
}  // namespace harmonium
