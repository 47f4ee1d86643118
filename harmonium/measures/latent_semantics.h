// Word counts as vectors to be compared by angle: weighted words, and latent semantic analysis (Deerwester et al.
// 1990), the linear code of so many numbers that loses least of them: what learnt codes of documents are held against.
#pragma once

#include <string>

#include "harmonium/data/dataset.h"

namespace harmonium {

enum class WordWeighting {
  counts,  // as they are
  log,     // log(1 + count)
  tf_idf,  // log(1 + count) · log(documents / documents with the word)
};

[[nodiscard]] std::string to_string(WordWeighting weighting);

class WeightedWords {
 public:
  // In how many documents a word is, is counted in `documents`; a word that is in none counts as in one.
  WeightedWords(const Dataset& documents, WordWeighting weighting);

  // rows × words, float64.
  [[nodiscard]] at::Tensor weigh(const at::Tensor& counts) const;

 private:
  WordWeighting weighting_;
  at::Tensor factors_;  // of words; undefined: one
};

class LatentSemantics {
 public:
  // The `count` leading right singular vectors of the weighted counts (1 ≤ count ≤ words), not centered, in float64
  // from their Gram matrix, in pieces.
  LatentSemantics(const Dataset& documents, WordWeighting weighting, std::int64_t count);

  [[nodiscard]] at::Tensor encode(const at::Tensor& counts) const;  // rows × count

 private:
  WeightedWords words_;
  at::Tensor directions_;  // words × count, orthonormal
};

}  // namespace harmonium
