#include "harmonium/inference/s3c_mean_field.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "harmonium/core/error.h"
#include "harmonium/models/checked_cholesky.h"

namespace harmonium {

namespace {

// What all rounds share: w_jᵀβ(v − a) of all rows, and what does not depend on rows.
struct SpikeSlabRound {
  at::Tensor fields, products, own;  // rows × H; G; its diagonal
  at::Tensor gamma, pull;            // α + G_jj; αμ
  at::Tensor offset;                 // b + ½ log(α/γ)
  const S3cTerms& terms;

  SpikeSlabRound(const S3cTerms& t, const at::Tensor& rows)
      : fields(t.fields(s3c_rows(t, rows))),
        products(t.products),
        own(t.products.diagonal().contiguous()),
        gamma(t.alpha + own),
        pull(t.alpha * t.mu),
        offset(t.b + 0.5 * (t.alpha / gamma).log()),
        terms(t) {}

  // w_jᵀβe_j of all units.
  [[nodiscard]] at::Tensor left(const at::Tensor& m) const { return fields - m.matmul(products) + m * own; }
  [[nodiscard]] at::Tensor best_slabs(const at::Tensor& left) const { return (pull + left) / gamma; }
  [[nodiscard]] at::Tensor best_spikes(const at::Tensor& left, const at::Tensor& s) const {
    return (offset + s * left - 0.5 * (own * s.square() + terms.alpha * (s - terms.mu).square())).sigmoid();
  }

  void all_at_once_(S3cPosterior& q, double damping, double clip) const {
    const at::Tensor moved = at::lerp(best_slabs(left(q.codes())), q.slabs, damping), limit = clip * q.slabs.abs();
    // After damping, since a share of the old value would bring it back over zero.
    q.slabs = at::where((moved * q.slabs).lt(0), at::max(at::min(moved, limit), -limit), moved);
    q.spikes = at::lerp(best_spikes(left(q.codes()), q.slabs), q.spikes, damping);
  }

  void one_by_one_(S3cPosterior& q) const {
    // Units in rows, so that what belongs to one lies together.
    const at::Tensor c = fields.t().contiguous(), m = q.codes().t().contiguous(), s = q.slabs.t().contiguous(),
                     h = q.spikes.t().contiguous();
    for (std::int64_t j = 0; j < m.size(0); ++j) {
      at::Tensor slab = s[j], spike = h[j], code = m[j];
      const at::Tensor rest = c[j] - at::mv(m.t(), products[j]) + code * own[j];
      slab.copy_((pull[j] + rest) / gamma[j]);
      spike.copy_(
          (offset[j] + slab * rest - 0.5 * (own[j] * slab.square() + terms.alpha[j] * (slab - terms.mu[j]).square()))
              .sigmoid());
      code.copy_(spike * slab);
    }
    q.slabs = s.t().contiguous();
    q.spikes = h.t().contiguous();
  }
};

}  // namespace

S3cPosterior s3c_mean_field(const S3cTerms& terms, const at::Tensor& rows, const S3cMeanFieldOptions& options) {
  require(options.rounds >= 0 && options.single_rounds >= 0, "rounds of mean field cannot be fewer than none");
  require(options.damping >= 0 && options.damping < 1, "damping {} must be at least 0 and below 1", options.damping);
  require(options.clip > 0 && options.clip <= 1, "slabs are clipped to a share in (0, 1], not {}", options.clip);
  const c10::NoGradGuard without_gradient;
  const SpikeSlabRound round(terms, rows);
  const auto climbed = [&](const at::Tensor& spikes, const at::Tensor& slabs) {
    S3cPosterior q{.spikes = spikes, .slabs = slabs, .precision = round.gamma};
    for (std::int64_t i = 0; i < options.rounds; ++i) round.all_at_once_(q, options.damping, options.clip);
    for (std::int64_t i = 0; i < options.single_rounds; ++i) round.one_by_one_(q);
    return q;
  };
  S3cPosterior q = climbed(terms.b.sigmoid().expand_as(round.fields), terms.mu.expand_as(round.fields));
  if (!options.two_starts) return q;
  const at::Tensor joined = checked_cholesky(at::diag(terms.alpha) + terms.products, "precisions of slabs");
  const S3cPosterior other = climbed(at::ones_like(round.fields),
                                     at::cholesky_solve((round.fields + round.pull).t(), joined).t().contiguous());
  const at::Tensor better = s3c_bound(terms, rows, other).gt(s3c_bound(terms, rows, q)).unsqueeze(1);
  q.spikes = at::where(better, other.spikes, q.spikes);
  q.slabs = at::where(better, other.slabs, q.slabs);
  return q;
}

void s3c_single_round_(const S3cTerms& terms, const at::Tensor& rows, S3cPosterior& q) {
  const c10::NoGradGuard without_gradient;
  const SpikeSlabRound round(terms, rows);
  round.one_by_one_(q);
  q.precision = round.gamma;
}

}  // namespace harmonium
