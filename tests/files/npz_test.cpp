#include "harmonium/data/formats/npz.h"

#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

TEST(Npz, ReadsAllArraysInOrder) {
  const TemporaryFolder folder;
  const at::Tensor weights = at::rand({3, 2}), bias = at::zeros({3}, at::kDouble);
  const NamedTensors arrays = read_npz(folder.write("a.npz", samples::npz({{"W", weights}, {"bias", bias}})));
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].first, "W");
  EXPECT_TRUE(arrays[0].second.equal(weights));
  EXPECT_EQ(arrays[1].first, "bias");
  EXPECT_TRUE(arrays[1].second.equal(bias));
}

TEST(Npz, NamesTheMemberThatIsDamaged) {
  expect_error(
      [] {
        (void)parse_npz(samples::zip({{"x.npy", "\x93NUMPY\1"}}), "a.npz");
      },
      {"a.npz", "member x.npy", "byte 7"});
  expect_error(
      [] {
        (void)parse_npz(samples::zip({{"readme.txt", "hello"}}), "a.npz");
      },
      {"a.npz", "readme.txt", "only .npy"});
}

TEST(Npz, NoticesAChangedByteByTheChecksum) {
  std::string bytes = samples::npz({{"x", at::rand({8, 8})}});
  bytes[100] ^= 1;
  expect_error([&] { (void)parse_npz(bytes, "a.npz"); }, {"a.npz"});
}

TEST(Npz, RejectsWhatIsNoArchive) {
  expect_error([] { (void)parse_npz("hello", "a.npz"); }, {"a.npz", "byte 0"});
  expect_error([] { (void)parse_npz("PK\3\4 and then nothing of the kind", "a.npz"); }, {"a.npz", "damaged ZIP"});
  expect_error([] { (void)parse_npz(std::string("PK\5\6", 4) + std::string(18, '\0'), "a.npz"); }, {"a.npz"});
}

}  // namespace harmonium
