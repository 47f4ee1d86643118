#include "harmonium/data/catalog/catalog.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/digits.h"
#include "harmonium/data/formats/gzip.h"
#include "tests/data/catalog/sandbox.h"
#include "tests/files/sample_files.h"

namespace harmonium {
namespace {

using test::message_of;

// Pictures whose first pixel is 200 + their number, with that number as label.
std::string idx_images(std::uint32_t count, std::uint32_t side = 28) {
  std::string values;
  for (std::uint32_t i = 0; i < count; ++i) values += static_cast<char>(200 + i) + std::string(side * side - 1, '\0');
  return samples::idx(8, {count, side, side}, values);
}

std::string idx_labels(std::uint32_t count) {
  std::string values;
  for (std::uint32_t i = 0; i < count; ++i) values += static_cast<char>(i);
  return samples::idx(8, {count}, values);
}

// A table of `rows` lines "i,0.5".
std::string numbered_csv(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i) text += std::to_string(i) + ",0.5\n";
  return text;
}

class Catalog : public test::Sandbox {
 protected:
  void write_mnist(const std::string& folder, std::uint32_t train = 12, std::uint32_t test = 3) const {
    write(folder + "/train-images-idx3-ubyte", idx_images(train));
    write(folder + "/train-labels-idx1-ubyte", idx_labels(train));
    write(folder + "/t10k-images-idx3-ubyte.gz", gzip(idx_images(test)));
    write(folder + "/t10k-labels-idx1-ubyte.gz", gzip(idx_labels(test)));
  }
};

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST_F(Catalog, ANameWithoutAPartIsItsTrainingPart) {
  const Dataset data = open_dataset("digits");
  EXPECT_EQ(data.rows(), 1297);
  EXPECT_EQ(data.name, "digits");
  EXPECT_TRUE(at::equal(data.values, open_dataset("digits:train").values));
}

TEST_F(Catalog, DigitsHaveTheirFixedParts) {
  EXPECT_EQ(open_dataset("digits:valid").rows(), 200);
  EXPECT_EQ(open_dataset("digits:test").rows(), 300);
  EXPECT_TRUE(at::equal(open_dataset("digits:all").values, digits().values));
}

TEST_F(Catalog, EverySetListedAsAvailableOpensInEveryPartWithTheRowsAndColumnsListed) {
  for (const auto& entry : list_datasets()) {
    if (!entry.available) continue;
    for (const auto& part : entry.parts) {
      const Dataset data = open_dataset(entry.name + ":" + part.name, {.rows = 40});
      EXPECT_EQ(data.rows(), part.rows.value_or(40)) << entry.name;
      EXPECT_EQ(data.columns(), entry.columns) << entry.name;
      if (!data.counts) {
        EXPECT_NO_THROW(require_unit_interval(data));
      }
    }
  }
}

TEST_F(Catalog, AnUnknownPartIsRefusedWithThePartsThereAre) {
  const auto message = message_of<Error>([] { (void)open_dataset("digits:holdout"); });
  expect_contains(message, "digits has no part 'holdout'");
  expect_contains(message, "train, valid, test, all");
}

TEST_F(Catalog, AMisspeltNameGetsTheNearestOneAndTheList) {
  const auto message = message_of<Error>([] { (void)open_dataset("fashon_mnist:test"); });
  expect_contains(message, "no data set and no file called 'fashon_mnist:test'");
  expect_contains(message, "did you mean fashion_mnist?");
  expect_contains(message, "bars_and_stripes");
}

TEST_F(Catalog, ANameLikeNoOtherGetsTheListWithoutAGuess) {
  const auto message = message_of<Error>([] { (void)open_dataset("/no/such/folder/table.csv"); });
  EXPECT_EQ(message.find("did you mean"), std::string::npos) << message;
  expect_contains(message, "digits");
}

TEST_F(Catalog, MnistPartsAreTheirRangesOfTheFiles) {
  write_mnist("data/mnist");
  const auto labels = [](const char* spec) { return open_dataset(spec).labels; };
  EXPECT_TRUE(at::equal(labels("mnist"), at::arange(12, at::kLong)));
  EXPECT_TRUE(at::equal(labels("mnist:train"), at::arange(12, at::kLong)));
  EXPECT_TRUE(at::equal(labels("mnist:fit"), at::arange(10, at::kLong)));
  EXPECT_TRUE(at::equal(labels("mnist:valid"), at::arange(10, 12, at::kLong)));
  EXPECT_TRUE(at::equal(labels("mnist:test"), at::arange(3, at::kLong)));
  const Dataset test = open_dataset("mnist:test");
  EXPECT_EQ(test.values[2][0].item<int>(), 202);
  EXPECT_DOUBLE_EQ(test.scale, 1.0 / 255);
  EXPECT_EQ(test.image, (ImageShape{28, 28}));
}

TEST_F(Catalog, TheDataFolderComesBeforeTheCacheAndTheCacheBeforeNothing) {
  write_mnist("cache/harmonium/data/mnist", 6);
  EXPECT_EQ(open_dataset("mnist").rows(), 6);
  write_mnist("data/mnist", 12);
  EXPECT_EQ(open_dataset("mnist").rows(), 12);
  set("HARMONIUM_DATA", std::nullopt);
  EXPECT_EQ(open_dataset("mnist").rows(), 6);
}

TEST_F(Catalog, WithoutXdgCacheHomeTheCacheIsInTheHomeFolder) {
  write_mnist("home/.cache/harmonium/data/mnist", 6);
  set("XDG_CACHE_HOME", std::nullopt);
  EXPECT_EQ(open_dataset("mnist").rows(), 6);
}

TEST_F(Catalog, MissingDataAreRefusedWithEveryPlaceLookedAtAndTheCommandToRun) {
  write("data/mnist/train-images-idx3-ubyte", idx_images(6));
  const auto message = message_of<Error>([] { (void)open_dataset("mnist:train"); });
  expect_contains(message, (root / "data/mnist/train-labels-idx1-ubyte").string());
  expect_contains(message, (root / "cache/harmonium/data/mnist/train-images-idx3-ubyte").string());
  expect_contains(message, "harmonium data fetch mnist");
  expect_contains(message, "HARMONIUM_DATA");
}

TEST_F(Catalog, ListsWhereASetIsOrHowToGetIt) {
  const auto mnist = [] {
    const auto entries = list_datasets();
    return *std::ranges::find(entries, "mnist", &CatalogEntry::name);
  };
  EXPECT_FALSE(mnist().available);
  expect_contains(mnist().location, "harmonium data fetch mnist");
  write_mnist("data/mnist");
  EXPECT_TRUE(mnist().available);
  EXPECT_EQ(mnist().location, (root / "data/mnist").string());
}

TEST_F(Catalog, ListsTheFoldersIntoWhichFilesAreToBePut) {
  for (const CatalogEntry& entry : list_datasets()) {
    if (entry.location.find("folders") == std::string::npos) continue;
    expect_contains(entry.location, (root / "data" / entry.name).string());
    expect_contains(entry.location, (root / "cache/harmonium/data" / entry.name).string());
  }
}

TEST_F(Catalog, RefusesImagesOfAnotherSizeAndLabelsOfAnotherNumber) {
  write_mnist("data/mnist");
  write("data/mnist/train-images-idx3-ubyte", idx_images(12, 20));
  expect_contains(message_of<Error>([] { (void)open_dataset("mnist"); }), "400 columns instead of 784");
  write_mnist("data/mnist");
  write("data/mnist/train-labels-idx1-ubyte", idx_labels(11));
  expect_contains(message_of<Error>([] { (void)open_dataset("mnist"); }), "11 labels");
}

TEST_F(Catalog, BinarizedMnistReadsItsTextFilesAndKnowsThatItsBitsAreStochastic) {
  std::string line = "1";
  for (int i = 1; i < 784; ++i) line += i % 2 == 0 ? " 1" : " 0";
  write("data/binarized_mnist/binarized_mnist_valid.amat", line + "\n" + line + "\n");
  const Dataset data = open_dataset("binarized_mnist:valid");
  EXPECT_EQ(data.rows(), 2);
  EXPECT_TRUE(data.is_binary());
  EXPECT_EQ(data.binarization, Binarization::stochastic);
  EXPECT_EQ(data.image, (ImageShape{28, 28}));
  EXPECT_THROW((void)open_dataset("binarized_mnist:train"), Error);
}

TEST_F(Catalog, APathIsAllItsRowsAndItsPartsAreADisjointSplit) {
  const std::string path = write("table.csv", numbered_csv(50)).string();
  EXPECT_EQ(open_dataset(path).rows(), 50);
  std::vector<at::Tensor> firsts;
  for (const auto& [part, rows] : {std::pair{"train", 40}, std::pair{"valid", 5}, std::pair{"test", 5}}) {
    const Dataset data = open_dataset(path + ":" + part);
    EXPECT_EQ(data.rows(), rows);
    firsts.push_back(data.values.select(1, 0));
  }
  const at::Tensor all = open_dataset(path).values.select(1, 0);
  EXPECT_TRUE(at::equal(std::get<0>(at::cat(firsts).sort()), std::get<0>(all.sort())));
  EXPECT_TRUE(at::equal(open_dataset(path + ":test").values, open_dataset(path + ":test").values));
}

TEST_F(Catalog, APathWithAColonInItsNameOpens) {
  EXPECT_EQ(open_dataset(write("odd:name.csv", numbered_csv(12)).string()).rows(), 12);
}

TEST_F(Catalog, Omniglot28IsTwoArraysOfOneFile) {
  write("data/omniglot28/omniglot28.npz", samples::npz({{"x_background", at::full({2, 28, 28}, 128, at::kByte)},
                                                        {"y_background", at::tensor({5, 6}, at::kLong)},
                                                        {"x_evaluation", at::full({1, 28, 28}, 64, at::kByte)}}));
  EXPECT_EQ(open_dataset("omniglot28").rows(), 2);
  EXPECT_TRUE(at::equal(open_dataset("omniglot28").labels, at::tensor({5, 6}, at::kLong)));
  const Dataset test = open_dataset("omniglot28:test");
  EXPECT_EQ(test.rows(), 1);
  EXPECT_EQ(test.values[0][0].item<int>(), 64);
}

TEST_F(Catalog, NewsgroupsAreCountsWithClassesInAnArrayOfTheirOwn) {
  // Twelve documents of one word each: document r has r + 1 of word r and is of class r / 6.
  std::vector<std::int32_t> rows, starts = {0}, classes, class_starts = {0, 6, 12};
  std::vector<double> values, ones(12, 1.0);
  for (std::int32_t r = 0; r < 12; ++r) {
    rows.push_back(r);
    values.push_back(r + 1);
    classes.push_back(r);
  }
  for (std::int32_t word = 0; word < 1000; ++word) starts.push_back(std::min(word + 1, 12));
  write("data/20news/20news_w1000.mat",
        samples::mat(samples::mat_sparse("trainW", {12, 1000}, rows, starts, values) +
                     samples::mat_compressed(samples::mat_sparse("trainC", {12, 2}, classes, class_starts, ones))));
  const Dataset all = open_dataset("20news");
  EXPECT_TRUE(all.counts);
  EXPECT_EQ(all.scale, 1.0);
  EXPECT_FALSE(all.image.has_value());
  EXPECT_TRUE(at::equal(all.labels, at::arange(12, at::kLong).floor_divide(6)));
  EXPECT_TRUE(at::equal(all.to_float().sum(1), at::arange(1, 13, at::kFloat)));
  // Every sixth row is for validation, so that all classes are on both sides.
  EXPECT_TRUE(at::equal(open_dataset("20news:valid").to_float().sum(1), at::tensor({6.0F, 12.0F})));
  EXPECT_EQ(open_dataset("20news:fit").rows(), 10);
  EXPECT_TRUE(at::equal(open_dataset("20news:valid").labels, at::tensor({0, 1}, at::kLong)));
  expect_contains(message_of<Error>([] { (void)open_dataset("20news:test"); }), "testW");
}

TEST_F(Catalog, ASuffixOfAnArchiveNamesAnArrayAndAPartAfterItItsSplit) {
  const std::string archive =
      samples::npz({{"left", at::full({20, 2}, 9, at::kByte)}, {"right", at::full({10, 4}, 9, at::kByte)}});
  const std::string path = write("two.npz", archive).string();
  EXPECT_EQ(open_dataset(path + ":left").rows(), 20);
  EXPECT_EQ(open_dataset(path + ":right").rows(), 10);
  EXPECT_EQ(open_dataset(path + ":left:train").rows(), 16);
  EXPECT_EQ(open_dataset(path + ":left:test").rows(), 2);
  expect_contains(message_of<Error>([&] { (void)open_dataset(path + ":middle"); }), "middle");
}

TEST_F(Catalog, AnArrayCalledLikeAPartWinsOverTheSplit) {
  const std::string archive =
      samples::npz({{"train", at::full({20, 2}, 9, at::kByte)}, {"test", at::full({10, 4}, 9, at::kByte)}});
  const std::string path = write("parts.npz", archive).string();
  EXPECT_EQ(open_dataset(path + ":train").rows(), 20);
  EXPECT_EQ(open_dataset(path + ":test").columns(), 4);
}

TEST_F(Catalog, AFileWithArraysForPartsHasThoseParts) {
  const at::Tensor many = at::full({40, 3}, 200, at::kByte), few = at::full({6, 3}, 200, at::kByte);
  const std::string path = write("keras.npz", samples::npz({{"x_test", few},
                                                            {"y_test", at::arange(6, at::kLong)},
                                                            {"x_train", many},
                                                            {"y_train", at::arange(40, at::kLong)}}))
                               .string();
  EXPECT_EQ(open_dataset(path).rows(), 40);
  EXPECT_EQ(open_dataset(path + ":train").rows(), 40);
  EXPECT_EQ(open_dataset(path + ":test").rows(), 6);
  EXPECT_EQ(open_dataset(path + ":test").labels.numel(), 6);
  EXPECT_EQ(open_dataset(path + ":x_train:test").rows(), 4) << "a tenth of that array";
  expect_contains(message_of<Error>([&] { (void)open_dataset(path + ":valid"); }), "has no part valid");
  EXPECT_EQ(part_beside(path, open_dataset(path), "test"), path + ":test");
  EXPECT_EQ(part_beside(path, open_dataset(path), "valid"), std::nullopt);
}

TEST_F(Catalog, PartsBesideTheTrainingPartOfASplitAreKnown) {
  const std::string path = write("table.csv", numbered_csv(50)).string();
  EXPECT_EQ(part_beside(path + ":train", open_dataset(path + ":train"), "valid"), path + ":valid");
  EXPECT_EQ(part_beside(path, open_dataset(path), "test"), std::nullopt) << "all rows leave none for a test";
  EXPECT_EQ(part_beside("digits", open_dataset("digits"), "test"), std::nullopt) << "a name has its own";
}

TEST_F(Catalog, OptionsOfReadingAreForFiles) {
  expect_contains(message_of<Error>([] { (void)open_dataset("digits", {.reading = {.scale = "16"}}); }), "for files");
}

TEST_F(Catalog, MissingValuesAreRefusedUnlessTheyAreAskedFor) {
  const std::string path = write("gaps.csv", "0,1\n1,\n").string();
  expect_contains(message_of<Error>([&] { (void)open_dataset(path); }), "1 values are missing");
  EXPECT_EQ(open_dataset(path, {.missing_values = true}).missing, 1);
}

TEST_F(Catalog, TooFewRowsForAPartAreRefused) {
  const std::string path = write("table.csv", numbered_csv(9)).string();
  expect_contains(message_of<Error>([&] { (void)open_dataset(path + ":valid"); }), "9 rows has no valid part");
}

TEST_F(Catalog, ASuffixThatIsNeitherPartNorArrayIsRefused) {
  const std::string path = write("table.csv", numbered_csv(12)).string();
  expect_contains(message_of<Error>([&] { (void)open_dataset(path + ":weights"); }), "weights");
}

TEST_F(Catalog, ALimitKeepsARepresentativeSubsetInTheOriginalOrder) {
  const Dataset all = open_dataset("digits:all"), some = open_dataset("digits:all", {.limit = 100});
  ASSERT_EQ(some.rows(), 100);
  // Found one after the other, walking once through all rows.
  std::int64_t row = 0, last = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    while (row < all.rows() && !at::equal(all.values[row], some.values[i])) ++row;
    ASSERT_LT(row, all.rows()) << i;
    last = row++;
  }
  EXPECT_GT(last, 1000);
  EXPECT_TRUE(at::equal(some.values, open_dataset("digits:all", {.limit = 100}).values));
  EXPECT_EQ(open_dataset("digits:test", {.limit = 1000}).rows(), 300);
  EXPECT_THROW((void)open_dataset("digits", {.limit = -1}), Error);
}

TEST_F(Catalog, BinarizesOnRequestWithDifferentNoiseInEveryPart) {
  const Dataset train = open_dataset("digits:train", {.binarization = Binarization::stochastic});
  EXPECT_TRUE(train.is_binary());
  EXPECT_EQ(train.binarization, Binarization::stochastic);
  const Dataset test = open_dataset("digits:test", {.binarization = Binarization::stochastic});
  EXPECT_NE(train.binarization_seed, test.binarization_seed);
  const Dataset other = open_dataset("digits:train", {.binarization = Binarization::stochastic, .seed = 1});
  EXPECT_FALSE(at::equal(train.values, other.values));
}

TEST_F(Catalog, GeneratedSetsTakeTheirSizeRowsAndSeedFromTheOptions) {
  const Dataset data = open_dataset("bars_and_stripes:test", {.seed = 5, .size = 3, .rows = 7});
  EXPECT_EQ(data.rows(), 7);
  EXPECT_EQ(data.columns(), 9);
  EXPECT_EQ(open_dataset("bars_and_stripes:all", {.size = 3}).rows(), 14);
}

}  // namespace
}  // namespace harmonium
