#include "bench/reference/plain_torch.h"

#include <cmath>

namespace harmonium::bench {

void PlainSweep::operator()() {
  v = at::bernoulli(at::sigmoid(at::addmm(a, h, w.t())));
  h = at::bernoulli(at::sigmoid(at::addmm(b, v, w)));
}

void PlainSweep::products_alone() const {
  const at::Tensor down = h.mm(w.t());
  const at::Tensor up = v.mm(w);
}

PlainFang::PlainFang(at::Tensor images, std::int64_t hidden, std::int64_t batch)
    : images_(std::move(images)), batch_(batch) {
  const std::int64_t visible = images_.size(1);
  const at::Tensor base = images_.mean(0) * 0.998 + 0.001;
  w_ = at::randn({visible, hidden}) * 0.05;
  a_ = (base / (1 - base)).log();
  b_ = at::zeros({hidden});
  mean_w_ = w_.clone();
  mean_a_ = a_.clone();
  mean_b_ = b_.clone();
  h_ = at::bernoulli(at::full({batch, hidden}, 0.5));
  second_ = at::zeros({visible + hidden, visible + hidden});
  mean_ = at::zeros({visible + hidden});
}

void PlainFang::observe(double share) {
  const at::Tensor v = at::sigmoid(at::addmm(a_, h_, w_.t())), u = at::cat({v, h_}, 1);
  at::Tensor s = u.t().mm(u) / batch_;
  s.diagonal().narrow(0, 0, v.size(1)).add_((v * (1 - v)).mean(0));
  second_.lerp_(s, share);
  mean_.lerp_(u.mean(0), share);
}

void PlainFang::refit() {
  constexpr double damping = 0.01;
  const std::int64_t visible = w_.size(0), hidden = w_.size(1);
  const at::Tensor covariance = second_ - at::outer(mean_, mean_) + damping * at::eye(visible + hidden);
  inverse_ = at::cholesky_inverse(at::linalg_cholesky(covariance));
  const at::Tensor p = mean_.narrow(0, 0, visible).unsqueeze(1), q = mean_.narrow(0, visible, hidden).unsqueeze(0);
  const at::Tensor r = second_.narrow(0, 0, visible).narrow(1, visible, hidden);
  const at::Tensor pp = p * (1 - p) + damping, qq = q * (1 - q) + damping, pq = r - p * q;
  const at::Tensor rp = r * (1 - p), rq = r * (1 - q), determinant = pp * qq - pq * pq;
  alpha_ = (qq * rp - pq * rq) / determinant;
  beta_ = (pp * rq - pq * rp) / determinant;
  variance_ = r * (1 - r) + damping - (alpha_ * alpha_ * pp + 2 * alpha_ * beta_ * pq + beta_ * beta_ * qq);
}

void PlainFang::update() {
  if (update_ % 10 == 0) observe(update_ == 0 ? 1.0 : 0.1);
  if (update_ % 100 == 0) refit();
  const at::Tensor rows = at::randint(images_.size(0), {batch_}, at::kLong);
  const at::Tensor x = at::bernoulli(images_.index_select(0, rows)), hp = at::sigmoid(at::addmm(b_, x, w_));
  const at::Tensor v = at::bernoulli(at::sigmoid(at::addmm(a_, h_, w_.t()))), hn = at::sigmoid(at::addmm(b_, v, w_));
  h_ = at::bernoulli(hn);
  const at::Tensor da = x.mean(0) - v.mean(0), db = hp.mean(0) - hn.mean(0),
                   dw = (x.t().mm(hp) - v.t().mm(hn)) / batch_;
  const double fade = std::sqrt(1000.0 / (static_cast<double>(update_) + 1000.0));
  const double rate_bias = 0.3 * fade, rate_weights = 0.03 * fade;
  const at::Tensor residual = (dw - alpha_ * da.unsqueeze(1) - beta_ * db.unsqueeze(0)) / variance_;
  const at::Tensor unary = inverse_.mv(at::cat({da, db}));
  const std::int64_t visible = w_.size(0);
  w_ = w_ + rate_weights * residual;
  a_ = a_ + rate_bias * unary.narrow(0, 0, visible) - rate_weights * (residual * alpha_).sum(1);
  b_ = b_ + rate_bias * unary.narrow(0, visible, w_.size(1)) - rate_weights * (residual * beta_).sum(0);
  mean_w_.lerp_(w_, 0.01);
  mean_a_.lerp_(a_, 0.01);
  mean_b_.lerp_(b_, 0.01);
  ++update_;
}

}  // namespace harmonium::bench
