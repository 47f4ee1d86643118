#include "harmonium/units/or_pooled.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/bernoulli.h"
#include "harmonium/units/linked_groups.h"

namespace harmonium {

namespace {

// log(e^q − 1) for q > 0.
at::Tensor log_expm1(const at::Tensor& q) { return at::where(q.gt(30), q, at::expm1(q.clamp_max(30)).log()); }

// What the sums over a group's states are made of.
struct GroupSums {
  at::Tensor log_any;   // log(Q − 1): of the states with a detector on
  at::Tensor log_sum;   // of all states
  at::Tensor log_lift;  // log a
};

GroupSums group_sums(const at::Tensor& detectors, const at::Tensor& pool) {
  GroupSums sums;
  const at::Tensor log_q = at::softplus(detectors).sum(2);
  sums.log_any = log_expm1(log_q);
  sums.log_sum = at::softplus(pool + sums.log_any);
  sums.log_lift = pool + log_q - sums.log_sum;
  return sums;
}

}  // namespace

std::string OrPooled::spec() const { return format("or_pooled:{}x{}", groups_, size_); }

OrPooled::Groups OrPooled::groups_of(const at::Tensor& x) const {
  const at::Tensor grouped = x.to(at::kDouble).reshape({-1, groups_, size_ + 1});
  return {grouped.narrow(2, 0, size_), grouped.select(2, size_)};
}

at::Tensor OrPooled::joined(const at::Tensor& detectors, const at::Tensor& pool) const {
  return at::cat({detectors, pool.unsqueeze(2)}, 2).reshape({-1, width()});
}

at::Tensor OrPooled::log_partition(const at::Tensor& field, const Parameters&) const {
  const auto [detectors, pool] = groups_of(field);
  return group_sums(detectors, pool).log_sum.sum(1);
}

at::Tensor OrPooled::mean(const at::Tensor& field, const Parameters&) const {
  const auto [detectors, pool] = groups_of(field);
  const GroupSums sums = group_sums(detectors, pool);
  const at::Tensor on = (sums.log_lift.unsqueeze(2) + at::log_sigmoid(detectors)).exp();
  return joined(on, at::sigmoid(pool + sums.log_any)).to(field.scalar_type());
}

at::Tensor OrPooled::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  const auto [detectors, pool] = groups_of(field);
  const at::Tensor u = uniform(key, {detectors.size(0), groups_, size_ + 1}, detectors.options());
  const at::Tensor any = u.select(2, size_).lt(at::sigmoid(pool + group_sums(detectors, pool).log_any));
  // Detectors in turn. As long as none is on although one must be, the chance of the next is that of being on given
  // that not all of the rest are off.
  const at::Tensor log_off = -at::softplus(detectors);
  const at::Tensor log_rest_off = log_off.flip(2).cumsum(2).flip(2);
  const at::Tensor free = at::sigmoid(detectors), needed = free / (-at::expm1(log_rest_off));
  at::Tensor found = at::zeros_like(any);
  std::vector<at::Tensor> drawn;
  for (std::int64_t i = 0; i < size_; ++i) {
    at::Tensor chance = at::where(found, free.select(2, i), needed.select(2, i));
    // The last that can be it must be it, whatever rounding says.
    if (i + 1 == size_) chance = at::where(found, chance, at::ones_like(chance));
    drawn.push_back(any.logical_and(u.select(2, i).lt(chance)));
    found = found.logical_or(drawn.back());
  }
  return joined(at::stack(drawn, 2), any).to(field.scalar_type());
}

at::Tensor OrPooled::mode(const at::Tensor& field, const Parameters&) const {
  // With any on: all above zero, or the largest alone; it must beat the empty group, which has 0.
  const auto [detectors, pool] = groups_of(field);
  const auto [largest, place] = detectors.max(2);
  const at::Tensor best = at::where(largest.gt(0), detectors.clamp_min(0).sum(2), largest) + pool;
  const at::Tensor any = best.gt(0);
  const at::Tensor alone = at::one_hot(place, size_).to(at::kBool);
  const at::Tensor on = detectors.gt(0).logical_or(alone).logical_and(any.unsqueeze(2));
  return joined(on, any).to(field.scalar_type());
}

at::Tensor OrPooled::conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                            const at::Tensor& weights) const {
  const auto [detectors, pool] = groups_of(field);
  const at::Tensor p = mean(field.to(at::kDouble), parameters);
  const std::int64_t rows = p.size(0), columns = size_ + 1;
  const at::Tensor share =
      weights.defined() ? weights.to(p.options()) : at::full({rows}, 1.0 / static_cast<double>(rows), p.options());
  // √a σ(field_i): products of two are E[d_i d_j]. A pooling unit is on wherever a detector is.
  const at::Tensor half = (0.5 * group_sums(detectors, pool).log_lift.unsqueeze(2) + at::log_sigmoid(detectors)).exp();
  at::Tensor second = at::zeros({width(), width()}, p.options());
  for (std::int64_t group = 0; group < groups_; ++group) {
    at::Tensor block = second.narrow(0, group * columns, columns).narrow(1, group * columns, columns);
    const at::Tensor root = half.select(1, group), means = share.matmul(p.narrow(1, group * columns, columns));
    block.narrow(0, 0, size_).narrow(1, 0, size_).copy_((root * share.unsqueeze(1)).t().mm(root));
    block.select(0, size_).copy_(means);
    block.select(1, size_).copy_(means);
    block.diagonal().copy_(means);
  }
  return group_covariance(second, p, weights, columns).to(field.scalar_type());
}

Unit::Parameters OrPooled::parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const {
  // σ(field_i) = E[d_i] / a with a (1 − Π(1 − E[d_i] / a)) = E[p], which grows with a from max E[d_i] to Σ E[d_i].
  const at::Tensor neutral = mean(at::zeros({1, width()}, at::kDouble), {});
  const auto [on, any] = groups_of((1 - smoothing) * moments[0].to(at::kDouble).unsqueeze(0) + smoothing * neutral);
  at::Tensor low = on.amax(2).log(), high = low + 40;
  const auto others_off = [&](const at::Tensor& a) { return at::log1p(-(on / a.unsqueeze(2)).clamp_max(1)).sum(2); };
  for (int halving = 0; halving < 200; ++halving) {
    const at::Tensor middle = (low + high) / 2, a = middle.exp();
    const at::Tensor below = (-a * at::expm1(others_off(a))).lt(any);
    low = at::where(below, middle, low);
    high = at::where(below, high, middle);
  }
  const at::Tensor a = high.exp(), p = (on / a.unsqueeze(2)).clamp(1e-300, 1 - 1e-16);
  const at::Tensor log_q = -at::log1p(-p).sum(2);
  return {joined((p / (1 - p)).log(), (any / (1 - any)).log() - log_expm1(log_q))[0].to(moments[0].scalar_type())};
}

std::optional<double> OrPooled::state_count() const { return std::exp2(static_cast<double>(groups_ * size_)); }

at::Tensor OrPooled::states(const at::Tensor& numbers, at::ScalarType type) const {
  const at::Tensor digits = digits_in_base(numbers, std::int64_t{1} << size_, groups_);
  const at::Tensor bit = at::arange(size_, numbers.options());
  const at::Tensor on = at::bitwise_and(at::__rshift__(digits.unsqueeze(2), bit), 1);
  return joined(on, digits.gt(0).to(at::kLong)).to(type);
}

std::string OrPooled::complaint(const at::Tensor& state) const {
  if (std::string bits = Bernoulli(width()).complaint(state); !bits.empty()) return bits;
  // True of states, and so of their means: a pool is on no less often than a detector, and no more often than all.
  const auto [on, any] = groups_of(state);
  const at::Tensor bad = on.amax(2).gt(any + 1e-4).logical_or(any.gt(on.sum(2) + 1e-4));
  if (!bad.any().item<bool>()) return {};
  const at::Tensor where = bad.nonzero()[0];
  return format("row {}, group {}: its pooling unit must be on where one of its {} detectors is, and only there",
                where[0].item<std::int64_t>(), where[1].item<std::int64_t>(), size_);
}

}  // namespace harmonium
