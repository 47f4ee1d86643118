// Draws of every class from a model with a label: a classification RBM, a dbm with labels, a classification_dbn.
#pragma once

#include <optional>
#include <string>

#include "harmonium/data/dataset.h"
#include "harmonium/families/model.h"
#include "harmonium/report/picture.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct ClassSamplesPlan {
  std::int64_t of_each = 10, sweeps = 1000;
  bool means = true;  // E[v | hidden] in place of v
  std::uint64_t seed = 0;
  SessionOptions common = {};
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

// Fails, saying what to train instead, where the model has no label; `path` names it.
[[nodiscard]] std::int64_t count_classes(const Model& model, const std::string& path);

// Draws with the label held, one of each chain. Throws RunFailure when interrupted.
[[nodiscard]] ClassSamples draw_class_samples(const Model& model, const std::string& path,
                                              const ClassSamplesPlan& plan);

}  // namespace harmonium
