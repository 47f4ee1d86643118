#include "harmonium/models/autoregressive/causality.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

void require_causal(const Distribution& visible, const std::vector<std::int64_t>& order,
                    const std::function<at::Tensor(const at::Tensor& rows)>& raw, const at::TensorOptions& like,
                    const Key& key, std::int64_t positions) {
  constexpr std::int64_t rows = 5;
  const c10::NoGradGuard without_gradient;
  const std::int64_t variables = visible.variables(), count = rows * positions;
  const auto by_column = [&](const std::vector<std::int64_t>& of, const at::Tensor& values) {
    return values.index_select(0, at::tensor(of, at::kLong).to(values.device()));
  };
  const at::TensorOptions whole = like.dtype(at::kLong);
  const at::Tensor places = at::tensor(order, at::kLong).argsort().to(whole);  // of variables
  const at::Tensor chosen =                                                    // places that are looked at
      (uniform(key.fold_in(0), {count}, like.dtype(at::kDouble)) * static_cast<double>(variables)).to(at::kLong);
  // Any possible values do: draws of the distribution itself, two for every variable.
  const auto drawn = [&](std::uint64_t stream) {
    const at::Tensor logits = 2 * normal(key.fold_in(stream), {count, visible.raw_width()}, like);
    return visible.sample(key.fold_in(stream + 10), logits);
  };
  const at::Tensor one = drawn(1);
  at::Tensor other = drawn(2);
  if (visible.raw_width() == visible.width() && visible.variables() == visible.width()) other = 1 - one;  // bits
  const at::Tensor later = by_column(visible.value_variables(), places).unsqueeze(0).ge(chosen.unsqueeze(1));
  const at::Tensor before = raw(one), after = raw(at::where(later, other, one));
  const at::Tensor looked = by_column(visible.raw_variables(), places).unsqueeze(0).eq(chosen.unsqueeze(1));
  const at::Tensor wrong = before.ne(after).logical_and(looked).any(1);
  if (!wrong.any().item<bool>()) return;
  const std::int64_t where = wrong.nonzero()[0][0].item<std::int64_t>(), place = chosen[where].item<std::int64_t>();
  fail(
      "the net is not autoregressive: what it says of variable {}, number {} in its order, changes with that variable "
      "or a later one, so its likelihoods are no probabilities. The file is damaged, or this is a mistake of the "
      "program; train the model again",
      order[static_cast<std::size_t>(place)], place + 1);
}

}  // namespace harmonium
