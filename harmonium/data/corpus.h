// A small corpus: documents about topics, as numbers of words, for tests and demonstrations of what learns from words.
//
// Words are drawn from three sources: a fifth of them from the document's own topic (its label), a tenth from another
// topic that the document touches on, the rest from words that all documents share. Common words are common by Zipf's
// law (word k with probability ∝ 1 / (k + 1)). A topic prefers a random fifth of the vocabulary, so that topics share
// words. Documents have 20 to 200 words, short ones being as frequent in proportion (log-uniform).
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

struct CorpusOptions {
  std::int64_t words = 200;  // of the vocabulary, 20 or more
  std::int64_t topics = 8;
};

// Probabilities of words, topics × words, and last those that all documents share: (topics + 1) × words, float64.
[[nodiscard]] at::Tensor corpus_topics(const Key& key, const CorpusOptions& options = {});
// Independent documents of the topics that `topics_key` names; row r depends on both keys and r alone.
[[nodiscard]] Dataset corpus(std::int64_t rows, const Key& key, const Key& topics_key,
                             const CorpusOptions& options = {});

}  // namespace harmonium
