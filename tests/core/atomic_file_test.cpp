#include "harmonium/core/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  AtomicFile() {
    std::string pattern = (fs::temp_directory_path() / "harmonium_atomic_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~AtomicFile() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }

  // Every entry of the folder, so that a forgotten temporary file is seen.
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  // The message of the RunFailure that writing throws; empty when it throws none.
  static std::string failure_of_writing(const fs::path& path, std::string_view bytes) {
    try {
      write_file_atomically(path, bytes);
    } catch (const RunFailure& failure) {
      return failure.what();
    }
    return "";
  }

  fs::path folder_;
};

// Stands in for a full disk: while it lives, no file of this process grows beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit = {bytes, old_limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_limit_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*old_handler_)(int);
  rlimit old_limit_{};
};

TEST_F(AtomicFile, GivesBackTheBytesItWasGiven) {
  const std::string bytes("zero \0 newline \n\r\xff end", 22);
  write_file_atomically(folder_ / "a", bytes);
  EXPECT_EQ(read_file(folder_ / "a"), bytes);
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, WritesAndReadsAnEmptyFile) {
  write_file_atomically(folder_ / "empty", "");
  EXPECT_TRUE(fs::exists(folder_ / "empty"));
  EXPECT_EQ(read_file(folder_ / "empty"), "");
}

TEST_F(AtomicFile, ReplacesALongerFileWhole) {
  write_file_atomically(folder_ / "a", std::string(100000, 'x'));
  write_file_atomically(folder_ / "a", "short");
  EXPECT_EQ(read_file(folder_ / "a"), "short");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, KeepsTheOldFileWhenTheDiskFillsHalfway) {
  write_file_atomically(folder_ / "model", "the last good one");
  std::string message;
  {
    const FileSizeLimit limit(4096);
    message = failure_of_writing(folder_ / "model", std::string(100000, 'x'));
  }
  EXPECT_NE(message.find((folder_ / "model").string()), std::string::npos) << message;
  EXPECT_EQ(read_file(folder_ / "model"), "the last good one");
  EXPECT_EQ(entries(), 1) << "a temporary file was left behind";
}

TEST_F(AtomicFile, ClearsAwayWhatKilledWritersLeftAndNothingElse) {
  const auto leave = [&](const std::string& name) { std::ofstream(folder_ / name) << "half"; };
  // The number lives again as another process, which does not write here: the lock tells, not the number.
  leave("model." + std::to_string(::getppid()) + ".tmp");
  leave("model.1.tmp");
  leave("held.2.tmp");
  leave("notes.tmp");
  leave("model.safetensors");
  const int held = ::open((folder_ / "held.2.tmp").c_str(), O_WRONLY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);  // somebody is still writing
  remove_unfinished_files(folder_);
  EXPECT_TRUE(fs::exists(folder_ / "held.2.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / "notes.tmp"));
  EXPECT_EQ(entries(), 3);
  ::close(held);
  remove_unfinished_files(folder_);
  EXPECT_EQ(entries(), 2);
  remove_unfinished_files(folder_ / "nowhere");  // nothing to do is no failure
}

TEST_F(AtomicFile, IsWrittenWholeWhileOthersTidyUpBesideIt) {
  std::atomic<bool> done = false;
  std::thread tidy([&] {
    while (!done) remove_unfinished_files(folder_);
  });
  for (int i = 0; i < 300; ++i) {
    const std::string bytes(static_cast<std::size_t>(1 + i % 7) * 1000, static_cast<char>('a' + i % 26));
    ASSERT_NO_THROW(write_file_atomically(folder_ / "model", bytes)) << i;
    ASSERT_EQ(read_file(folder_ / "model"), bytes) << i;
  }
  done = true;
  tidy.join();
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, AppendsToWhatIsThereAndNamesThePathWhereItCannot) {
  append_to_file(folder_ / "log", "one\n");
  append_to_file(folder_ / "log", "two\n");
  sync_file(folder_ / "log");
  EXPECT_EQ(read_file(folder_ / "log"), "one\ntwo\n");
  EXPECT_THROW(append_to_file(folder_ / "missing" / "log", "x"), RunFailure);
  EXPECT_THROW(sync_file(folder_ / "missing"), RunFailure);
}

TEST_F(AtomicFile, MakesFoldersAllTheWayAndNamesTheOneItCannot) {
  create_folder(folder_ / "a" / "b" / "c");
  create_folder(folder_ / "a" / "b" / "c");
  EXPECT_TRUE(fs::is_directory(folder_ / "a" / "b" / "c"));
  std::ofstream(folder_ / "file") << "text";
  try {
    create_folder(folder_ / "file" / "run");
    FAIL() << "a folder below a file";
  } catch (const RunFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("file/run"), std::string::npos) << failure.what();
  }
}

TEST_F(AtomicFile, LeavesNothingBehindWhenTheTargetIsAFolder) {
  fs::create_directories(folder_ / "taken" / "inside");
  const std::string message = failure_of_writing(folder_ / "taken", "bytes");
  EXPECT_NE(message.find((folder_ / "taken").string()), std::string::npos) << message;
  EXPECT_TRUE(fs::is_directory(folder_ / "taken" / "inside"));
  EXPECT_EQ(entries(), 1) << "a temporary file was left behind";
}

TEST_F(AtomicFile, NamesThePathAndTheCauseWhenTheFolderIsMissing) {
  const std::string message = failure_of_writing(folder_ / "missing" / "a", "bytes");
  EXPECT_NE(message.find((folder_ / "missing" / "a").string()), std::string::npos) << message;
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
  EXPECT_EQ(entries(), 0) << "the missing folder must not be made in passing";
}

TEST_F(AtomicFile, KeepsTheOldFileInAReadOnlyFolder) {
  if (::geteuid() == 0) GTEST_SKIP() << "permissions do not stop root";
  write_file_atomically(folder_ / "a", "old");
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_NE(failure_of_writing(folder_ / "a", "new"), "");
  EXPECT_EQ(read_file(folder_ / "a"), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, ShowsAReaderTheOldOrTheNewFileButNeverAMixture) {
  const fs::path path = folder_ / "shared";
  const std::string old_bytes(200000, 'o'), new_bytes(300000, 'n');
  write_file_atomically(path, old_bytes);
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 20; ++i) write_file_atomically(path, i % 2 == 0 ? new_bytes : old_bytes);
    done = true;
  });
  int mixtures = 0;
  while (!done) {
    const std::string seen = read_file(path);
    if (seen != old_bytes && seen != new_bytes) ++mixtures;
  }
  writer.join();
  EXPECT_EQ(mixtures, 0);
}

TEST_F(AtomicFile, WritesBesideTheCurrentFolderWhenThePathHasNoFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);
  const std::string message = failure_of_writing("bare", "bytes");
  fs::current_path(before);
  EXPECT_EQ(message, "");
  EXPECT_EQ(read_file(folder_ / "bare"), "bytes");
}

TEST_F(AtomicFile, ReadingSaysWhichFileIsMissing) {
  try {
    static_cast<void>(read_file(folder_ / "nothing"));
    FAIL() << "read a file that is not there";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find((folder_ / "nothing").string()), std::string::npos) << error.what();
  }
}

TEST_F(AtomicFile, ReadingAFolderIsTheCallersMistake) { EXPECT_THROW(static_cast<void>(read_file(folder_)), Error); }

// A disk that fails at its second read, and one that ends early.
int calls_of_read = 0;
ssize_t failing_read(int descriptor, void* bytes, std::size_t count) {
  if (++calls_of_read < 2) return ::read(descriptor, bytes, std::min<std::size_t>(count, 4));
  errno = EIO;
  return -1;
}
ssize_t short_read(int descriptor, void* bytes, std::size_t count) {
  return ++calls_of_read < 2 ? ::read(descriptor, bytes, std::min<std::size_t>(count, 4)) : 0;
}
ssize_t interrupted_read(int descriptor, void* bytes, std::size_t count) {
  if (++calls_of_read % 2 == 1) {
    errno = EINTR;
    return -1;
  }
  return ::read(descriptor, bytes, std::min<std::size_t>(count, 3));
}

std::string failure_of_reading(const fs::path& path, ReadBytes read = ::read) {
  calls_of_read = 0;
  try {
    (void)read_file(path, read);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_F(AtomicFile, ReadingReportsAFailedReadWithPathAndPlaceInsteadOfAShorterFile) {
  const fs::path path = folder_ / "table.csv";
  write_file_atomically(path, "0,1\n1,0\n0,0\n");
  const std::string message = failure_of_reading(path, failing_read);
  EXPECT_NE(message.find(path.string()), std::string::npos) << message;
  EXPECT_NE(message.find("Input/output error at byte 4 of 12"), std::string::npos) << message;
}

TEST_F(AtomicFile, ReadingFewerBytesThanTheFileHasIsAnError) {
  const fs::path path = folder_ / "table.csv";
  write_file_atomically(path, "0,1\n1,0\n0,0\n");
  EXPECT_NE(failure_of_reading(path, short_read).find("ended at byte 4, and its size is 12"), std::string::npos);
}

TEST_F(AtomicFile, ReadingGoesOnAfterASignalAndInSmallPieces) {
  const fs::path path = folder_ / "table.csv";
  write_file_atomically(path, "0,1\n1,0\n0,0\n");
  calls_of_read = 0;
  EXPECT_EQ(read_file(path, interrupted_read), "0,1\n1,0\n0,0\n");
  write_file_atomically(path, "");
  EXPECT_EQ(read_file(path), "");
  EXPECT_FALSE(read_file("/proc/self/status").empty()) << "whose size is said to be 0";
}

TEST_F(AtomicFile, ReadingRefusesWhatIsNotAFileAndSaysWhatItIs) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_NE(failure_of_reading(folder_ / "pipe").find("a pipe"), std::string::npos);
  EXPECT_NE(failure_of_reading(folder_).find("a folder"), std::string::npos);
  EXPECT_NE(failure_of_reading("/dev/zero").find("a device"), std::string::npos);
  EXPECT_NE(failure_of_reading(folder_ / "loop").find("leads back to itself"), std::string::npos);
  EXPECT_NE(failure_of_reading(folder_ / "missing").find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace harmonium
