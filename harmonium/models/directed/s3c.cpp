#include "harmonium/models/directed/s3c.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/checked_cholesky.h"

namespace harmonium {

namespace {

constexpr std::int64_t s3c_numbers_at_once = 1 << 22;
constexpr const char* s3c_matrices = "precisions of slabs given spikes";

// h b − log(1 + e^b) of single spikes.
at::Tensor log_odds_less_norm(const at::Tensor& spikes, const at::Tensor& b) {
  return spikes * b - at::logaddexp(b, at::zeros_like(b));
}

// ½ Σ_A [log α − αμ²] − ½ log|P_AA| + ½ r_Aᵀ P_AA⁻¹ r_A for states h (rows × H) with r of the same shape.
at::Tensor slab_terms(const S3cTerms& terms, const at::Tensor& spikes, const at::Tensor& r) {
  // Units that are on stand first in every row; what is left of the widest row's places is padding: 1 on the diagonal.
  const std::int64_t most = std::max<std::int64_t>(1, spikes.sum(1).max().item<std::int64_t>());
  const auto [on, units] = at::topk(spikes, most, 1);
  const at::Tensor places = units.unsqueeze(2), others = units.unsqueeze(1), both = on.unsqueeze(2) * on.unsqueeze(1),
                   diagonal = on * terms.alpha.index_select(0, units.flatten()).view_as(on) + (1 - on);
  const at::Tensor P = terms.products.index({places, others}) * both + at::diag_embed(diagonal);
  const at::Tensor L = checked_cholesky(P, s3c_matrices);
  const at::Tensor x =
      at::linalg_solve_triangular(L, (r.gather(1, units) * on).unsqueeze(2), /*upper=*/false).squeeze(2);
  const at::Tensor prior = terms.alpha.log() - terms.alpha * terms.mu.square();
  return 0.5 * (spikes.mv(prior) + x.square().sum(1)) - L.diagonal(0, 1, 2).log().sum(1);
}

}  // namespace

S3cTerms::S3cTerms(const Moments& parameters) {
  const auto wide = [&](const char* name) { return parameters[name].to(at::kDouble); };
  a = wide("visible.bias");
  beta = wide("visible.log_precision").exp();
  W = wide("weights");
  b = wide("spike.bias");
  mu = wide("slab.mean");
  alpha = wide("slab.log_precision").exp();
  products = W.t().matmul(beta.unsqueeze(1) * W);
}

at::Tensor S3cTerms::fields(const at::Tensor& rows) const { return ((rows - a) * beta).matmul(W); }

at::Tensor S3cTerms::log_noise(const at::Tensor& rows) const {
  const auto D = static_cast<double>(a.size(0));
  return 0.5 * (beta.log().sum() - D * std::log(2 * std::numbers::pi) - ((rows - a).square() * beta).sum(1));
}

at::Tensor S3cPosterior::codes() const { return spikes * slabs; }

S3c::S3c(S3cStructure structure, at::ScalarType type) : structure_(structure) {
  const std::int64_t D = structure_.inputs, H = structure_.hidden;
  require(D >= 1 && H >= 1, "{} inputs and {} hidden units make no sparse coding", D, H);
  for (const char* name : {"visible.bias", "visible.log_precision"}) parameters_.insert(name, at::zeros({D}, type));
  parameters_.insert("weights", at::zeros({D, H}, type));
  for (const char* name : {"spike.bias", "slab.mean", "slab.log_precision"})
    parameters_.insert(name, at::zeros({H}, type));
}

S3c S3c::with_parameters(Moments parameters) const {
  require(parameters.entries().size() == parameters_.entries().size(),
          "spike-and-slab sparse coding has {} parameters, not {}", parameters_.entries().size(),
          parameters.entries().size());
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(), "parameter {} does not fit {} inputs and {} hidden units", name,
            structure_.inputs, structure_.hidden);
  S3c other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

S3c S3c::to(const at::TensorOptions& options) const {
  S3c other = *this;
  other.parameters_ = parameters_.to(options).clone();
  return other;
}

bool S3c::in_domain() const {
  constexpr double most_log_precision = 80;  // of float32, which files hold
  for (const auto& [name, value] : parameters_.entries()) {
    if (!at::isfinite(value).all().item<bool>()) return false;
    if (name.ends_with("log_precision") && value.abs().max().item<double>() > most_log_precision) return false;
  }
  return true;
}

at::Tensor s3c_rows(const S3cTerms& terms, const at::Tensor& rows) {
  require(rows.dim() == 2 && rows.size(1) == terms.a.size(0), "sparse coding of {} inputs takes rows of as many values",
          terms.a.size(0));
  return rows.to(terms.a.options());
}

at::Tensor s3c_log_prior(const S3cTerms& terms, const at::Tensor& spikes) {
  return log_odds_less_norm(spikes.to(at::kDouble), terms.b).sum(-1);
}

at::Tensor s3c_log_joint(const S3cTerms& terms, const at::Tensor& rows, const at::Tensor& spikes) {
  const at::Tensor v = s3c_rows(terms, rows), r = terms.fields(v) + terms.alpha * terms.mu;
  const std::int64_t K = spikes.size(1), H = spikes.size(2);
  const at::Tensor states = spikes.to(at::kDouble).reshape({-1, H}),
                   each = r.unsqueeze(1).expand({v.size(0), K, H}).reshape({-1, H});
  const std::int64_t at_once = std::max<std::int64_t>(1, s3c_numbers_at_once / (H * H));
  std::vector<at::Tensor> pieces = {at::zeros({0}, v.options())};
  for (std::int64_t first = 0; first < states.size(0); first += at_once) {
    const std::int64_t count = std::min(at_once, states.size(0) - first);
    pieces.push_back(slab_terms(terms, states.narrow(0, first, count), each.narrow(0, first, count)));
  }
  return at::cat(pieces).view({v.size(0), K}) + s3c_log_prior(terms, spikes) + terms.log_noise(v).unsqueeze(1);
}

at::Tensor s3c_bound(const S3cTerms& terms, const at::Tensor& rows, const S3cPosterior& q) {
  const at::Tensor v = s3c_rows(terms, rows), m = q.codes(), on = q.spikes, off = 1 - on;
  const at::Tensor spread = on * (q.slabs.square() + q.precision.reciprocal()) - m.square();
  const at::Tensor fit = terms.log_noise(v - m.matmul(terms.W.t())) - 0.5 * spread.mv(terms.products.diagonal());
  const at::Tensor entropy = -(at::xlogy(on, on) + at::xlogy(off, off));
  const at::Tensor slabs =
      (q.precision / terms.alpha).log() + terms.alpha / q.precision - 1 + terms.alpha * (q.slabs - terms.mu).square();
  return fit + (log_odds_less_norm(on, terms.b) + entropy - 0.5 * on * slabs).sum(1);
}

Moments s3c_canonical(const Moments& parameters) {
  Moments found = parameters.clone();
  const at::Tensor length = found["weights"].to(at::kDouble).norm(2, 0), n = at::where(length > 0, length, 1.0);
  found["weights"].div_(n);
  found["slab.mean"].mul_(n);
  found["slab.log_precision"].sub_(2 * n.log());
  return found;
}

at::Tensor S3c::decode(const at::Tensor& codes) const {
  const S3cTerms terms(parameters_);
  return terms.a + codes.to(terms.a.options()).matmul(terms.W.t());
}

S3c::Draws S3c::sample(const Key& key, std::int64_t rows) const {
  require(rows >= 0, "{} rows cannot be drawn", rows);
  const S3cTerms terms(parameters_);
  const at::TensorOptions options = terms.a.options();
  const auto noise = [&](std::uint64_t stream, std::int64_t width) {
    return normal(key.fold_in(stream), {rows, width}, options);
  };
  Draws draws;
  draws.spikes = uniform(key.fold_in(0), {rows, structure_.hidden}, options).lt(terms.b.sigmoid()).to(at::kDouble);
  draws.slabs = draws.spikes * terms.mu + noise(1, structure_.hidden) * terms.alpha.rsqrt();
  draws.means = terms.a + (draws.spikes * draws.slabs).matmul(terms.W.t());
  draws.rows = draws.means + noise(2, structure_.inputs) * terms.beta.rsqrt();
  return draws;
}

S3c::Enumeration S3c::enumerate(const at::Tensor& rows) const {
  constexpr std::int64_t rows_at_once = 512, most_states_at_once = 4096;
  const std::int64_t H = structure_.hidden;
  require(can_enumerate(),
          "sparse coding with {} hidden units has too many states of its spikes to sum over; {} can be", H,
          most_enumerated);
  const S3cTerms terms(parameters_);
  const at::Tensor v = s3c_rows(terms, rows), r = terms.fields(v) + terms.alpha * terms.mu,
                   base = terms.log_noise(v).unsqueeze(1), bits = at::arange(H, v.options().dtype(at::kLong)),
                   prior = 0.5 * (terms.alpha.log() - terms.alpha * terms.mu.square());
  const at::Tensor log_p = at::full({v.size(0)}, -std::numeric_limits<double>::infinity(), v.options()),
                   spikes = at::zeros({v.size(0), H}, v.options());
  const std::int64_t states = std::int64_t{1} << H, at_once = std::min(states, most_states_at_once);
  for (std::int64_t first = 0; first < states; first += at_once) {
    const at::Tensor numbers = at::arange(first, first + at_once, bits.options()).unsqueeze(1),
                     h = numbers.bitwise_right_shift(bits).bitwise_and(1).to(at::kDouble),
                     both = h.unsqueeze(2) * h.unsqueeze(1);
    const at::Tensor P = terms.products * both + at::diag_embed(h * terms.alpha + (1 - h)),
                     L = checked_cholesky(P, s3c_matrices), inverse = at::cholesky_inverse(L) * both;
    // ½ rᵀ P⁻¹ r of all rows and states is one product with the squares of r.
    const at::Tensor constant = s3c_log_prior(terms, h) + h.mv(prior) - L.diagonal(0, 1, 2).log().sum(1),
                     quadratic = 0.5 * inverse.flatten(1).t();
    for (std::int64_t begin = 0; begin < v.size(0); begin += rows_at_once) {
      const std::int64_t count = std::min(rows_at_once, v.size(0) - begin);
      const at::Tensor part = r.narrow(0, begin, count);
      const at::Tensor joint = (part.unsqueeze(2) * part.unsqueeze(1)).flatten(1).matmul(quadratic) + constant +
                               base.narrow(0, begin, count);
      // Means so far and those of these states, each by its share of p(v).
      at::Tensor so_far = log_p.narrow(0, begin, count), means = spikes.narrow(0, begin, count);
      const at::Tensor here = at::logsumexp(joint, 1), sum = at::logaddexp(so_far, here);
      means.mul_((so_far - sum).exp().unsqueeze(1)).add_((joint - sum.unsqueeze(1)).exp().matmul(h));
      so_far.copy_(sum);
    }
  }
  return {.log_p = log_p, .spikes = spikes};
}

}  // namespace harmonium
