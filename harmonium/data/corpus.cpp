#include "harmonium/data/corpus.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/draws.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr double own_share = 0.2, other_share = 0.1;
constexpr double shortest_document = 20, longest_document = 200;

double uniform_number(Draws& draws) { return std::ldexp(static_cast<double>(draws.bits() >> 11), -53); }

}  // namespace

at::Tensor corpus_topics(const Key& key, const CorpusOptions& options) {
  require(options.words >= 20 && options.words <= 100'000, "corpus: the vocabulary has 20 to 100000 words, not {}",
          options.words);
  require(options.topics >= 2 && options.topics <= 1000, "corpus: there are 2 to 1000 topics, not {}", options.topics);
  const at::Tensor zipf = 1 / at::arange(1, options.words + 1, at::kDouble);
  std::vector<at::Tensor> sources;
  for (std::int64_t topic = 0; topic < options.topics; ++topic) {
    // Any words may be a topic's own, common or rare.
    const at::Tensor chosen =
        permutation(key.fold_in(static_cast<std::uint64_t>(topic)), options.words).narrow(0, 0, options.words / 5);
    const at::Tensor own = at::zeros({options.words}, at::kDouble);
    sources.push_back(own.index_copy(0, chosen, zipf.narrow(0, 0, options.words / 5)));
  }
  sources.push_back(zipf);
  const at::Tensor all = at::stack(sources);
  return all / all.sum(1, /*keepdim=*/true);
}

Dataset corpus(std::int64_t rows, const Key& key, const Key& topics_key, const CorpusOptions& options) {
  require(rows >= 0, "corpus: cannot draw {} rows", rows);
  const at::Tensor cumulative = corpus_topics(topics_key, options).cumsum(1).contiguous();
  Dataset data{.name = "corpus",
               .values = at::zeros({rows, options.words}, at::kByte),
               .labels = at::empty({rows}, at::kLong),
               .counts = true};
  auto* counts = data.values.data_ptr<std::uint8_t>();
  auto* labels = data.labels.data_ptr<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    Draws draws(key.fold_in(static_cast<std::uint64_t>(row)));
    const std::int64_t own = draws.below(options.topics), other = draws.below(options.topics);
    const double length = shortest_document * std::pow(longest_document / shortest_document, uniform_number(draws));
    labels[row] = own;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(length); ++i) {
      const double source = uniform_number(draws);
      const std::int64_t from = source < own_share ? own : source < own_share + other_share ? other : options.topics;
      const double* begin = cumulative.data_ptr<double>() + from * options.words;
      const double* found = std::upper_bound(begin, begin + options.words, uniform_number(draws));
      // Rounding may leave the last of the cumulative probabilities below one.
      ++counts[row * options.words + std::min(found - begin, options.words - 1)];
    }
  }
  return data;
}

}  // namespace harmonium
