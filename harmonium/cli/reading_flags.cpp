#include "harmonium/cli/reading_flags.h"

namespace harmonium::cli {

void declare_reading(CLI::App& command, Reading& reading) {
  const auto add = [&](const char* name, std::string& field, const char* help) {
    command.add_option(name, field, help)->capture_default_str()->group("Files");
  };
  add("--label-column", reading.label_column,
      "where a file keeps its labels: none (arrays are found by name), first, last, a column's number from 1 or its "
      "name, or the name of an array; auto: as in training");
  add("--scale", reading.scale,
      "what values are divided by: a number, max, none; auto: as in training, or 255 where they look like gray values");
  add("--shape", reading.shape, "pictures: HEIGHTxWIDTH, such as 28x20, or none; auto: by the array, or squares");
  command
      .add_flag_function(
          "--transpose", [&reading](std::int64_t times) { reading.transpose = times > 0 ? "yes" : "no"; },
          "a case is a column of the file, not a row")
      ->group("Files");
  add("--first-label", reading.first_label, "number of the first class: 0, 1; auto: 1 if the least label is 1");
  add("--first-category", reading.first_category,
      "softmax units from whole numbers: the first category is 0, 1; auto: 1 if the largest is K");
  add("--sequences", reading.sequences,
      "rows as frames of sequences, one after the other: a number of frames of each, the column that tells them apart "
      "(first, last, or its name), none; auto: as in training, or as the file says");
}

void declare_dequantize(CLI::App& command, std::string& binarize) {
  command.add_flag_callback(
      "--dequantize", [&binarize] { binarize = "dequantized"; },
      "whole numbers of real-valued models: add uniform noise of one stored step, so that the density says how many "
      "bits the values take; the same as --binarize dequantized");
}

void declare_allow_trained_rows(CLI::App& command, bool& allow) {
  command.add_flag("--allow-trained-rows", allow,
                   "go on although data called test or valid were trained on; the answer says so");
}

}  // namespace harmonium::cli
