#include "harmonium/runs/run_identity.h"

#include "harmonium/core/error.h"
#include "harmonium/runs/config_file.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

RunIdentity identity_of(const RunConfig& config, const std::string& data = "digest") {
  return identify_run(to_toml(config), data, config);
}

std::string complaint(const RunIdentity& before, const RunIdentity& now, const AcceptedChanges& accepted = {}) {
  try {
    (void)require_same_run(before, now, accepted, "runs/x");
  } catch (const Error& error) {
    return error.marked();
  }
  return "";
}

TEST(RunIdentity, SurvivesTheNotesOfACheckpoint) {
  const RunIdentity identity = identity_of({});
  const RunIdentity back = RunIdentity::from_notes(identity.notes());
  EXPECT_EQ(back.data, identity.data);
  EXPECT_EQ(back.config, identity.config);
  EXPECT_EQ(back.threads, identity.threads);
  EXPECT_GT(back.threads, 0);
}

TEST(RunIdentity, RefusesOtherDataUnlessAccepted) {
  const RunIdentity before = identity_of({}), now = identity_of({}, "another");
  EXPECT_NE(complaint(before, now).find("@accept_changed_data"), std::string::npos);
  EXPECT_EQ(complaint(before, now, {.data = true}), "");
  EXPECT_EQ(complaint(before, before), "");
}

TEST(RunIdentity, RefusesAnotherConfigurationNamingTheLineUnlessAccepted) {
  RunConfig config;
  const RunIdentity before = identity_of(config);
  config.rate_weights = 0.25;
  const std::string said = complaint(before, identity_of(config));
  for (const char* part : {"rate_weights = 0.25", "rate_weights = 0", "@accept_changed_config"})
    EXPECT_NE(said.find(part), std::string::npos) << said;
  EXPECT_EQ(complaint(before, identity_of(config), {.config = true}), "");
}

TEST(RunIdentity, AllowsAnotherLengthWhereItIsAskedFor) {
  RunConfig config;
  const RunIdentity before = identity_of(config);
  config.updates *= 2;
  EXPECT_NE(complaint(before, identity_of(config)).find("--updates"), std::string::npos);
  EXPECT_EQ(complaint(before, identity_of(config), {.updates = true}), "");
  config.batch = 7;
  EXPECT_NE(complaint(before, identity_of(config), {.updates = true}), "") << "nothing but the length was allowed";
}

TEST(RunIdentity, DoesNotMindWhereDataLieOrHowOftenSomethingIsSaved) {
  RunConfig config;
  const RunIdentity before = identity_of(config);
  config.data = "moved/digits.npy";
  config.device = "cuda";
  config.checkpoint_every = 3;
  EXPECT_EQ(complaint(before, identity_of(config)), "");
}

TEST(RunIdentity, OfOlderCheckpointsSaysNothingAndRefusesNothing) {
  EXPECT_EQ(complaint(RunIdentity::from_notes({{"format", "harmonium-checkpoint/1"}}), identity_of({})), "");
  EXPECT_EQ(require_same_run(RunIdentity::from_notes({}), identity_of({}), {}, "runs/x"), "");
}

TEST(RunIdentity, WarnsOfAnotherNumberOfThreads) {
  RunIdentity before = identity_of({}), now = before;
  now.threads = before.threads + 1;
  const std::string warning = require_same_run(before, now, {}, "runs/x");
  EXPECT_NE(warning.find("@threads " + std::to_string(before.threads)), std::string::npos) << warning;
  now.threads = 0;  // on a device
  EXPECT_EQ(require_same_run(before, now, {}, "runs/x"), "");
}

}  // namespace
}  // namespace harmonium
