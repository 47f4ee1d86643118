#include "harmonium/runs/snapshots.h"

#include "harmonium/families/machine_model.h"
#include "harmonium/families/snapshot_updates.h"
#include "harmonium/models/builders.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

using Updates = std::vector<std::int64_t>;

void expect_refused(const std::string& list, const std::string& part) {
  try {
    (void)snapshot_updates(list, 1000);
    ADD_FAILURE() << "snapshots " << list << " was taken";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("snapshots " + list), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(Snapshots, OfNoneAreNone) { EXPECT_EQ(snapshot_updates("none", 1000), Updates{}); }

TEST(Snapshots, OfAListAreItsNumbers) {
  EXPECT_EQ(snapshot_updates("100,300,1000", 1000), (Updates{100, 300, 1000}));
  EXPECT_EQ(snapshot_updates("7", 1000), (Updates{7}));
  EXPECT_EQ(snapshot_updates("100, 300", 1000), (Updates{100, 300}));
}

TEST(Snapshots, OfLogAreOneAndThreeOfEveryPowerOfTenAndTheLastUpdateOnce) {
  EXPECT_EQ(snapshot_updates("log", 1), (Updates{1}));
  EXPECT_EQ(snapshot_updates("log", 30), (Updates{1, 3, 10, 30}));
  EXPECT_EQ(snapshot_updates("log", 1000), (Updates{1, 3, 10, 30, 100, 300, 1000}));
  EXPECT_EQ(snapshot_updates("log", 2500), (Updates{1, 3, 10, 30, 100, 300, 1000, 2500}));
}

TEST(Snapshots, OfABadListAreAnErrorThatNamesTheFlagAndTheItem) {
  expect_refused("", "''");
  expect_refused("often", "'often'");
  expect_refused("100,,300", "''");
  expect_refused("100,", "''");
  expect_refused("0", "'0'");
  expect_refused("-5", "'-5'");
  expect_refused("1e3", "'1e3'");
  expect_refused("300,100", "100 does not come after 300");
  expect_refused("100,100", "100 does not come after 100");
  expect_refused("100,1001", "the run has 1000");
}

TEST(Snapshots, AreListedInOrderWithWhatTheyAreAndNothingElse) {
  const TemporaryFolder folder;
  EXPECT_TRUE(list_snapshots(folder.path()).empty());
  MachineModel model(TrainedMachine{make_rbm("bernoulli:3", "bernoulli:2")});
  model.info().notes = {{"optimizer", "sgd"}};
  for (const char* update : {"200", "1000", "30"}) {
    model.info().notes["updates"] = update;
    write_snapshot(folder.path(), model, 0.5);
  }
  (void)folder.write("snapshots/update-00000007.safetensors.77.tmp", "half");
  (void)folder.write("snapshots/update-x.safetensors", "");
  Updates updates;
  for (const SnapshotFile& file : list_snapshots(folder.path())) {
    updates.push_back(file.update);
    const TrainedMachine read = read_machine(file.path);
    EXPECT_EQ(read.notes.at("updates"), std::to_string(file.update));
    EXPECT_EQ(read.notes.at("seconds"), "0.5");
    EXPECT_EQ(read.notes.at("optimizer"), "sgd");
  }
  EXPECT_EQ(updates, (Updates{30, 200, 1000}));
  EXPECT_TRUE(std::filesystem::exists(folder / "snapshots/update-00001000.safetensors"));
}

}  // namespace
}  // namespace harmonium
