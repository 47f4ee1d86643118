#include "harmonium/core/machine_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace harmonium {
namespace {

namespace fs = std::filesystem;

// A tree of files like /sys/fs/cgroup.
class ControlGroups : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root); }
  void file(const std::string& name, const std::string& text) const {
    fs::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text;
  }
  fs::path root = fs::temp_directory_path() / ("harmonium_groups_" + std::to_string(::getpid()));
};

TEST_F(ControlGroups, OfVersionTwoTakeTheLeastLimitOnTheWayUp) {
  file("memory.max", "max\n");
  file("slice/memory.max", "3000000000\n");
  file("slice/job/memory.max", "5000000000\n");
  file("slice/cpu.max", "400000 100000\n");
  file("slice/job/cpu.max", "150000 100000\n");
  const ControlGroup limits = read_control_group(root, "0::/slice/job\n");
  EXPECT_EQ(limits.memory, 3'000'000'000);
  EXPECT_EQ(limits.processors, 1.5);
}

TEST_F(ControlGroups, OfAContainerThatSeesItsOwnGroupAsTheTopAreFound) {
  file("memory.max", "1000\n");
  file("cpu.max", "max 100000\n");
  const ControlGroup limits = read_control_group(root, "0::/docker/1234abcd\n");
  EXPECT_EQ(limits.memory, 1000);
  EXPECT_FALSE(limits.processors.has_value());
}

TEST_F(ControlGroups, OfVersionOneHaveAFolderForEachController) {
  file("memory/job/memory.limit_in_bytes", "2000\n");
  file("memory/memory.limit_in_bytes", "9223372036854771712\n");
  file("cpu,cpuacct/job/cpu.cfs_quota_us", "200000\n");
  file("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  file("cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  file("cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  const ControlGroup limits = read_control_group(root, "5:cpu,cpuacct:/job\n4:memory:/job\n0::/\n");
  EXPECT_EQ(limits.memory, 2000);
  EXPECT_EQ(limits.processors, 2.0);
}

TEST_F(ControlGroups, WithoutFilesOrWithDamagedOnesLimitNothing) {
  file("memory.max", "much\n");
  file("cpu.max", "100000\n");
  for (const char* membership : {"", "0::/\n", "nonsense", "0::\n", "1:name=systemd:/\n"}) {
    const ControlGroup limits = read_control_group(root, membership);
    EXPECT_FALSE(limits.memory.has_value());
    EXPECT_FALSE(limits.processors.has_value());
  }
}

TEST(UsableProcessorsAndMemory, AreNoMoreThanTheMachineHas) {
  EXPECT_GE(usable_processors(), 1);
  EXPECT_LE(usable_processors(), static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  EXPECT_GT(usable_memory(), 0);
  EXPECT_LE(usable_memory(), std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGE_SIZE));
}

}  // namespace
}  // namespace harmonium
