// Vectors of FIPS 180-4's examples and of NIST's short-message test files.
#include "harmonium/core/sha256.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace harmonium {
namespace {

TEST(Sha256, OfTheEmptyMessageIsThePublishedOne) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Sha256, OfAbcIsThePublishedOne) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// 56 bytes: the shortest message whose length no longer fits into its first chunk.
TEST(Sha256, OfFiftySixBytesIsThePublishedOne) {
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Sha256, OfAHundredAndTwelveBytesIsThePublishedOne) {
  EXPECT_EQ(
      sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstn"
             "opqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
}

TEST(Sha256, OfAMillionTimesTheLetterAIsThePublishedOne) {
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, TakesBytesAboveSevenBitsAndZerosAsTheyAre) {
  EXPECT_EQ(sha256(std::string_view("\xbd", 1)), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  EXPECT_EQ(sha256(std::string(64, '\0')), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

TEST(Sha256, SeparatesMessagesThatDifferOnlyInTheirNumberOfZeros) {
  std::set<std::string> digests;
  for (std::size_t length = 0; length <= 200; ++length) digests.insert(sha256(std::string(length, '\0')));
  EXPECT_EQ(digests.size(), 201U);
}

}  // namespace
}  // namespace harmonium
