// How a file of the user's is read, where the file itself does not say it. Training resolves what is "auto" and writes
// it down, so that other files are read for that model in the same way.
#pragma once

#include <string>

namespace harmonium {

struct Reading {
  // Where labels are: none (or an array beside the data whose name says so), first, last, a column's number from 1 or
  // its name in the header, or the name of an array of the same file; auto: as in training, else none.
  std::string label_column = "auto";
  // What values are divided by: a number, none (as they are; standardize: the same, training standardizes columns and
  // its model takes values as they are), max (the largest of the file); auto: 255 where they look like gray values
  // (formats/make_dataset.h).
  std::string scale = "auto";
  std::string shape = "auto";  // pictures: 28x20 (height × width), none; auto: by the array, or squares
  // yes: a case is a column of the table, or the last axis of a stack of pictures; auto: as in training, else no.
  std::string transpose = "auto";
  std::string first_label = "auto";  // 0 or 1: the number of the first class; auto: 1 where the least label is 1

  std::string first_category = "auto";  // the same of categories: softmax units learn from whole numbers
  // Rows as frames of sequences, one after the other: a number of frames of each; a column whose value says which
  // sequence a row belongs to (first, last, or its name in the header); none; auto: as the file says, and as in
  // training.
  std::string sequences = "auto";
  friend bool operator==(const Reading&, const Reading&) = default;
};

}  // namespace harmonium
