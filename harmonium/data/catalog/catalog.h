// What a user may write after --data:  NAME[:part]  or  PATH[:array][:part].
//
//   digits                    the embedded digits (parts train 1297, valid 200, test 300, all 1797; see data/digits.h)
//   bars_and_stripes, …       generated (train, valid, test from different streams; see data/synthetic.h)
//   mnist, fashion_mnist, binarized_mnist, omniglot28, 20news   files (see catalog/file_sets.h)
//   mnist_patches             made from mnist (see catalog/derived_sets.h)
//   PATH                      any file or folder that read_dataset understands
//
// A name without a part is its train part. A path without a part is all its rows; with train, valid or test it is that
// part of a shuffled 80/10/10 split, the same every time for the same number of rows. For NPZ and MAT files the suffix
// may name an array; an array called train, valid or test wins over the split. A file called like a data set is reached
// as ./NAME.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"

namespace harmonium {

struct CatalogOptions {
  Binarization binarization = Binarization::none;
  // At most so many rows: a random subset in the original order, because the first rows of a file may be all of one
  // class. The same subset every time; 0 means all.
  std::int64_t limit = 0;
  // Of stochastic binarization and generated data. Not the seed of training: two runs with different seeds should see
  // the same data. Every part draws from its own stream below it.
  std::uint64_t seed = 0;
  std::int64_t size = 0;              // of generated data, see SyntheticOptions
  std::int64_t rows = 10000;          // of generated data
  std::string label_column = "none";  // of text tables given by path, see ReadOptions
};

// Throws Error for a spec that names nothing, data that are not there, and bad files.
[[nodiscard]] Dataset open_dataset(const std::string& spec, const CatalogOptions& options = {});

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
