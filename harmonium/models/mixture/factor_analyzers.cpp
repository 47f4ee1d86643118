#include "harmonium/models/mixture/factor_analyzers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/checked_cholesky.h"

namespace harmonium {

namespace {

constexpr std::int64_t analyzed_at_once = 2048;
constexpr double no_rows = 1e-12;  // keeps a component that has lost all its rows from being 0 / 0

// What a pass over rows needs of one component, made once for all of them.
struct Analyzer {
  at::Tensor mean, weights;                // N; Ψ⁻¹Λ V, N × q: E[z | x] = eᵀ weights
  at::Tensor loadings, spread, precision;  // Λ, N × q; V, q × q; Ψ⁻¹, N
  at::Tensor whitened;                     // Ψ⁻¹Λ L⁻ᵀ, N × q: w = eᵀ whitened
  at::Tensor log_scale;                    // log π − ½ (N log 2π + Σ log Ψ + log |W|)

  Analyzer(const FactorAnalyzers::Components& all, std::int64_t m)
      : mean(all.means[m]), loadings(all.loadings[m]), precision(all.noise[m].reciprocal()) {
    const std::int64_t q = loadings.size(1);
    const at::Tensor scaled = loadings * precision.unsqueeze(1), identity = at::eye(q, loadings.options()),
                     W = identity + loadings.t().mm(scaled);
    const at::Tensor L = checked_cholesky(W, "covariances of factor analysers");
    spread = at::cholesky_inverse(L);
    weights = scaled.mm(spread);
    whitened = scaled.mm(at::linalg_solve_triangular(L, identity, /*upper=*/false).t());
    log_scale = all.shares[m].log() -
                0.5 * (static_cast<double>(mean.size(0)) * std::log(2 * std::numbers::pi) + all.noise[m].log().sum()) -
                L.diagonal().log().sum();
  }
  // log π_m N(x; …) of rows.
  [[nodiscard]] at::Tensor joint(const at::Tensor& x) const {
    const at::Tensor e = x - mean;
    return log_scale - 0.5 * ((e.square() * precision).sum(1) - e.mm(whitened).square().sum(1));
  }
};

std::vector<Analyzer> analyzers_of(const FactorAnalyzers::Components& all) {
  std::vector<Analyzer> each;
  for (std::int64_t m = 0; m < all.shares.size(0); ++m) each.emplace_back(all, m);
  return each;
}

at::Tensor joint_of(const std::vector<Analyzer>& analyzers, const at::Tensor& x) {
  std::vector<at::Tensor> columns;
  columns.reserve(analyzers.size());
  for (const Analyzer& each : analyzers) columns.push_back(each.joint(x));
  return at::stack(columns, 1);
}

template <class Of>
at::Tensor by_analyzed_pieces(const at::Tensor& x, const Of& of) {
  std::vector<at::Tensor> pieces;
  for (std::int64_t first = 0; first == 0 || first < x.size(0); first += analyzed_at_once)
    pieces.push_back(of(x.narrow(0, first, std::min(analyzed_at_once, x.size(0) - first))));
  return at::cat(pieces);
}

}  // namespace

FactorAnalyzers::FactorAnalyzers(std::int64_t inputs, std::int64_t components, std::int64_t factors, double floor,
                                 at::ScalarType type)
    : inputs_(inputs), components_(components), factors_(factors), floor_(floor) {
  require(inputs_ >= 1 && components_ >= 1 && factors_ >= 0,
          "{} factor analysers of {} inputs and {} factors make no mixture", components_, inputs_, factors_);
  require(floor_ > 0, "the least noise of a factor analyser must be positive, not {}", floor_);
  const double share = 1.0 / static_cast<double>(components_);
  const std::int64_t codes = factors_ + 1;
  parameters_.insert("share", at::full({components_}, share, type));
  parameters_.insert("codes", (at::eye(codes, type) * share).expand({components_, codes, codes}).contiguous());
  parameters_.insert("products", at::zeros({components_, inputs_, codes}, type));
  parameters_.insert("squares", at::full({components_, inputs_}, share, type));
}

FactorAnalyzers FactorAnalyzers::with_parameters(Moments parameters) const {
  require(parameters.entries().size() == parameters_.entries().size(), "factor analysers have {} parameters, not {}",
          parameters_.entries().size(), parameters.entries().size());
  for (const auto& [name, value] : parameters_.entries())
    require(parameters[name].sizes() == value.sizes(),
            "parameter {} does not fit {} factor analysers of {} inputs and {} factors", name, components_, inputs_,
            factors_);
  FactorAnalyzers other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

FactorAnalyzers FactorAnalyzers::to(const at::TensorOptions& options) const {
  FactorAnalyzers other = *this;
  other.parameters_ = parameters_.to(options).clone();
  return other;
}

bool FactorAnalyzers::in_domain() const {
  constexpr double rounding_of_shares = 1e-4;
  const at::Tensor s = parameters_["share"].to(at::kDouble);
  if (!s.ge(0).all().item<bool>() || (s.sum() - 1).abs().item<double>() > rounding_of_shares) return false;
  for (const auto& [name, value] : parameters_.entries())
    if (!at::isfinite(value).all().item<bool>()) return false;
  const at::Tensor codes = parameters_["codes"].to(at::kDouble), eye = at::eye(factors_ + 1, codes.options());
  return std::get<1>(at::linalg_cholesky_ex(codes + no_rows * eye)).eq(0).all().item<bool>();
}

FactorAnalyzers::Components FactorAnalyzers::components() const {
  const auto wide = [&](const char* name) { return parameters_[name].to(at::kDouble); };
  const at::Tensor s = wide("share").clamp_min(no_rows), E = wide("codes"), F = wide("products"), G = wide("squares");
  const at::Tensor eye = at::eye(factors_ + 1, E.options());
  const at::Tensor L = checked_cholesky(E + no_rows * eye, "moments of factors");
  const at::Tensor fitted = at::cholesky_solve(F.transpose(1, 2), L).transpose(1, 2);  // [Λ μ], M × N × (q + 1)
  const at::Tensor noise = (G - (fitted * F).sum(2)) / s.unsqueeze(1);
  return {.shares = s / s.sum(),
          .means = fitted.select(2, factors_).contiguous(),
          .loadings = fitted.narrow(2, 0, factors_).contiguous(),
          .noise = noise.clamp_min(floor_)};
}

at::Tensor FactorAnalyzers::fitting(const at::Tensor& rows) const {
  require(rows.dim() == 2 && rows.size(1) == inputs_,
          "factor analysers of {} inputs take rows of as many values, not {}", inputs_,
          rows.dim() == 2 ? rows.size(1) : -1);
  return rows.to(parameters_["share"].options().dtype(at::kDouble));
}

at::Tensor FactorAnalyzers::log_probabilities(const at::Tensor& rows) const {
  const std::vector<Analyzer> analyzers = analyzers_of(components());
  return by_analyzed_pieces(fitting(rows),
                            [&](const at::Tensor& x) { return at::logsumexp(joint_of(analyzers, x), 1); });
}

at::Tensor FactorAnalyzers::log_joint(const at::Tensor& rows) const {
  const std::vector<Analyzer> analyzers = analyzers_of(components());
  return by_analyzed_pieces(fitting(rows), [&](const at::Tensor& x) { return joint_of(analyzers, x); });
}

at::Tensor FactorAnalyzers::responsibilities(const at::Tensor& rows) const { return at::softmax(log_joint(rows), 1); }

at::Tensor FactorAnalyzers::reconstruct(const at::Tensor& rows) const {
  const std::vector<Analyzer> analyzers = analyzers_of(components());
  return by_analyzed_pieces(fitting(rows), [&](const at::Tensor& x) {
    const at::Tensor r = at::softmax(joint_of(analyzers, x), 1);
    at::Tensor sum = at::zeros_like(x);
    for (std::int64_t m = 0; m < components_; ++m) {
      const Analyzer& each = analyzers[static_cast<std::size_t>(m)];
      sum += r.narrow(1, m, 1) * (each.mean + (x - each.mean).mm(each.weights).mm(each.loadings.t()));
    }
    return sum;
  });
}

ExpectedStatistics FactorAnalyzers::expected_statistics(const Components& under, const at::Tensor& rows,
                                                        double smoothing) const {
  const at::Tensor all = fitting(rows);
  require(all.size(0) >= 1, "no rows at all have no statistics; give at least one row");
  require(smoothing >= 0, "pseudo-rows cannot be fewer than none, and {} were asked for", smoothing);
  const std::vector<Analyzer> analyzers = analyzers_of(under);
  const at::ScalarType type = parameters_["share"].scalar_type();
  Moments sums = parameters_.to(at::kDouble).zeros_like();
  at::Tensor log_p = at::zeros({}, all.options());
  for (std::int64_t first = 0; first < all.size(0); first += analyzed_at_once) {
    const at::Tensor x = all.narrow(0, first, std::min(analyzed_at_once, all.size(0) - first));
    const at::Tensor joint = joint_of(analyzers, x), log_sums = at::logsumexp(joint, 1, /*keepdim=*/true),
                     r = at::exp(joint - log_sums), ones = at::ones({x.size(0), 1}, x.options());
    log_p += log_sums.sum();
    sums["share"] += r.sum(0);
    sums["squares"] += r.t().mm(x.square());
    for (std::int64_t m = 0; m < components_; ++m) {
      const Analyzer& each = analyzers[static_cast<std::size_t>(m)];
      const at::Tensor share = r.narrow(1, m, 1), code = at::cat({(x - each.mean).mm(each.weights), ones}, 1),
                       weighted = code * share;
      at::Tensor codes = sums["codes"][m];
      codes += weighted.t().mm(code);
      codes.narrow(0, 0, factors_).narrow(1, 0, factors_).add_(each.spread * share.sum());
      sums["products"][m] += x.t().mm(weighted);
    }
  }
  const auto n = static_cast<double>(all.size(0));
  const double total = 1 + static_cast<double>(components_) * smoothing;
  sums.mul_(1 / n);
  sums["share"] += smoothing;
  sums["codes"] += smoothing * at::eye(factors_ + 1, all.options());
  sums["squares"] += smoothing;
  sums.mul_(1 / total);
  return {.log_likelihood = log_p / n, .statistics = sums.to(type)};
}

FactorAnalyzers::Draws FactorAnalyzers::sample(const Key& key, std::int64_t rows) const {
  require(rows >= 0, "{} rows cannot be drawn", rows);
  const Components all = components();
  const at::TensorOptions options = all.shares.options();
  const at::Tensor u = uniform(key.fold_in(0), {rows}, options),
                   z = normal(key.fold_in(1), {rows, factors_, 1}, options);
  Draws draws;
  // Rounding may leave the last sum below one.
  draws.components =
      at::searchsorted(all.shares.cumsum(0), u, /*out_int32=*/false, /*right=*/true).clamp_max(components_ - 1);
  draws.means = all.means.index_select(0, draws.components);
  // Component by component: loadings of every row would be rows × N × q numbers.
  for (std::int64_t m = 0; m < components_; ++m) {
    const at::Tensor chosen = draws.components.eq(m).nonzero().squeeze(1);
    draws.means.index_add_(0, chosen, z.index_select(0, chosen).squeeze(2).mm(all.loadings[m].t()));
  }
  draws.rows = draws.means + normal(key.fold_in(2), draws.means.sizes(), options) *
                                 all.noise.index_select(0, draws.components).sqrt();
  return draws;
}

}  // namespace harmonium
