#include "harmonium/data/formats/gzip.h"

#include "tests/files/support.h"

namespace harmonium {

TEST(Gzip, UnpacksWhatItPacked) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += static_cast<char>(i * i >> 3);
  EXPECT_EQ(gunzip(gzip(text), "f"), text);
  EXPECT_EQ(gunzip(gzip(""), "f"), "");
}

TEST(Gzip, JoinsSeveralMembersAndAllowsZeroPadding) {
  EXPECT_EQ(gunzip(gzip("one ") + gzip("two") + std::string(512, '\0'), "f"), "one two");
}

TEST(Gzip, RejectsWhatFollowsTheCompressedDataNamingTheByte) {
  const std::string packed = gzip("data");
  expect_error([&] { (void)gunzip(packed + "tail", "f.gz"); }, {"f.gz", format("byte {}", packed.size()), "4 bytes"});
}

TEST(Gzip, RejectsACutFileAtEveryLength) {
  const std::string packed = gzip("data data data");
  for (std::size_t size = 2; size < packed.size(); ++size)
    expect_error([&] { (void)gunzip(packed.substr(0, size), "f.gz"); },
                 {"f.gz", "ends early", format("byte {}", size)});
}

TEST(Gzip, NoticesADamagedByteByTheChecksum) {
  std::string packed = gzip("data data data");
  packed[packed.size() - 6] ^= 1;
  expect_error([&] { (void)gunzip(packed, "f.gz"); }, {"f.gz", "damaged near byte"});
}

TEST(Gzip, StopsABombAtTheLimit) {
  const std::string bomb = gzip(std::string(5'000'000, '\0'));
  EXPECT_LT(bomb.size(), 10'000U);
  EXPECT_EQ(gunzip(bomb, "f", 5'000'000).size(), 5'000'000U);
  expect_error([&] { (void)gunzip(bomb, "bomb.gz", 4'999'999); }, {"bomb.gz", "more than 4999999 bytes"});
}

TEST(Gzip, RejectsBytesThatAreNotGzip) {
  EXPECT_FALSE(is_gzip(""));
  expect_error([] { (void)gunzip("plain", "f.gz"); }, {"f.gz", "not a gzip file"});
}

}  // namespace harmonium
