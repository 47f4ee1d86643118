// What a user may write after --data:  NAME[:part]  or  PATH[:array][:part].
//
//   digits                    the embedded digits (parts train 1297, valid 200, test 300, all 1797; see data/digits.h)
//   bars_and_stripes, …       generated (train, valid, test from different streams; see data/synthetic.h)
//   mnist, fashion_mnist, binarized_mnist, omniglot28, 20news   files (see catalog/file_sets.h)
//   mnist_patches             made from mnist (see catalog/derived_sets.h)
//   PATH                      any file or folder that read_dataset understands
//
// A name without a part is its train part. So is a path whose file has arrays for parts (x_train and x_test, …: see
// formats/choose_array.h), and its parts are those arrays. Any other path without a part is all its rows; with train,
// valid or test it is that part of a shuffled 80/10/10 split, the same every time for the same number of rows. For NPZ
// and MAT files the suffix may name an array, and PATH:array:part is a part of the split of that array. A file called
// like a data set is reached as ./NAME.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"
#include "harmonium/data/reading.h"
#include "harmonium/data/split.h"

namespace harmonium {

struct CatalogOptions {
  Binarization binarization = Binarization::none;
  // At most so many rows, or sequences where rows are frames of such: a random subset in the original order, because
  // the first rows of a file may be all of one class. The same subset every time; 0 means all.
  std::int64_t limit = 0;
  // Of stochastic binarization and generated data. Not the seed of training: two runs with different seeds should see
  // the same data. Every part draws from its own stream below it.
  std::uint64_t seed = 0;
  std::int64_t size = 0;        // of generated data, see SyntheticOptions
  std::int64_t rows = 10000;    // of generated data
  Reading reading = {};         // of files given by path
  bool missing_values = false;  // whoever asks can do with data of which values are missing; else they are refused
};

// Throws Error for a spec that names nothing, data that are not there, and bad files.
[[nodiscard]] Dataset open_dataset(const std::string& spec, const CatalogOptions& options = {});

// How many rows (or sequences) of a file without parts of its own are its train, valid and test parts.
[[nodiscard]] SplitSizes path_split_sizes(std::int64_t rows);

// Whether a spec names a set of the catalog, and not a file; whether that set is generated.
[[nodiscard]] bool is_named(const std::string& spec);
[[nodiscard]] bool is_generated(const std::string& spec);
// How a file is read does not concern sets with a name.
[[nodiscard]] Reading reading_for(const std::string& spec, const Reading& reading);

// The spec of another part of the same file, where it has one beside the rows that `opened` holds: "x.npz:test" for
// "x.npz" with an array x_test, "table.csv:test" for "table.csv:train".
[[nodiscard]] std::optional<std::string> part_beside(const std::string& spec, const Dataset& opened,
                                                     const std::string& part);

struct CatalogPart {
  std::string name;
  std::optional<std::int64_t> rows;  // nothing where the user chooses
};

struct CatalogEntry {
  std::string name, description, license;
  std::int64_t columns = 0;
  std::vector<CatalogPart> parts;
  bool available = false;
  std::string location;  // "built in", the folder with the files, or how to get them
};

[[nodiscard]] std::vector<CatalogEntry> list_datasets();

}  // namespace harmonium
