#include "harmonium/data/formats/read_dataset.h"

#include <array>

#include "tests/files/sample_files.h"
#include "tests/files/support.h"

namespace harmonium {

TEST(ReadDataset, RecognisesEveryFormatByContentWhateverItIsCalledAndGzippedOrNot) {
  const TemporaryFolder folder;
  const at::Tensor table = at::tensor({0, 1, 0, 1, 1, 0}, at::kByte).view({2, 3});
  const std::vector<std::pair<std::string, std::string>> files{
      {"idx", samples::idx(0x08, {2, 3}, std::string("\0\1\0\1\1\0", 6))},
      {"npy", encode_npy(table)},
      {"npz", samples::npz({{"anything", table}})},
      {"csv", "0,1,0\n1,1,0\n"},
      {"amat", "0 1 0 \n1 1 0 \n"},
      {"mat", samples::mat(samples::mat_double("v", {2, 3}, {0, 1, 1, 1, 0, 0}))},
  };
  for (const auto& [format_name, bytes] : files) {
    for (const std::string& content : {bytes, gzip(bytes)}) {
      const Dataset data = read_dataset(folder.write("file.bin", content));
      EXPECT_TRUE(data.values.equal(table)) << format_name;
      EXPECT_EQ(data.scale, 1.0) << format_name;
      EXPECT_EQ(data.name, "file.bin");
    }
  }
}

TEST(ReadDataset, ReadsAFolderOfPictures) {
  const TemporaryFolder folder;
  folder.write("1.png", samples::png(2, 3));
  folder.write("2.png", samples::png(2, 3));
  const Dataset data = read_dataset(folder.path() / "");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.columns(), 6);
  EXPECT_EQ(data.image->height, 2);
  EXPECT_EQ(data.scale, 1.0 / 255);
  EXPECT_EQ(data.name, folder.path().filename());
}

TEST(ReadDataset, ReadsIdxImagesWithTheirShapeAndScale) {
  const Dataset data = parse_dataset(samples::idx(0x08, {2, 2, 3}, "abcdefghijkl"), "f");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_EQ(data.image->height, 2);
  EXPECT_EQ(data.image->width, 3);
  EXPECT_EQ(data.scale, 1.0 / 255);
}

TEST(ReadDataset, ScalesTextOnlyWhereItReachesFar) {
  EXPECT_TRUE(parse_dataset("0,3\n16,2\n", "f").whole_numbers);
  EXPECT_EQ(parse_dataset("0,3\n170,2\n", "f").scale, 1.0 / 255);
  EXPECT_EQ(parse_dataset("0,0.5\n", "f").values.scalar_type(), at::kFloat);
}

TEST(ReadDataset, ChoosesArraysAndTheirLabels) {
  const TemporaryFolder folder;
  const auto path = folder.write(
      "two.npz",
      samples::npz({{"x_a", at::zeros({2, 3})}, {"y_a", at::tensor({4, 5}, at::kShort)}, {"x_b", at::ones({3, 3})}}));
  const Dataset a = read_dataset(path, {.array = "x_a"});
  EXPECT_EQ(a.rows(), 2);
  EXPECT_TRUE(a.labels.equal(at::tensor({4, 5}, at::kLong)));
  EXPECT_EQ(a.name, "two.npz:x_a");
  EXPECT_FALSE(read_dataset(path, {.array = "x_b"}).labels.defined());
  expect_error([&] { (void)read_dataset(path); }, {path.string(), "x_a (2×3)", "x_b (3×3)", "PATH:NAME"});
}

TEST(ReadDataset, LeavesOutLabelsThatAreNotIntegers) {
  const std::string bytes = samples::npz({{"x", at::zeros({2, 3})}, {"y", at::tensor({0.5, 1.0})}});
  EXPECT_FALSE(parse_dataset(bytes, "f").labels.defined());
}

TEST(ReadDataset, ChoosesAMatlabVariableAndItsLabels) {
  const std::string bytes = samples::mat(samples::mat_double("gnd", {2, 1}, {3, 4}) +
                                         samples::mat_sparse("fea", {2, 3}, {0, 1}, {0, 1, 1, 2}, {1, 9}) +
                                         samples::mat_double("extra", {2, 2}, {1, 2, 3, 4}));
  const Dataset data = parse_dataset(bytes, "f");
  EXPECT_TRUE(data.values.equal(at::tensor({1, 0, 0, 0, 0, 9}, at::kByte).view({2, 3})));
  EXPECT_TRUE(data.labels.equal(at::tensor({3, 4}, at::kLong)));
}

TEST(ReadDataset, TakesCellsOfAMatlabFileForSequencesPartByPart) {
  const std::string bytes = samples::mat(samples::mat_sequences("traindata") + samples::mat_sequences("testdata") +
                                         samples::mat_double("other", {2, 2}, {1, 2, 3, 4}));
  for (const char* part : {"", "train", "test"}) {
    const Dataset data = parse_dataset(bytes, "f", {.part = part});
    EXPECT_EQ(data.lengths, (std::vector<std::int64_t>{1, 3}));
    EXPECT_TRUE(data.to_float().equal(at::tensor({0.F, 1.F, 1.F, 0.F, 0.F, 1.F, 1.F, 1.F}).view({4, 2})));
    EXPECT_EQ(data.own_parts, (std::vector<std::string>{"train", "test"}));
  }
  expect_error([&] { (void)parse_dataset(bytes, "f", {.reading = {.transpose = "yes"}}); }, {"f", "transpose"});
}

TEST(ReadDataset, FindsTheLengthsOfSequencesBesideAnArray) {
  const at::Tensor five = at::zeros({5, 3}), two = at::zeros({2, 3});
  const auto lengths_of = [](const std::vector<std::pair<std::string, at::Tensor>>& arrays, const std::string& part) {
    return parse_dataset(samples::npz(arrays), "f", {.part = part}).lengths;
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(lengths_of({{"x", five}, {"lengths", at::tensor({2, 3})}}, ""), (Numbers{2, 3}));
  EXPECT_EQ(lengths_of({{"x", five}, {"x_lengths", at::tensor({4.0, 1.0}).view({2, 1})}}, ""), (Numbers{4, 1}));
  const std::vector<std::pair<std::string, at::Tensor>> parts = {
      {"x_train", five}, {"x_test", two}, {"lengths_train", at::tensor({2, 3})}, {"lengths_test", at::tensor({2})}};
  EXPECT_EQ(lengths_of(parts, "train"), (Numbers{2, 3}));
  EXPECT_EQ(lengths_of(parts, "test"), (Numbers{2}));
  EXPECT_EQ(lengths_of({{"x", five}}, ""), Numbers());
  // What is only called so is said, and rows stay independent.
  for (const at::Tensor& wrong :
       {at::tensor({2, 2}), at::tensor({5, 0}), at::tensor({6, -1}), at::tensor({2.5, 2.5})}) {
    const Dataset data = parse_dataset(samples::npz({{"x", five}, {"lengths", wrong}}), "f");
    EXPECT_TRUE(data.lengths.empty());
    EXPECT_TRUE(std::ranges::any_of(data.remarks, [](const std::string& each) {
      return each.find("no lengths of sequences") != std::string::npos;
    }));
  }
}

TEST(ReadDataset, TakesTheLabelColumnOfEveryFormat) {
  const at::Tensor table = at::tensor({0, 1, 7, 1, 0, 8}).view({2, 3});
  const std::vector<std::string> files{"0,1,7\n1,0,8\n",
                                       "a b kind\n0 1 7\n1 0 8\n",
                                       encode_npy(table),
                                       samples::npz({{"v", table}}),
                                       samples::idx(0x08, {2, 3}, std::string("\0\1\7\1\0\10", 6)),
                                       samples::mat(samples::mat_double("v", {2, 3}, {0, 1, 1, 0, 7, 8}))};
  for (const std::string& bytes : files) {
    for (const char* column : {"last", "3"}) {
      const Dataset data = parse_dataset(bytes, "f", {.reading = {.label_column = column}});
      EXPECT_TRUE(data.values.equal(at::tensor({0, 1, 1, 0}, at::kByte).view({2, 2})));
      EXPECT_TRUE(data.labels.equal(at::tensor({7, 8}, at::kLong)));
    }
  }
  EXPECT_TRUE(parse_dataset(files[1], "f", {.reading = {.label_column = "kind"}}).labels.defined());
  expect_error([&] { (void)parse_dataset(files[1], "f", {.reading = {.label_column = "sort"}}); },
               {"label_column sort", "no such column"});
}

TEST(ReadDataset, TakesLabelsFromTheArrayItIsTold) {
  const std::string bytes = samples::npz({{"v", at::zeros({2, 3})}, {"species", at::tensor({1, 2}, at::kByte)}});
  const Dataset data = parse_dataset(bytes, "f", {.array = "v", .reading = {.label_column = "species"}});
  EXPECT_TRUE(data.labels.equal(at::tensor({0, 1}, at::kLong)));
  EXPECT_EQ(data.first_label, 1);
}

TEST(ReadDataset, TakesArraysForTrainingAndTestingAsParts) {
  for (const auto& [train, test, train_labels, test_labels] : std::vector<std::array<const char*, 4>>{
           {"x_train", "x_test", "y_train", "y_test"},
           {"train_data", "test_data", "train_labels", "test_labels"},
           {"trainX", "testX", "trainY", "testY"},
           {"train", "test", "train_label", "test_label"},
           {"X_training", "X_validation", "targets_training", "targets_validation"}}) {
    const std::string other = std::string(test).find("valid") != std::string::npos ? "valid" : "test";
    const std::string bytes = samples::npz({{test, at::zeros({2, 3})},
                                            {test_labels, at::tensor({0, 1}, at::kByte)},
                                            {train, at::ones({4, 3})},
                                            {train_labels, at::tensor({0, 1, 1, 0}, at::kByte)}});
    const Dataset all = parse_dataset(bytes, "f"), tested = parse_dataset(bytes, "f", {.part = other});
    EXPECT_EQ(all.rows(), 4) << train;
    EXPECT_EQ(all.labels.defined() ? all.labels.numel() : 0, 4) << train;
    EXPECT_EQ(all.own_parts, (std::vector<std::string>{"train", other}));
    EXPECT_NE(all.remarks.at(0).find(std::string("array ") + train), std::string::npos) << all.remarks.at(0);
    EXPECT_EQ(tested.rows(), 2) << test;
    EXPECT_EQ(tested.labels.defined() ? tested.labels.numel() : 0, 2) << test;
    EXPECT_EQ(parse_dataset(bytes, "f", {.part = "train"}).rows(), 4);
    expect_error([&] { (void)parse_dataset(bytes, "f", {.part = other == "test" ? "valid" : "test"}); },
                 {"has no part", train, test});
  }
}

TEST(ReadDataset, NamesFilesThatItDoesNotRead) {
  const auto refuses = [](std::string_view bytes, std::string_view what) {
    expect_error([&] { (void)parse_dataset(bytes, "file"); }, {"file", what});
  };
  refuses("\x80\x04\x95\x10", "Python pickle");
  refuses("cnumpy.core.multiarray\n_reconstruct\n", "Python pickle");
  refuses("\x89HDF\r\n", "HDF5");
  refuses(">sequence one\nFCYLEEDVG\n", "FASTA");
  refuses("PAR1....", "Parquet");
}

TEST(ReadDataset, SaysWhatIsWrongWithFilesItCannotUse) {
  const TemporaryFolder folder;
  expect_error([&] { (void)read_dataset(folder / "missing"); }, {"missing"});
  expect_error([] { (void)parse_dataset("", "f"); }, {"f", "empty"});
  expect_error([] { (void)parse_dataset(std::string("\1\2\3\4", 4), "f"); }, {"f", "not recognised", "byte 0"});
  expect_error([] { (void)parse_dataset(samples::png(), "a.png"); }, {"a.png", "folder"});
  expect_error([] { (void)parse_dataset("MATLAB 7.3 MAT-file, Platform", "f.mat"); }, {"f.mat", "-v7"});
  expect_error([] { (void)parse_dataset(samples::idx(0x08, {3}, "abc"), "labels"); }, {"labels", "labels?"});
  expect_error([] { (void)parse_dataset(gzip(gzip("1,2\n")), "f.gz"); }, {"f.gz", "twice"});
  expect_error([] { (void)parse_dataset("1,2\n", "f.csv", {.array = "x"}); }, {"f.csv", "called x"});
}

}  // namespace harmonium
