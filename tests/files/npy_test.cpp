#include "harmonium/data/formats/npy.h"

#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

namespace {

std::string npy_header(std::string_view descr, std::string_view shape, bool fortran = false) {
  return format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}\n", descr, fortran ? "True" : "False", shape);
}

}  // namespace

TEST(Npy, ReadsBackEveryTypeItWrites) {
  for (const at::ScalarType type :
       {at::kBool, at::kByte, at::kChar, at::kShort, at::kInt, at::kLong, at::kHalf, at::kFloat, at::kDouble}) {
    const at::Tensor tensor = at::arange(24).remainder(5).to(type).view({2, 3, 4});
    const at::Tensor again = parse_npy(encode_npy(tensor), "f");
    EXPECT_EQ(again.scalar_type(), type);
    EXPECT_TRUE(again.equal(tensor)) << c10::toString(type);
  }
}

TEST(Npy, ReadsBackScalarsVectorsAndEmptyArrays) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{}, {1}, {5}, {0}, {3, 0}, {1, 1, 1, 2}}) {
    const at::Tensor tensor = at::ones(shape);
    EXPECT_TRUE(parse_npy(encode_npy(tensor), "f").equal(tensor)) << shape.size();
  }
}

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  const std::string bytes = encode_npy(at::tensor({1, 2}, at::kByte));
  EXPECT_EQ(bytes.size(), 130U);
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_EQ(bytes.substr(10, 57), "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }");
  EXPECT_EQ(bytes.substr(127), "\n\1\2");
  EXPECT_NE(encode_npy(at::ones({2, 3})).find("'<f4', 'fortran_order': False, 'shape': (2, 3), }"), std::string::npos);
}

TEST(Npy, WritesATransposedTensorInItsLogicalOrder) {
  const at::Tensor tensor = at::arange(6, at::kFloat).view({2, 3}).t();
  EXPECT_TRUE(parse_npy(encode_npy(tensor), "f").equal(tensor));
}

TEST(Npy, ReadsFortranOrder) {
  const auto values = samples::raw<std::int32_t>({1, 2, 3, 4, 5, 6});
  EXPECT_TRUE(parse_npy(samples::npy(npy_header("<i4", "(2, 3)", true), values), "f")
                  .equal(at::tensor({1, 3, 5, 2, 4, 6}, at::kInt).view({2, 3})));
}

TEST(Npy, ReadsBigEndianAndVersionTwo) {
  const std::string values("\0\0\0\0\0\0\1\2\xff\xff\xff\xff\xff\xff\xff\xff", 16);
  EXPECT_TRUE(
      parse_npy(samples::npy(npy_header(">i8", "(2,)"), values, 2), "f").equal(at::tensor({258, -1}, at::kLong)));
  EXPECT_TRUE(parse_npy(samples::npy(npy_header(">f4", "(1,)"), std::string("\x3f\xc0\0\0", 4)), "f")
                  .equal(at::tensor({1.5F})));
}

TEST(Npy, WidensUnsignedTypesThatTensorsLack) {
  EXPECT_TRUE(parse_npy(samples::npy(npy_header("<u2", "(2,)"), samples::raw<std::uint16_t>({65535, 7})), "f")
                  .equal(at::tensor({65535, 7}, at::kInt)));
  EXPECT_TRUE(parse_npy(samples::npy(npy_header("<u4", "(1,)"), samples::raw<std::uint32_t>({4294967295U})), "f")
                  .equal(at::tensor({4294967295L}, at::kLong)));
}

TEST(Npy, MakesTrueOfEveryByteOfABoolThatIsNotZero) {
  EXPECT_TRUE(parse_npy(samples::npy(npy_header("|b1", "(3,)"), std::string("\0\1\x80", 3)), "f")
                  .equal(at::tensor({0, 1, 1}).to(at::kBool)));
}

TEST(Npy, RejectsATruncatedHeaderNamingTheByte) {
  const std::string bytes = encode_npy(at::ones({2, 3}));
  expect_error([&] { (void)parse_npy(bytes.substr(0, 9), "a.npy"); }, {"a.npy", "ends at byte 9"});
  expect_error([&] { (void)parse_npy(bytes.substr(0, 40), "a.npy"); }, {"a.npy", "byte 10", "ends at byte 40"});
}

TEST(Npy, RejectsMissingAndSurplusValuesNamingTheByte) {
  const std::string bytes = encode_npy(at::ones({2, 3}));
  expect_error([&] { (void)parse_npy(bytes.substr(0, bytes.size() - 1), "a.npy"); },
               {"a.npy", "2×3", "24 bytes", format("ends at byte {}", bytes.size() - 1)});
  expect_error([&] { (void)parse_npy(bytes + "!", "a.npy"); },
               {"a.npy", "1 bytes too many", format("byte {}", bytes.size())});
}

TEST(Npy, RejectsAbsurdShapesWithoutAllocatingThem) {
  expect_error([] { (void)parse_npy(samples::npy(npy_header("<f8", "(1152921504606846976, 16)"), "x"), "f"); },
               {"f", "absurd"});
  expect_error([] { (void)parse_npy(samples::npy(npy_header("<f8", "(99999999999999999999,)"), "x"), "f"); },
               {"f", "a size"});
  expect_error([] { (void)parse_npy(samples::npy(npy_header("<f8", "(-1,)"), "x"), "f"); }, {"f", "a size"});
  expect_error([] { (void)parse_npy(samples::npy(npy_header("<f8", "(4000000000,)"), "x"), "f"); },
               {"f", "32000000000 bytes"});
}

TEST(Npy, RejectsTypesItCannotHold) {
  for (const char* descr : {"<c16", "|O8", "<U5", "|S3", "<f16", "<u8", "f4", ""}) {
    expect_error([&] { (void)parse_npy(samples::npy(npy_header(descr, "(1,)"), "12345678"), "a.npy"); },
                 {"a.npy", format("'{}'", descr), "not supported"});
  }
}

TEST(Npy, RejectsHeadersThatAreNotTheExpectedDictionaryNamingTheByte) {
  const std::string good = npy_header("<f4", "(1,)");
  for (const std::string& bad :
       {std::string(""), std::string("{}"), std::string("{'descr': [('a', '<f4')], 'shape': (1,)}"), good + "x",
        good.substr(0, 30), std::string("{'shape': (1,), 'shape': (1,)}"), std::string("{'surprise': 1}")}) {
    expect_error([&] { (void)parse_npy(samples::npy(bad, "1234"), "a.npy"); }, {"a.npy", "eader", "at byte"});
  }
  expect_error([&] { (void)parse_npy(samples::npy(good, "1234", 9), "a.npy"); }, {"a.npy", "version 9 at byte 6"});
}

TEST(Npy, WritesAndReadsFiles) {
  const TemporaryFolder folder;
  const at::Tensor tensor = at::rand({3, 2});
  write_npy(folder / "a.npy", tensor);
  EXPECT_TRUE(read_npy(folder / "a.npy").equal(tensor));
  EXPECT_TRUE(read_npy(folder.write("a.npy.gz", gzip(encode_npy(tensor)))).equal(tensor));
  expect_error([&] { (void)read_npy(folder / "missing.npy"); }, {"missing.npy"});
}

}  // namespace harmonium
