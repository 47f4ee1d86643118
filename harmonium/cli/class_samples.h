// Draws of every class from a model with a label: a classification RBM, a dbm with labels, a classification_dbn.
#pragma once

#include <optional>
#include <string>

#include "harmonium/cli/command.h"
#include "harmonium/data/dataset.h"
#include "harmonium/report/picture.h"

namespace harmonium::cli {

struct ClassSamplesPlan {
  std::int64_t of_each = 10, sweeps = 1000;
  bool means = true;  // E[v | hidden] in place of v
  std::uint64_t seed = 0;
  CommonOptions common = {};
};

struct ClassSamples {
  std::int64_t classes = 0;
  at::Tensor visible;  // of_each rows of class 0, then of class 1, …
  ImageShape image = {};

  [[nodiscard]] std::int64_t of_each() const { return visible.size(0) / classes; }
  // The class that each row was drawn for.
  [[nodiscard]] at::Tensor labels() const { return at::arange(classes, at::kLong).repeat_interleave(of_each()); }
  // A row of pictures for each class, the first `columns` of it (0: all).
  [[nodiscard]] Picture picture(std::int64_t columns = 0) const;
};

// Fails, saying what to train instead, where the model (a run folder or file) has no label.
[[nodiscard]] std::int64_t count_classes(const std::string& model);

// Gibbs chains with the label held, from the biases; one state of each. Throws RunFailure when interrupted.
[[nodiscard]] ClassSamples draw_class_samples(const std::string& model, const ClassSamplesPlan& plan);

}  // namespace harmonium::cli
