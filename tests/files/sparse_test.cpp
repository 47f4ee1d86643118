#include "harmonium/data/formats/sparse.h"

#include "harmonium/data/formats/read_dataset.h"
#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {
namespace {

using samples::sparse_npz;

const at::Tensor sample_counts = at::tensor({0, 0, 1, 2, 300, 0}, at::kFloat).view({2, 3});
const at::Tensor sample_values = at::tensor({1, 2, 300}, at::kLong);

TEST(SparseNpz, ReadsWhatScipySaves) {
  const std::vector<std::string> files = {
      sparse_npz("csr", {2, 3}, {{"indices", {2, 0, 1}}, {"indptr", {0, 1, 3}}}, sample_values),
      sparse_npz("csc", {2, 3}, {{"indices", {1, 1, 0}}, {"indptr", {0, 1, 2, 3}}}, at::tensor({2.0, 300.0, 1.0})),
      sparse_npz("coo", {2, 3}, {{"row", {0, 1, 1}}, {"col", {2, 0, 1}}}, sample_values)};
  for (const std::string& bytes : files) {
    const Dataset data = as_counts(parse_dataset(bytes, "words.npz"));
    EXPECT_TRUE(at::equal(data.to_float(), sample_counts));
    EXPECT_TRUE(data.counts);
  }
}

TEST(SparseNpz, AddsValuesOfOnePlace) {
  const NamedTensors arrays = parse_npz(
      sparse_npz("coo", {1, 2}, {{"row", {0, 0}}, {"col", {1, 1}}}, at::tensor({4, 5}, at::kLong)), "words.npz");
  EXPECT_TRUE(at::equal(dense_matrix(arrays, "words.npz"), at::tensor({0.0F, 9.0F}).view({1, 2})));
}

TEST(SparseNpz, SaysWhichPartIsWrong) {
  const auto message = [](const std::string& bytes, std::initializer_list<std::string_view> words) {
    expect_error([&] { (void)parse_dataset(bytes, "words.npz"); }, words);
  };
  message(sparse_npz("bsr", {2, 3}, {}, sample_values), {"words.npz", "bsr", "tocsr"});
  message(sparse_npz("csr", {2, 3}, {{"indices", {2, 0, 3}}, {"indptr", {0, 1, 3}}}, sample_values),
          {"words.npz", "entry 2", "columns"});
  message(sparse_npz("csr", {2, 3}, {{"indices", {2, 0, -1}}, {"indptr", {0, 1, 3}}}, sample_values), {"-1"});
  message(sparse_npz("csr", {2, 3}, {{"indices", {2, 0, 1}}, {"indptr", {0, 5, 3}}}, sample_values), {"indptr"});
  message(sparse_npz("csr", {2, 3}, {{"indices", {2, 0, 1}}, {"indptr", {0, 3}}}, sample_values), {"indptr"});
  message(sparse_npz("csr", {2, 3}, {{"indices", {2, 0}}, {"indptr", {0, 1, 3}}}, sample_values), {"places"});
  message(sparse_npz("csr", {2, 3}, {{"indices", {2, 0, 1}}}, sample_values), {"without the array indptr"});
  message(sparse_npz("coo", {1 << 30, 1 << 30}, {{"row", {0}}, {"col", {0}}}, at::tensor({1})), {"too empty"});
  message(sparse_npz("coo", {-1, 3}, {{"row", {0}}, {"col", {0}}}, at::tensor({1})), {"-1 rows"});
}

TEST(WordCounts, AreValuesAsTheyAreStored) {
  const Dataset read = parse_dataset("0,3\n16,2\n", "words.csv"), words = as_counts(read);
  EXPECT_EQ(read.scale, 1) << "small whole numbers are not taken for gray values";
  EXPECT_TRUE(at::equal(words.to_float(), at::tensor({0.0F, 3.0F, 16.0F, 2.0F}).view({2, 2})));
  expect_error([] { (void)as_counts(parse_dataset("0,300\n1.5,2\n", "words.csv")); }, {"row 1, column 0", "1.5"});
  expect_error([] { (void)as_counts(parse_dataset("0,300\n-1,2\n", "words.csv")); }, {"row 1, column 0", "-1"});
}

}  // namespace
}  // namespace harmonium
