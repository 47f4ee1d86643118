// The well-known data sets that are files on the user's disk: which files make which part.
//
//   mnist, fashion_mnist  train: 60 000 rows; test: 10 000; valid: the last 10 000 of train, so it OVERLAPS train: to
//                         choose anything by validation, train on fit, the first 50 000 rows of train
//   binarized_mnist       train 50 000, valid 10 000, test 10 000: the fixed stochastic binarization of Salakhutdinov &
//                         Murray (2008) in Larochelle's text files; the rows of test are sorted by class
//   omniglot28            train: the background alphabets; test: the evaluation alphabets, reduced to 28×28
//   20news                train 11 256, test 7 489: numbers of 1000 word stems in 20 newsgroups, split by date, rows
//                         sorted by class; valid: every sixth row of train, so it OVERLAPS train; fit: the other five
//
// Every file may be gzipped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"

namespace harmonium {

struct FilePart {
  std::string name;                           // "train"
  std::int64_t rows = 0;                      // of the original
  std::string file;                           // values
  std::string labels;                         // a file of labels, where they are not in `file` itself
  std::string array;                          // of values, where `file` is an NPZ or a MAT
  std::int64_t from_sixth = 0, to_sixth = 6;  // the part of the rows: whole sixths of the file
  bool interleaved = false;                   // row r is of sixth r mod 6, for files sorted by class
  std::string label_array = {};               // rows × classes of `file`, a one where a row belongs
};

struct FileSet {
  std::string name, description, license;
  std::int64_t columns = 0;
  std::optional<ImageShape> image;
  std::vector<FilePart> parts;
  std::string how_to_get;  // a sentence
  // The values are bits drawn from gray ones by whoever made the files.
  Binarization binarization = Binarization::none;
  bool counts = false;  // values are numbers of words
};

[[nodiscard]] const std::vector<FileSet>& file_sets();

// The first folder that holds every file of `parts`.
[[nodiscard]] std::optional<std::filesystem::path> find_files(const std::string& name,
                                                              const std::vector<FilePart>& parts);

// How to get a set that is not there, with the folders to put it in.
[[nodiscard]] std::string how_to_get(const FileSet& set);

// Throws Error saying where it looked and how to get the data when they are not there.
[[nodiscard]] Dataset open_file_set(const FileSet& set, const FilePart& part);

}  // namespace harmonium
