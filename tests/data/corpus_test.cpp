#include "harmonium/data/corpus.h"

#include <gtest/gtest.h>

#include "harmonium/core/error.h"

namespace harmonium {
namespace {

TEST(Corpus, DocumentsHaveTheWordsOfTheirTopics) {
  constexpr std::int64_t rows = 4000;
  const CorpusOptions options{.words = 50, .topics = 4};
  const Dataset data = corpus(rows, Key(1), Key(2), options);
  const at::Tensor topics = corpus_topics(Key(2), options);
  ASSERT_EQ(topics.sizes(), at::IntArrayRef({5, 50}));
  EXPECT_TRUE(at::allclose(topics.sum(1), at::ones({5}, at::kDouble)));
  const at::Tensor counts = data.to_float().to(at::kDouble), lengths = counts.sum(1);
  EXPECT_GE(lengths.min().item<double>(), 20);
  EXPECT_LE(lengths.max().item<double>(), 200);
  for (std::int64_t topic = 0; topic < 4; ++topic) {
    const at::Tensor own = data.labels.eq(topic).nonzero().squeeze(1);
    // Classes are equally frequent: a binomial of 4000 draws leaves ±5.5 deviations with probability 4e-8.
    EXPECT_NEAR(static_cast<double>(own.size(0)), rows / 4.0, 5.5 * std::sqrt(rows * 0.25 * 0.75));
    const at::Tensor words = counts.index_select(0, own), sum = words.sum(0);
    const double total = sum.sum().item<double>();
    const at::Tensor expected =
        (0.2 + 0.1 / 4) * topics[topic] + 0.7 * topics[4] + 0.1 / 4 * (topics.narrow(0, 0, 4).sum(0) - topics[topic]);
    // The other topic is one for a whole document, which adds to the noise of single words: its share of a word is at
    // most a tenth of max p, with documents of at most 200 words. Deviations beyond 5.5 of all that: below 1e-6.
    const double documents = static_cast<double>(own.size(0));
    const at::Tensor spread =
        5.5 * ((expected / total).sqrt() + 0.1 * topics.max().item<double>() * 2 / std::sqrt(documents));
    EXPECT_TRUE((sum / total - expected).abs().le(spread).all().item<bool>()) << "topic " << topic;
  }
}

TEST(Corpus, RowsDependOnTheirNumberAlone) {
  const Dataset few = corpus(5, Key(1), Key(2)), many = corpus(9, Key(1), Key(2));
  EXPECT_TRUE(at::equal(few.values, many.first(5).values));
  EXPECT_TRUE(at::equal(few.labels, many.first(5).labels));
  EXPECT_FALSE(at::equal(few.values, corpus(5, Key(1), Key(3)).values));  // of other topics
  EXPECT_THROW((void)corpus(5, Key(1), Key(2), {.words = 3}), Error);
  EXPECT_THROW((void)corpus(5, Key(1), Key(2), {.topics = 1}), Error);
}

}  // namespace
}  // namespace harmonium
