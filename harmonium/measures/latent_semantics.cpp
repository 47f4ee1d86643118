#include "harmonium/measures/latent_semantics.h"

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

template <class Visit>
void for_each_piece(const Dataset& documents, Visit visit) {
  constexpr std::int64_t documents_at_once = 2000;
  for (std::int64_t first = 0; first < documents.rows(); first += documents_at_once)
    visit(documents.slice(first, std::min(first + documents_at_once, documents.rows())).to_float());
}

}  // namespace

std::string to_string(WordWeighting weighting) {
  switch (weighting) {
    case WordWeighting::counts:
      return "counts";
    case WordWeighting::log:
      return "log(1 + count)";
    case WordWeighting::tf_idf:
      return "tf-idf";
  }
  throw std::logic_error("a weighting without a name");
}

WeightedWords::WeightedWords(const Dataset& documents, WordWeighting weighting) : weighting_(weighting) {
  if (weighting != WordWeighting::tf_idf) return;
  at::Tensor with_word = at::zeros({documents.columns()}, at::kDouble);
  for_each_piece(documents, [&](const at::Tensor& counts) { with_word += counts.gt(0).sum(0).to(at::kDouble); });
  factors_ = at::log(static_cast<double>(documents.rows()) / with_word.clamp_min(1));
}

at::Tensor WeightedWords::weigh(const at::Tensor& counts) const {
  const at::Tensor values = counts.to(at::kDouble);
  if (weighting_ == WordWeighting::counts) return values;
  const at::Tensor damped = at::log1p(values);
  return factors_.defined() ? damped * factors_ : damped;
}

LatentSemantics::LatentSemantics(const Dataset& documents, WordWeighting weighting, std::int64_t count)
    : words_(documents, weighting) {
  require(documents.rows() >= 1, "{}: latent semantic analysis needs documents", documents.name);
  require(count >= 1 && count <= documents.columns(), "{}: latent semantic analysis gives 1 … {} numbers, not {}",
          documents.name, documents.columns(), count);
  at::Tensor products = at::zeros({documents.columns(), documents.columns()}, at::kDouble);
  for_each_piece(documents, [&](const at::Tensor& counts) {
    const at::Tensor words = words_.weigh(counts);
    products.addmm_(words.t(), words);
  });
  const at::Tensor vectors = std::get<1>(at::linalg_eigh(products));  // by rising eigenvalue
  directions_ = vectors.narrow(1, documents.columns() - count, count).flip(1).contiguous();
}

at::Tensor LatentSemantics::encode(const at::Tensor& counts) const { return words_.weigh(counts).matmul(directions_); }

}  // namespace harmonium
