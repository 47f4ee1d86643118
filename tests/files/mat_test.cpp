#include "harmonium/data/formats/mat.h"

#include <matio.h>

#include "harmonium/core/atomic_file.h"
#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

namespace {

at::Tensor only_mat_variable(const std::string& bytes) {
  const auto variables = list_mat(bytes, "f.mat");
  EXPECT_EQ(variables.size(), 1U);
  return read_mat_variable(bytes, variables.at(0), "f.mat");
}

void expect_mat_rejected(const std::string& bytes, std::initializer_list<std::string_view> parts) {
  expect_error([&] { (void)only_mat_variable(bytes); }, parts);
}

// Writes with libmatio, an implementation that is not ours, and reads back.
std::string written_by_matio(const std::filesystem::path& path, matio_compression compression) {
  mat_t* file = ::Mat_CreateVer(path.c_str(), nullptr, MAT_FT_MAT5);
  const auto add = [&](matvar_t* variable) {
    ::Mat_VarWrite(file, variable, compression);
    ::Mat_VarFree(variable);
  };
  std::size_t shape[2] = {2, 3};
  double reals[6] = {1, 2, 3, 4, 5, 6.5};
  std::uint8_t bytes[6] = {0, 1, 2, 3, 4, 255};
  std::uint16_t words[6] = {0, 1, 2, 3, 4, 65535};
  mat_uint32_t rows[3] = {1, 0, 1}, starts[4] = {0, 1, 1, 3};
  double stored[3] = {7, 8, 9};
  mat_sparse_t sparse{3, rows, 3, starts, 4, 3, stored};
  char letters[6] = {'a', 'b', 'c', 'd', 'e', 'f'};
  add(::Mat_VarCreate("reals", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape, reals, 0));
  add(::Mat_VarCreate("bytes", MAT_C_UINT8, MAT_T_UINT8, 2, shape, bytes, 0));
  add(::Mat_VarCreate("text", MAT_C_CHAR, MAT_T_UINT8, 2, shape, letters, 0));
  add(::Mat_VarCreate("words", MAT_C_UINT16, MAT_T_UINT16, 2, shape, words, 0));
  add(::Mat_VarCreate("sparse", MAT_C_SPARSE, MAT_T_DOUBLE, 2, shape, &sparse, 0));
  ::Mat_Close(file);
  return read_file(path);
}

}  // namespace

TEST(Mat, FieldsOfAStructAreVariables) {
  const TemporaryFolder folder;
  for (const auto compression : {MAT_COMPRESSION_NONE, MAT_COMPRESSION_ZLIB}) {
    mat_t* file = ::Mat_CreateVer((folder / "s.mat").c_str(), nullptr, MAT_FT_MAT5);
    std::size_t one[2] = {1, 1}, shape[2] = {2, 3};
    double reals[6] = {1, 2, 3, 4, 5, 6.5};
    char letters[6] = {'a', 'b', 'c', 'd', 'e', 'f'};
    const char* names[3] = {"note", "W", "longer_name"};
    const auto number = [&] { return ::Mat_VarCreate(nullptr, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape, reals, 0); };
    matvar_t* all = ::Mat_VarCreateStruct("rbm", 2, one, names, 3);
    ::Mat_VarSetStructFieldByIndex(all, 0, 0, ::Mat_VarCreate(nullptr, MAT_C_CHAR, MAT_T_UINT8, 2, shape, letters, 0));
    ::Mat_VarSetStructFieldByIndex(all, 1, 0, number());
    ::Mat_VarSetStructFieldByIndex(all, 2, 0, number());
    matvar_t* beside = ::Mat_VarCreate("beside", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape, reals, 0);
    for (matvar_t* variable : {all, beside}) {
      ::Mat_VarWrite(file, variable, compression);
      ::Mat_VarFree(variable);
    }
    ::Mat_Close(file);

    const std::string bytes = read_file(folder / "s.mat");
    const auto variables = list_mat(bytes, "s.mat");
    EXPECT_EQ(variables.front().kind, "struct");
    EXPECT_EQ(variables.back().name, "beside");
    // libmatio packs structs with wrong sizes inside; then there are no fields, and the rest is read.
    ASSERT_EQ(variables.size(), compression == MAT_COMPRESSION_NONE ? 5U : 2U);
    for (const MatVariable& variable : variables) {
      if (!variable.is_readable) continue;
      EXPECT_TRUE(read_mat_variable(bytes, variable, "f").equal(at::tensor({1., 3., 5., 2., 4., 6.5}).view({2, 3})));
    }
    if (compression != MAT_COMPRESSION_NONE) continue;
    EXPECT_FALSE(variables[1].is_readable);
    EXPECT_EQ(variables[2].name, "rbm.W");
    EXPECT_EQ(variables[3].name, "rbm.longer_name");
  }
}

TEST(Mat, ReadsWhatLibmatioWrites) {
  const TemporaryFolder folder;
  for (const auto compression : {MAT_COMPRESSION_NONE, MAT_COMPRESSION_ZLIB}) {
    const std::string bytes = written_by_matio(folder / "m.mat", compression);
    const auto variables = list_mat(bytes, "m.mat");
    ASSERT_EQ(variables.size(), 5U);
    EXPECT_EQ(variables[0].name, "reals");
    EXPECT_EQ(variables[0].shape, (std::vector<std::int64_t>{2, 3}));
    EXPECT_TRUE(read_mat_variable(bytes, variables[0], "f").equal(at::tensor({1., 3., 5., 2., 4., 6.5}).view({2, 3})));
    EXPECT_TRUE(
        read_mat_variable(bytes, variables[1], "f").equal(at::tensor({0, 2, 4, 1, 3, 255}, at::kByte).view({2, 3})));
    EXPECT_EQ(variables[2].kind, "char");
    EXPECT_FALSE(variables[2].is_readable);
    EXPECT_TRUE(
        read_mat_variable(bytes, variables[3], "f").equal(at::tensor({0, 2, 4, 1, 3, 65535}, at::kInt).view({2, 3})));
    EXPECT_TRUE(
        read_mat_variable(bytes, variables[4], "f").equal(at::tensor({0.F, 0.F, 8.F, 7.F, 0.F, 9.F}).view({2, 3})));
  }
}

TEST(Mat, ReadsDoublesThatAreStoredAsSmallIntegers) {
  // MATLAB stores a double matrix of small integers as bytes, and four of them inside the tag itself.
  const std::string small = samples::raw<std::uint32_t>({4U << 16 | 2, 0x04030201});
  EXPECT_TRUE(only_mat_variable(samples::mat(samples::mat_matrix(6, {2, 2}, "x", small)))
                  .equal(at::tensor({1., 3., 2., 4.}).view({2, 2})));
}

TEST(Mat, ReadsCellsOfMatricesAsSequences) {
  const TemporaryFolder folder;
  for (const auto compression : {MAT_COMPRESSION_NONE, MAT_COMPRESSION_ZLIB}) {
    mat_t* file = ::Mat_CreateVer((folder / "c.mat").c_str(), nullptr, MAT_FT_MAT5);
    std::size_t two[2] = {1, 2}, shapes[2][2] = {{2, 3}, {1, 3}};
    double first[6] = {1, 2, 3, 4, 5, 6.5}, second[3] = {7, 8, 9};
    matvar_t* cell = ::Mat_VarCreate("traindata", MAT_C_CELL, MAT_T_CELL, 2, two, nullptr, 0);
    ::Mat_VarSetCell(cell, 0, ::Mat_VarCreate(nullptr, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shapes[0], first, 0));
    ::Mat_VarSetCell(cell, 1, ::Mat_VarCreate(nullptr, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shapes[1], second, 0));
    ::Mat_VarWrite(file, cell, compression);
    ::Mat_VarFree(cell);
    ::Mat_Close(file);
    const std::string bytes = read_file(folder / "c.mat");
    const auto variables = list_mat(bytes, "c.mat");
    ASSERT_EQ(variables.size(), 1U);
    ASSERT_TRUE(variables[0].is_readable);
    EXPECT_EQ(variables[0].kind, "2 sequences");
    EXPECT_EQ(variables[0].shape, (std::vector<std::int64_t>{3, 3}));
    EXPECT_EQ(variables[0].lengths, (std::vector<std::int64_t>{2, 1}));
    EXPECT_TRUE(read_mat_variable(bytes, variables[0], "c.mat")
                    .equal(at::tensor({1., 3., 5., 2., 4., 6.5, 7., 8., 9.}).view({3, 3})));
  }
}

TEST(Mat, LeavesCellsOfOtherThingsAlone) {
  const auto of = [](const std::vector<std::int32_t>& shape, const std::string& inside) {
    const auto variables = list_mat(samples::mat(samples::mat_matrix(1, shape, "c", inside)), "f");
    EXPECT_EQ(variables.size(), 1U);
    return variables.at(0);
  };
  const std::string row = samples::mat_double("", {1, 2}, {1, 2});
  EXPECT_TRUE(of({2, 1}, row + row).is_readable);
  for (const auto& [shape, inside] : std::vector<std::pair<std::vector<std::int32_t>, std::string>>{
           {{1, 3}, row + row},                                         // one is missing
           {{1, 1}, row + row},                                         // one too many
           {{1, 2}, row + samples::mat_double("", {1, 3}, {1, 2, 3})},  // of another width
           {{1, 2}, row + samples::mat_double("", {0, 2}, {})},         // of no frames
           {{1, 2}, row + samples::mat_sparse("", {1, 2}, {0}, {0, 1, 1}, {1})},
           {{1, 2}, row + samples::mat_matrix(1, {1, 1}, "", row)},  // a cell in a cell
           {{1, 2}, row + row.substr(0, row.size() - 8)},            // cut short
           {{1 << 30, 1 << 30, 1 << 30}, row},
           {{0, 0}, ""}}) {
    const MatVariable found = of(shape, inside);
    EXPECT_FALSE(found.is_readable);
    EXPECT_EQ(found.kind, "cell");
    EXPECT_TRUE(found.lengths.empty());
  }
}

TEST(Mat, ListsButDoesNotReadWhatIsNoRealMatrix) {
  const std::string bytes =
      samples::mat(samples::mat_matrix(1, {1, 1}, "c", "") + samples::mat_matrix(6 | 0x800, {1, 1}, "z", "") +
                   samples::mat_matrix(6, {1, 2, 3}, "cube", ""));
  const auto variables = list_mat(bytes, "f");
  ASSERT_EQ(variables.size(), 3U);
  EXPECT_EQ(variables[0].kind, "cell");
  EXPECT_EQ(variables[1].kind, "complex double");
  EXPECT_FALSE(variables[0].is_readable || variables[1].is_readable || variables[2].is_readable);
}

TEST(Mat, RejectsOtherVersions) {
  std::string bytes = samples::mat("");
  bytes[125] = 2;
  EXPECT_FALSE(is_mat(bytes));
  expect_mat_rejected(bytes, {"f.mat", "-v7"});
}

TEST(Mat, RejectsElementsThatClaimMoreThanTheFileHolds) {
  const std::string bytes = samples::mat(samples::mat_double("x", {2, 3}, {1, 2, 3, 4, 5, 6}));
  expect_mat_rejected(bytes.substr(0, bytes.size() - 1), {"f.mat", "byte 128", "cut short"});
  expect_mat_rejected(samples::mat("abc"), {"f.mat", "ends at byte 131"});
}

TEST(Mat, RejectsSizesThatDoNotMatchTheValues) {
  expect_mat_rejected(samples::mat(samples::mat_double("x", {2, 2}, {1, 2, 3})), {"f.mat", "4 values", "24 bytes"});
  expect_mat_rejected(samples::mat(samples::mat_double("x", {2147483647, 2147483647}, {1})), {"f.mat", "byte"});
  expect_mat_rejected(samples::mat(samples::mat_double("x", {-1, 2}, {1})), {"f.mat", "negative"});
}

TEST(Mat, RejectsInconsistentSparseMatrices) {
  const auto sparse = [](std::vector<std::int32_t> shape, std::vector<std::int32_t> rows,
                         std::vector<std::int32_t> starts) {
    return samples::mat(samples::mat_sparse("s", shape, rows, starts, {1, 2}));
  };
  expect_mat_rejected(sparse({2, 2}, {0, 2}, {0, 1, 2}), {"f.mat", "row number 2 of a matrix of 2 rows"});
  expect_mat_rejected(sparse({2, 2}, {0, -1}, {0, 1, 2}), {"f.mat", "row number -1"});
  expect_mat_rejected(sparse({2, 2}, {0, 1}, {0, 2, 1}), {"f.mat", "do not rise"});
  expect_mat_rejected(sparse({2, 2}, {0, 1}, {0, 1, 3}), {"f.mat", "do not rise"});
  expect_mat_rejected(sparse({2, 2}, {0, 1}, {0, 2}), {"f.mat", "column starts"});
  expect_mat_rejected(sparse({2, 2}, {0, 1, 1}, {0, 1, 3}), {"f.mat", "2 values are stored"});
  expect_mat_rejected(sparse({2147483647, 2}, {0, 1}, {0, 1, 2}), {"f.mat", "too empty"});
}

TEST(Mat, RejectsDamagedCompression) {
  std::string bytes = samples::mat(samples::mat_compressed(samples::mat_double("x", {1, 2}, {1, 2})));
  bytes[140] ^= 0x55;
  expect_mat_rejected(bytes, {"f.mat", "variable at byte 128"});
}

}  // namespace harmonium
