#include "harmonium/data/catalog/file_sets.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/folders.h"
#include "harmonium/data/formats/idx.h"
#include "harmonium/data/formats/read_dataset.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

std::vector<FilePart> mnist_parts() {
  const std::string images = "train-images-idx3-ubyte", labels = "train-labels-idx1-ubyte";
  return {{.name = "train", .rows = 60000, .file = images, .labels = labels, .array = {}},
          {.name = "fit", .rows = 50000, .file = images, .labels = labels, .array = {}, .to_sixth = 5},
          {.name = "valid", .rows = 10000, .file = images, .labels = labels, .array = {}, .from_sixth = 5},
          {.name = "test",
           .rows = 10000,
           .file = "t10k-images-idx3-ubyte",
           .labels = "t10k-labels-idx1-ubyte",
           .array = {}}};
}

std::vector<FilePart> binarized_mnist_parts() {
  return {{.name = "train", .rows = 50000, .file = "binarized_mnist_train.amat", .labels = {}, .array = {}},
          {.name = "valid", .rows = 10000, .file = "binarized_mnist_valid.amat", .labels = {}, .array = {}},
          {.name = "test", .rows = 10000, .file = "binarized_mnist_test.amat", .labels = {}, .array = {}}};
}

std::vector<FilePart> omniglot_parts() {
  const std::string file = "omniglot28.npz";
  return {{.name = "train", .rows = 19280, .file = file, .labels = {}, .array = "x_background"},
          {.name = "test", .rows = 13180, .file = file, .labels = {}, .array = "x_evaluation"}};
}

std::vector<FilePart> newsgroup_parts() {
  const std::string file = "20news_w1000.mat", words = "trainW", classes = "trainC";
  return {{.name = "train", .rows = 11256, .file = file, .labels = {}, .array = words, .label_array = classes},
          {.name = "fit",
           .rows = 9380,
           .file = file,
           .labels = {},
           .array = words,
           .to_sixth = 5,
           .interleaved = true,
           .label_array = classes},
          {.name = "valid",
           .rows = 1876,
           .file = file,
           .labels = {},
           .array = words,
           .from_sixth = 5,
           .interleaved = true,
           .label_array = classes},
          {.name = "test", .rows = 7489, .file = file, .labels = {}, .array = "testW", .label_array = "testC"}};
}

// The number of the one column that holds something, row by row.
at::Tensor labels_of_indicators(const Dataset& indicators) {
  const at::Tensor values = indicators.values.ne(0);
  require(values.sum(1).eq(1).all().item<bool>(), "{}: a row belongs to no class, or to several", indicators.name);
  return values.to(at::kByte).argmax(1);
}

// The rows of a part among those of its file.
Dataset rows_of_part(const Dataset& all, const FilePart& part) {
  if (!part.interleaved) return all.slice(all.rows() * part.from_sixth / 6, all.rows() * part.to_sixth / 6);
  const at::Tensor row = at::arange(all.rows(), at::kLong), sixth = row.remainder(6);
  return all.select(row.masked_select(sixth.ge(part.from_sixth).logical_and(sixth.lt(part.to_sixth))));
}

std::vector<std::string> needed_files(const FilePart& part) {
  std::vector<std::string> files = {part.file};
  if (!part.labels.empty()) files.push_back(part.labels);
  return files;
}

Dataset read_files(const fs::path& folder, const FilePart& part) {
  const fs::path values = *find_plain_or_gzipped(folder, part.file);
  ReadOptions options;
  options.array = part.array;
  options.reading.first_label = "0";  // as they were always counted
  Dataset data = read_dataset(values, options);
  std::erase_if(data.remarks, [](const std::string& each) { return each.starts_with("pictures of"); });  // known, then
  if (!part.label_array.empty()) {
    options.array = part.label_array;
    data.labels = labels_of_indicators(read_dataset(values, options));
  }
  if (!part.labels.empty()) data.labels = read_idx_labels(*find_plain_or_gzipped(folder, part.labels));
  return data;
}

[[noreturn]] void fail_missing(const FileSet& set, const FilePart& part) {
  std::string looked;
  for (const auto& folder : candidate_folders(set.name))
    for (const auto& file : needed_files(part))
      if (!find_plain_or_gzipped(folder, file)) looked += format("\n  {}[.gz]", (folder / file).string());
  if (looked.empty()) looked = "\n  nowhere: neither HARMONIUM_DATA nor XDG_CACHE_HOME nor HOME is set";
  fail("{}:{} is not on this machine; looked for{}\n{}, or set HARMONIUM_DATA to the folder that holds {}/", set.name,
       part.name, looked, set.how_to_get, set.name);
}

}  // namespace

const std::vector<FileSet>& file_sets() {
  static const std::vector<FileSet> sets = {
      {.name = "mnist",
       .description = "handwritten digits, 28x28 gray",
       .license = "CC BY-SA 3.0 (LeCun, Cortes, Burges)",
       .columns = 784,
       .image = ImageShape{28, 28},
       .parts = mnist_parts(),
       .how_to_get = "run: harmonium data fetch mnist"},
      {.name = "fashion_mnist",
       .description = "pictures of clothes, 28x28 gray",
       .license = "MIT (Zalando SE)",
       .columns = 784,
       .image = ImageShape{28, 28},
       .parts = mnist_parts(),
       .how_to_get = "run: harmonium data fetch fashion_mnist"},
      {.name = "binarized_mnist",
       .description = "MNIST under a fixed stochastic binarization, 28x28 bits",
       .license = "as mnist (binarization: Salakhutdinov, Murray, Larochelle)",
       .columns = 784,
       .image = ImageShape{28, 28},
       .parts = binarized_mnist_parts(),
       .how_to_get = "put binarized_mnist_{train,valid,test}.amat into one of these folders",
       .binarization = Binarization::stochastic},
      {.name = "omniglot28",
       .description = "handwritten characters of 50 alphabets, reduced to 28x28 gray",
       .license = "MIT (Lake, Salakhutdinov, Tenenbaum)",
       .columns = 784,
       .image = ImageShape{28, 28},
       .parts = omniglot_parts(),
       .how_to_get =
           "put omniglot28.npz (x_background, x_evaluation: rows of bytes, ink high) into one of these folders"},
      {.name = "20news",
       .description = "20 Newsgroups by date: numbers of 1000 word stems in messages of 20 groups",
       .license = "collected by Ken Lang; research use",
       .columns = 1000,
       .image = std::nullopt,
       .parts = newsgroup_parts(),
       .how_to_get = "put 20news_w1000.mat (trainW, testW: documents x words; trainC, testC: documents x classes) into "
                     "one of these folders",
       .counts = true},
  };
  return sets;
}

std::optional<fs::path> find_files(const std::string& name, const std::vector<FilePart>& parts) {
  const auto folders = candidate_folders(name);
  const auto found = std::ranges::find_if(folders, [&](const fs::path& folder) {
    return std::ranges::all_of(parts, [&](const FilePart& part) {
      return std::ranges::all_of(
          needed_files(part), [&](const std::string& file) { return find_plain_or_gzipped(folder, file).has_value(); });
    });
  });
  return found == folders.end() ? std::nullopt : std::optional(*found);
}

std::string how_to_get(const FileSet& set) {
  if (!set.how_to_get.ends_with("folders")) return set.how_to_get;
  std::string folders;
  for (const fs::path& folder : candidate_folders(set.name))
    folders += (folders.empty() ? ": " : ", ") + folder.string();
  return set.how_to_get + (folders.empty() ? ": set HARMONIUM_DATA to one that holds " + set.name + "/" : folders);
}

Dataset open_file_set(const FileSet& set, const FilePart& part) {
  const auto folder = find_files(set.name, {part});
  if (!folder) fail_missing(set, part);
  Dataset data = read_files(*folder, part);
  require(data.columns() == set.columns, "{}: {} has {} columns instead of {}", set.name,
          (*folder / part.file).string(), data.columns(), set.columns);
  require(!data.labels.defined() || data.labels.numel() == data.rows(), "{}: {} labels in {} for {} rows of {} in {}",
          set.name, data.labels.numel(), part.labels + part.label_array, data.rows(), part.file, folder->string());
  if (set.counts) data = as_counts(data);
  data = rows_of_part(data, part);
  data.image = set.image;
  data.binarization = set.binarization;
  return data;
}

}  // namespace harmonium
