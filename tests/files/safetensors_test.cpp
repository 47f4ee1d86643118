#include "harmonium/data/formats/safetensors.h"

#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

namespace {

std::string safetensors_of(std::string_view header, std::string_view values) {
  return samples::raw<std::uint64_t>({header.size()}).append(header).append(values);
}

void expect_safetensors_rejected(std::string_view header, std::string_view values,
                                 std::initializer_list<std::string_view> parts) {
  expect_error([&] { (void)parse_safetensors(safetensors_of(header, values), "m.safetensors"); }, {"m.safetensors"});
  expect_error([&] { (void)parse_safetensors(safetensors_of(header, values), "m.safetensors"); }, parts);
}

}  // namespace

TEST(Safetensors, ReadsBackTensorsTypesShapesAndMetadata) {
  TensorFile file;
  for (const auto type : {at::kFloat, at::kDouble, at::kLong, at::kInt, at::kByte, at::kBool})
    file.tensors.emplace_back(c10::toString(type), at::arange(6).remainder(2).to(type).view({2, 3}));
  file.tensors.emplace_back("scalar", at::full({}, 2.5F));
  file.tensors.emplace_back("empty", at::zeros({0, 4}));
  file.metadata = {{"a", "1"}, {"quotes \" and ümlauts", "line\nbreak"}};
  const TensorFile again = parse_safetensors(encode_safetensors(file), "f");
  EXPECT_EQ(again.metadata, file.metadata);
  ASSERT_EQ(again.tensors.size(), file.tensors.size());
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_EQ(again.get(name).scalar_type(), tensor.scalar_type());
    EXPECT_TRUE(again.get(name).equal(tensor)) << name;
  }
}

TEST(Safetensors, WritesTheSameBytesForTheSameContent) {
  EXPECT_EQ(encode_safetensors(samples::tensor_file()), encode_safetensors(samples::tensor_file()));
  const std::string bytes = encode_safetensors(samples::tensor_file());
  EXPECT_EQ(encode_safetensors(parse_safetensors(bytes, "f")), bytes);
}

TEST(Safetensors, WritesExactlyTheDocumentedLayout) {
  const std::string header =
      R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[2],"data_offsets":[4,6]}})";
  const TensorFile file{{{"a", at::tensor({1, 2}, at::kByte)}, {"b", at::tensor({1.0F})}}, {}};
  std::string padded = header;
  padded.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(encode_safetensors(file), safetensors_of(padded, std::string("\0\0\x80\x3f\1\2", 6)));
}

TEST(Safetensors, KeepsTheOrderOfTensorsOfOneType) {
  const TensorFile file{{{"z", at::ones({2})}, {"a", at::ones({3})}, {"m", at::ones({1})}}, {}};
  const TensorFile again = parse_safetensors(encode_safetensors(file), "f");
  EXPECT_EQ(again.tensors[0].first + again.tensors[1].first + again.tensors[2].first, "zam");
}

// Tensors without values begin at the same byte, so only their names tell a reader which comes first.
TEST(Safetensors, WritesTensorsWithoutValuesSoThatReadingAndWritingAgainGivesTheSameBytes) {
  const TensorFile file{{{"step", at::ones({1}, at::kLong)},
                         {"w", at::empty({1, 0})},
                         {"mask", at::ones({3}, at::kBool)},
                         {"c", at::empty({0})}},
                        {}};
  const std::string once = encode_safetensors(file);
  EXPECT_EQ(encode_safetensors(parse_safetensors(once, "f")), once);
}

TEST(Safetensors, ListsTheTensorsWhenAskedForOneThatIsMissing) {
  EXPECT_FALSE(samples::tensor_file().contains("bias"));
  expect_error([] { (void)samples::tensor_file().get("bias"); }, {"bias", "weights, step, mask"});
}

TEST(Safetensors, RefusesToWriteWhatCannotBeReadBack) {
  expect_error([] { (void)encode_safetensors({{{"h", at::ones({1}, at::kHalf)}}, {}}); }, {"h", "Half"});
  expect_error([] { (void)encode_safetensors({{{"a", at::ones({1})}, {"a", at::ones({1})}}, {}}); }, {"two", "a"});
  expect_error([] { (void)encode_safetensors({{{"__metadata__", at::ones({1})}}, {}}); }, {"__metadata__"});
  expect_error([] { (void)encode_safetensors({{{"\xff", at::ones({1})}}, {}}); }, {"UTF-8"});
}

TEST(Safetensors, RejectsABadHeaderLength) {
  expect_error([] { (void)parse_safetensors("1234567", "m.st"); }, {"m.st", "ends at byte 7"});
  expect_error([] { (void)parse_safetensors(samples::raw<std::uint64_t>({~0ULL}) + "{}", "m.st"); },
               {"m.st", "18446744073709551615 bytes", "ends at byte 10"});
}

TEST(Safetensors, RejectsBadJsonNamingTheByte) {
  expect_safetensors_rejected("{\"a\": oops}", "", {"JSON", "at byte 15"});
  expect_safetensors_rejected("[1]", "", {"byte 8"});
  expect_safetensors_rejected(std::string(50'000, '['), "", {"JSON"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":[1e999],"data_offsets":[0,1]}})", "1", {"JSON", "byte 8"});
  expect_safetensors_rejected("{\"\xff\":1}", "", {"JSON", "at byte"});
}

TEST(Safetensors, RejectsBadEntries) {
  expect_safetensors_rejected(R"({"a":5})", "", {"'a'", "dtype"});
  expect_safetensors_rejected(R"({"a":{"dtype":"F16","shape":[1],"data_offsets":[0,2]}})", "12", {"'a'", "dtype"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":2,"data_offsets":[0,2]}})", "12", {"'a'", "shape"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})", "12",
                              {"'a'", "natural number"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":[2.0],"data_offsets":[0,2]}})", "12",
                              {"'a'", "natural number"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":[2]}})", "12", {"'a'", "data_offsets"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0]}})", "12", {"'a'", "[begin, end]"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,0]}})", "12", {"'a'", "[2, 0]"});
  expect_safetensors_rejected(R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[0,3]}})", "12", {"'a'", "outside"});
  expect_safetensors_rejected(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,2]}})", "12",
                              {"'a'", "needs 8 bytes"});
  expect_safetensors_rejected(R"({"__metadata__":{"a":1}})", "", {"__metadata__", "not text"});
}

TEST(Safetensors, RejectsAShapeWhoseProductOverflows) {
  expect_safetensors_rejected(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", "",
                              {"'a'", "absurd"});
  expect_safetensors_rejected(R"({"a":{"dtype":"F32","shape":[0,4611686018427387904,4],"data_offsets":[0,0]}})", "",
                              {"'a'", "absurd"});
}

TEST(Safetensors, RejectsOverlapsHolesRepeatsAndTrailingBytes) {
  const std::string a = R"("a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]})";
  expect_safetensors_rejected("{" + a + R"(,"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "123",
                              {"'b'", "overlap"});
  expect_safetensors_rejected("{" + a + R"(,"b":{"dtype":"U8","shape":[1],"data_offsets":[3,4]}})", "1234",
                              {"'b'", "hole"});
  expect_safetensors_rejected("{" + a + "," + a + "}", "12", {"'a'", "twice"});
  expect_safetensors_rejected("{" + a + "}", "123", {"1 bytes too many", "belong to no tensor"});
}

TEST(Safetensors, WritesAndReadsFiles) {
  const TemporaryFolder folder;
  write_safetensors(folder / "model.safetensors", samples::tensor_file());
  EXPECT_TRUE(
      read_safetensors(folder / "model.safetensors").get("weights").equal(samples::tensor_file().get("weights")));
}

}  // namespace harmonium
