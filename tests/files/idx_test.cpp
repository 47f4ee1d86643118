#include "harmonium/data/formats/idx.h"

#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

TEST(Idx, ReadsImagesOfBytes) {
  const at::Tensor images = parse_idx(samples::idx(0x08, {2, 1, 3}, std::string("\0\1\2\3\4\xff", 6)), "f");
  EXPECT_TRUE(images.equal(at::tensor({0, 1, 2, 3, 4, 255}, at::kByte).view({2, 1, 3})));
}

TEST(Idx, ReadsEveryTypeAsBigEndian) {
  EXPECT_TRUE(parse_idx(samples::idx(0x09, {1}, "\xff"), "f").equal(at::tensor({-1}, at::kChar)));
  EXPECT_TRUE(parse_idx(samples::idx(0x0B, {1}, "\xff\xfe"), "f").equal(at::tensor({-2}, at::kShort)));
  EXPECT_TRUE(parse_idx(samples::idx(0x0C, {1}, std::string("\0\0\1\2", 4)), "f").equal(at::tensor({258}, at::kInt)));
  EXPECT_TRUE(parse_idx(samples::idx(0x0D, {1}, std::string("\x3f\xc0\0\0", 4)), "f").equal(at::tensor({1.5F})));
  EXPECT_TRUE(
      parse_idx(samples::idx(0x0E, {1}, std::string("\xc0\x04\0\0\0\0\0\0", 8)), "f").equal(at::tensor({-2.5})));
}

TEST(Idx, RejectsAWrongMagic) {
  expect_error([] { (void)parse_idx(std::string("\0\1\x08\1\0\0\0\0", 8), "train.idx"); }, {"train.idx", "bytes 0–3"});
  expect_error([] { (void)parse_idx(std::string("\0\0\x0A\1\0\0\0\0", 8), "train.idx"); }, {"train.idx", "bytes 0–3"});
}

TEST(Idx, RejectsAHeaderThatIsCutNamingTheByte) {
  expect_error([] { (void)parse_idx(samples::idx(0x08, {2, 3, 4}, "").substr(0, 9), "f"); }, {"f", "ends at byte 9"});
}

TEST(Idx, RejectsValuesThatAreCutNamingTheByte) {
  expect_error([] { (void)parse_idx(samples::idx(0x08, {2, 3}, "12345"), "f"); }, {"f", "2×3", "ends at byte 17"});
}

TEST(Idx, RejectsTrailingBytesNamingWhereTheyBegin) {
  expect_error(
      [] {
        (void)parse_idx(samples::idx(0x08, {2, 3}, "1234567"), "f");
      },
      {"f", "1 bytes too many", "byte 18"});
}

TEST(Idx, RejectsABillionsOfImagesWithoutAllocatingThem) {
  expect_error([] { (void)parse_idx(samples::idx(0x08, {1U << 31, 28, 28}, "x"), "f"); }, {"f", "2147483648×28×28"});
  const std::vector<std::uint32_t> absurd{0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  expect_error([&] { (void)parse_idx(samples::idx(0x08, absurd, "x"), "f"); }, {"f", "absurd"});
  expect_error([] { (void)parse_idx(samples::idx(0x08, std::vector<std::uint32_t>(200, 1), "x"), "f"); },
               {"f", "byte 3", "200 dimensions"});
}

TEST(Idx, ReadsLabelsPlainOrGzipped) {
  const TemporaryFolder folder;
  const std::string bytes = samples::idx(0x08, {3}, std::string("\7\0\2", 3));
  const at::Tensor expected = at::tensor({7, 0, 2}, at::kLong);
  EXPECT_TRUE(read_idx_labels(folder.write("labels", bytes)).equal(expected));
  EXPECT_TRUE(read_idx_labels(folder.write("labels.gz", gzip(bytes))).equal(expected));
}

TEST(Idx, RejectsImagesWhereLabelsAreWanted) {
  const TemporaryFolder folder;
  const auto path = folder.write("images", samples::idx(0x08, {1, 2}, "ab"));
  expect_error([&] { (void)read_idx_labels(path); }, {path.string(), "1×2", "not labels"});
}

}  // namespace harmonium
