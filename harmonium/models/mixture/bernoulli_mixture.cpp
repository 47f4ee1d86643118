#include "harmonium/models/mixture/bernoulli_mixture.h"

#include <algorithm>
#include <utility>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr double nearest = 1e-6;  // of a mean to 0 and 1
constexpr std::int64_t mixture_rows_at_once = 2048;

// log(π_k p(x | k)) = x·z_k + b_k: what a pass over rows needs, made once for all of them.
struct JointLogits {
  at::Tensor z, b;  // N × K and K

  explicit JointLogits(const BernoulliMixture& mixture) {
    const at::Tensor means = mixture.means(), log_off = at::log1p(-means);
    z = (at::log(means) - log_off).t().contiguous();
    b = at::log(mixture.shares()) + log_off.sum(1);
  }
  [[nodiscard]] at::Tensor of(const at::Tensor& x) const { return at::addmm(b, x, z); }
};

// Calls visit(first, rows) for pieces that bound memory.
template <class Visit>
void by_mixture_pieces(const at::Tensor& rows, Visit&& visit) {
  for (std::int64_t first = 0; first < rows.size(0); first += mixture_rows_at_once)
    visit(first, rows.narrow(0, first, std::min(mixture_rows_at_once, rows.size(0) - first)));
}

}  // namespace

BernoulliMixture::BernoulliMixture(std::int64_t inputs, std::int64_t components, at::ScalarType type)
    : inputs_(inputs), components_(components) {
  require(inputs_ >= 1 && components_ >= 1, "a mixture needs inputs and components, and {} and {} were asked for",
          inputs_, components_);
  const double share = 1.0 / static_cast<double>(components_);
  parameters_.insert("share", at::full({components_}, share, type));
  parameters_.insert("active", at::full({components_, inputs_}, share / 2, type));
}

BernoulliMixture BernoulliMixture::with_parameters(Moments parameters) const {
  require(parameters.entries().size() == parameters_.entries().size(), "a mixture has {} parameters, not {}",
          parameters_.entries().size(), parameters.entries().size());
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(),
            "parameter {} does not fit a mixture of {} inputs and {} components: it has {} numbers where {} belong",
            name, inputs_, components_, parameters[name].numel(), value.numel());
  BernoulliMixture other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

BernoulliMixture BernoulliMixture::to(const at::TensorOptions& options) const {
  BernoulliMixture other = *this;
  other.parameters_ = parameters_.to(options).clone();
  return other;
}

bool BernoulliMixture::in_domain() const {
  constexpr double rounding = 1e-4;
  const at::Tensor s = parameters_["share"].to(at::kDouble), S = parameters_["active"].to(at::kDouble);
  return s.ge(0).all().item<bool>() && S.ge(0).all().item<bool>() &&
         S.le(s.unsqueeze(1) * (1 + rounding)).all().item<bool>() && (s.sum() - 1).abs().item<double>() <= rounding;
}

at::Tensor BernoulliMixture::shares() const {
  const at::Tensor s = parameters_["share"].to(at::kDouble);
  return s / s.sum();
}

at::Tensor BernoulliMixture::means() const {
  constexpr double no_rows = 1e-300;  // a component that has lost its share altogether is 0 / 0
  const at::Tensor s = parameters_["share"].to(at::kDouble).clamp_min(no_rows).unsqueeze(1);
  return (parameters_["active"].to(at::kDouble) / s).clamp(nearest, 1 - nearest);
}

at::Tensor BernoulliMixture::fitting(const at::Tensor& rows) const {
  require(rows.dim() == 2 && rows.size(1) == inputs_, "a mixture of {} inputs takes rows of as many values, not {}",
          inputs_, rows.dim() == 2 ? rows.size(1) : -1);
  return rows.to(parameters_["share"].options().dtype(at::kDouble));
}

at::Tensor BernoulliMixture::log_probabilities(const at::Tensor& rows) const {
  const at::Tensor x = fitting(rows), found = at::empty({x.size(0)}, x.options());
  const JointLogits joint(*this);
  by_mixture_pieces(x, [&](std::int64_t first, const at::Tensor& piece) {
    found.narrow(0, first, piece.size(0)).copy_(at::logsumexp(joint.of(piece), 1));
  });
  return found;
}

at::Tensor BernoulliMixture::log_joint(const at::Tensor& rows) const { return JointLogits(*this).of(fitting(rows)); }

at::Tensor BernoulliMixture::responsibilities(const at::Tensor& rows) const { return at::softmax(log_joint(rows), 1); }

at::Tensor BernoulliMixture::reconstruct(const at::Tensor& rows) const {
  return at::mm(responsibilities(rows), means());
}

ExpectedStatistics BernoulliMixture::expected_statistics(const at::Tensor& rows, double smoothing) const {
  const at::Tensor x = fitting(rows);
  require(x.size(0) >= 1, "no rows at all have no statistics; give at least one row");
  require(smoothing >= 0, "pseudo-rows cannot be fewer than none, and {} were asked for", smoothing);
  const JointLogits joint(*this);
  at::Tensor share = at::zeros({components_}, x.options()), active = at::zeros({components_, inputs_}, x.options()),
             log_p = at::zeros({}, x.options());
  by_mixture_pieces(x, [&](std::int64_t, const at::Tensor& piece) {
    const at::Tensor logits = joint.of(piece), log_sums = at::logsumexp(logits, 1, /*keepdim=*/true),
                     r = at::exp(logits - log_sums);
    share += r.sum(0);
    active.addmm_(r.t(), piece);
    log_p += log_sums.sum();
  });
  const auto n = static_cast<double>(x.size(0));
  const double all = 1 + static_cast<double>(components_) * smoothing;
  const at::ScalarType type = parameters_["share"].scalar_type();
  ExpectedStatistics found;
  found.log_likelihood = log_p / n;
  found.statistics.insert("share", ((share / n + smoothing) / all).to(type));
  found.statistics.insert("active", ((active / n + smoothing / 2) / all).to(type));
  return found;
}

BernoulliMixture::Draws BernoulliMixture::sample(const Key& key, std::int64_t count) const {
  require(count >= 0, "{} rows cannot be drawn", count);
  const at::Tensor u = uniform(key.fold_in(0), {count}, parameters_["share"].options().dtype(at::kDouble));
  Draws draws;
  // Rounding may leave the last sum below one.
  draws.components =
      at::searchsorted(shares().cumsum(0), u, /*out_int32=*/false, /*right=*/true).clamp_max(components_ - 1);
  draws.means = means().to(parameters_["share"].scalar_type()).index_select(0, draws.components);
  draws.rows = sample_bernoulli(key.fold_in(1), draws.means);
  return draws;
}

void initialize(BernoulliMixture& mixture, const Key& key, const at::Tensor& means, const at::Tensor& rows) {
  const std::int64_t K = mixture.components(), N = mixture.inputs();
  require(means.dim() == 1 && means.size(0) == N && rows.dim() == 2 && rows.size(0) == K && rows.size(1) == N,
          "a mixture of {} inputs and {} components starts from as many column means and a row for each component", N,
          K);
  constexpr double noise = 0.1;
  const at::Tensor u = uniform(key, {K, N}, at::kDouble),
                   mu = (1 - noise) / 2 * (means.to(at::kDouble) + rows.to(at::kDouble)) + noise * u;
  const double share = 1.0 / static_cast<double>(K);
  mixture.parameters()["share"].fill_(share);
  mixture.parameters()["active"].copy_(mu * share);
}

}  // namespace harmonium
