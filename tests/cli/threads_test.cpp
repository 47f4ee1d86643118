// How the tool starts: its threads wait for each other shortly, unless the user has chosen, and its libraries come from
// the system.
#include <sstream>

#include "tests/cli/tool.h"

namespace harmonium::testing {
namespace {

class Starting : public Tool {
 protected:
  // What libgomp says of its settings when it is loaded; empty for another OpenMP.
  [[nodiscard]] std::string spins(const std::map<std::string, std::optional<std::string>>& environment) const {
    Process command = process({"--version"});
    for (const char* other : {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY", "OMP_NUM_THREADS"})
      command.environment[other] = std::nullopt;
    command.environment["OMP_DISPLAY_ENV"] = "verbose";
    for (const auto& [name, value] : environment) command.environment[name] = value;
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.code, 0);
    const std::string before = "GOMP_SPINCOUNT = '";
    const std::size_t place = outcome.err.rfind(before);  // the last that was loaded
    if (place == std::string::npos) return "";
    const std::size_t begin = place + before.size();
    return outcome.err.substr(begin, outcome.err.find('\'', begin) - begin);
  }
};

TEST_F(Starting, SpinShortlyUnlessTheUserHasChosen) {
#if defined(HARMONIUM_SANITIZED)
  GTEST_SKIP() << "sanitized programs are not started again";
#endif
  const std::string usual = spins({{"OMP_NUM_THREADS", "1"}});  // one thread waits for nobody
  if (usual.empty()) GTEST_SKIP() << "this OpenMP is not libgomp";
  EXPECT_EQ(spins({}), "1000");
  EXPECT_EQ(spins({{"GOMP_SPINCOUNT", "77"}}), "77");
  EXPECT_EQ(spins({{"OMP_WAIT_POLICY", "passive"}}), "0");
  EXPECT_NE(usual, "1000");
}

// An empty entry in the search path is the current folder: a library that lies in a data folder would be loaded.
TEST_F(Starting, LibrariesAreNotLookedForInTheCurrentFolder) {
  Process command = process({"--version"});
  command.environment["LD_DEBUG"] = "libs";
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.code, 0);
  std::istringstream lines(outcome.err);
  std::size_t tried = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string before = "trying file=";
    const std::size_t place = line.find(before);
    if (place == std::string::npos) continue;
    ++tried;
    EXPECT_EQ(line[place + before.size()], '/') << line;
  }
  if (tried == 0) GTEST_SKIP() << "this system's loader does not tell";
}

}  // namespace
}  // namespace harmonium::testing
