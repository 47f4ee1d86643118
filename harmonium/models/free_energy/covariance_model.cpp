#include "harmonium/models/free_energy/covariance_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/checked_cholesky.h"
#include "harmonium/models/free_energy/gaussian_states.h"
#include "harmonium/models/free_energy/state_bits.h"

namespace harmonium {

namespace {

constexpr double least_gamma = 0.6;  // at ½ the tails have no integral
const double log_of_two_pi = std::log(2 * std::numbers::pi);

// log(1 + eˣ) to rounding for every x.
at::Tensor log_one_plus_exp(const at::Tensor& x) { return x.clamp_min(0) + at::log1p(at::exp(-x.abs())); }

at::Tensor sum_precisely(const at::Tensor& table) { return table.sum(1, /*keepdim=*/false, at::kDouble); }

}  // namespace

CovarianceModel::CovarianceModel(const CovarianceStructure& structure) : structure_(structure) {
  const CovarianceStructure& s = structure_;
  require(s.spread > 0, "a covariance model needs data with a positive spread, not {}", s.spread);
  require(s.inputs >= 1 && s.filters >= 1 && s.hidden >= 0 && s.pooled >= 0,
          "a covariance model needs inputs and filters, and {} and {} were asked for", s.inputs, s.filters);
  if (s.contained) return;
  require(s.filters >= s.inputs,
          "{} filters cannot hold {} inputs together: without a Gaussian around them there must be at least as many "
          "filters as inputs",
          s.filters, s.inputs);
  require(s.pooled == 0 && s.hidden == 0, "a product of Student-t distributions has neither pooling nor mean units");
}

Moments CovarianceModel::initial_parameters(const Key& key, at::ScalarType type) const {
  const CovarianceStructure& s = structure_;
  const bool switches = s.units == CovarianceUnits::switches;
  Moments theta;
  // Filters of pot start at unit length, where Student-t sources have about the spread of whitened data; those of the
  // others so that all of them together leave the Gaussian of the data, I + CCᵀ ≈ I/spread².
  const double narrowing = std::max(1 / (s.spread * s.spread) - 1, 0.1);
  const double length =
      s.contained ? std::sqrt(narrowing * static_cast<double>(s.inputs) / static_cast<double>(s.covariance())) : 1.0;
  theta.insert("filters.weights", length / std::sqrt(static_cast<double>(s.inputs)) *
                                      normal(key.fold_in(0), {s.inputs, s.filters}, at::kDouble));
  if (!s.contained) {
    // As near to the identity as noise allows, so that the first determinant is not tiny.
    at::Tensor C = theta["filters.weights"];
    C.mul_(0.3).diagonal().add_(1);
  }
  if (s.pooled > 0) {
    // Neighbouring filters together, each unit a share of them.
    const at::Tensor pool = at::arange(s.filters, at::kLong) * s.pooled / s.filters;
    at::Tensor P = at::one_hot(pool.to(at::kLong), s.pooled).to(at::kDouble);
    theta.insert("pooling.weights", P / P.sum(0, /*keepdim=*/true).clamp_min(1));
  }
  theta.insert(switches ? "covariance.bias" : "covariance.gamma", at::full({s.covariance()}, switches ? 2.0 : 1.5));
  if (s.contained) theta.insert("visible.bias", at::zeros({s.inputs}));
  if (s.hidden > 0) {
    theta.insert("visible_hidden.weights", 0.05 * normal(key.fold_in(1), {s.inputs, s.hidden}, at::kDouble));
    theta.insert("hidden.bias", at::full({s.hidden}, -2.0));
  }
  constrain_(theta);
  return theta.to(type);
}

std::vector<ParameterGroup> CovarianceModel::groups() const {
  ParameterGroup weights{.names = {"filters.weights"}, .kind = ParameterKind::weights},
      bias{.names = {}, .kind = ParameterKind::bias};
  if (structure_.hidden > 0) {
    weights.names.emplace_back("visible_hidden.weights");
    bias.names.emplace_back("hidden.bias");
  }
  if (structure_.contained) bias.names.emplace_back("visible.bias");
  bias.names.emplace_back(structure_.units == CovarianceUnits::switches ? "covariance.bias" : "covariance.gamma");
  std::vector<ParameterGroup> all = {weights, bias};
  // Pooling follows the filters slowly, as published, and must not decay.
  if (structure_.pooled > 0) all.push_back({.names = {"pooling.weights"}, .kind = ParameterKind::other, .rate = 0.1});
  return all;
}

at::Tensor CovarianceModel::pooled_squares(const at::Tensor& u, const Moments& theta) const {
  return structure_.pooled > 0 ? u.square().matmul(theta["pooling.weights"]) : u.square();
}

at::Tensor CovarianceModel::covariance_means(const at::Tensor& s, const Moments& theta, double beta) const {
  if (structure_.units == CovarianceUnits::switches) return at::sigmoid(theta["covariance.bias"] - 0.5 * beta * s);
  return theta["covariance.gamma"] / (1 + 0.5 * beta * s);
}

at::Tensor CovarianceModel::filter_weights(const at::Tensor& q, const Moments& theta) const {
  return structure_.pooled > 0 ? q.matmul(theta["pooling.weights"].t()) : q;
}

at::Tensor CovarianceModel::log_f(const at::Tensor& v, const Moments& theta, double beta) const {
  const at::Tensor s = pooled_squares(v.matmul(theta["filters.weights"]), theta);
  at::Tensor total = structure_.units == CovarianceUnits::switches
                         ? sum_precisely(log_one_plus_exp(theta["covariance.bias"] - 0.5 * beta * s))
                         : -sum_precisely(theta["covariance.gamma"] * at::log1p(0.5 * beta * s));
  if (!structure_.contained) {
    if (beta != 1) total -= 0.5 * (1 - beta) * sum_precisely(v.square());
    return total;
  }
  total += sum_precisely(v * (theta["visible.bias"] - 0.5 * v));
  if (structure_.hidden > 0)
    total += sum_precisely(log_one_plus_exp(
        at::addmm(theta["hidden.bias"], v, theta["visible_hidden.weights"], /*beta=*/1, /*alpha=*/beta)));
  return total;
}

// What HMC asks for at every step, so as few passes as there can be: q ⊙ u without pooling takes three.
at::Tensor CovarianceModel::score(const at::Tensor& v, const Moments& theta, double beta) const {
  const at::Tensor& C = theta["filters.weights"];
  at::Tensor u = v.matmul(C);
  if (structure_.pooled > 0)
    u.mul_(filter_weights(covariance_means(pooled_squares(u, theta), theta, beta), theta));
  else if (structure_.units == CovarianceUnits::switches)
    u.mul_(at::addcmul(theta["covariance.bias"], u, u, -0.5 * beta).sigmoid_());
  else
    u.div_(at::addcmul(at::ones({}, u.options()), u, u, 0.5 * beta)).mul_(theta["covariance.gamma"]);
  at::Tensor gradient;
  if (structure_.contained)
    gradient = at::addmm(theta["visible.bias"] - v, u, C.t(), /*beta=*/1, /*alpha=*/-beta);
  else if (beta == 1)
    gradient = u.matmul(C.t()).neg_();
  else
    gradient = at::addmm(v, u, C.t(), /*beta=*/beta - 1, /*alpha=*/-beta);
  if (structure_.hidden > 0) {
    const at::Tensor& W = theta["visible_hidden.weights"];
    gradient.addmm_(at::addmm(theta["hidden.bias"], v, W, 1, beta).sigmoid_(), W.t(), 1, beta);
  }
  return gradient;
}

Moments CovarianceModel::moments(const at::Tensor& v, const Moments& theta) const {
  const double share = 1.0 / static_cast<double>(v.size(0));
  const at::Tensor u = v.matmul(theta["filters.weights"]), s = pooled_squares(u, theta);
  const at::Tensor q = covariance_means(s, theta, 1);
  Moments found;
  for (const auto& [name, value] : theta.entries()) {  // in the order of the parameters
    if (name == "filters.weights") {
      found.insert(name, -share * v.t().matmul(filter_weights(q, theta) * u));
    } else if (name == "pooling.weights") {
      found.insert(name, -0.5 * share * u.square().t().matmul(q));
    } else if (name == "covariance.bias") {
      found.insert(name, q.mean(0));
    } else if (name == "covariance.gamma") {
      found.insert(name, -at::log1p(0.5 * s).mean(0));
    } else if (name == "visible.bias") {
      found.insert(name, v.mean(0));
    } else {
      const at::Tensor on = at::sigmoid(at::addmm(theta["hidden.bias"], v, theta["visible_hidden.weights"]));
      found.insert(name, name == "hidden.bias" ? on.mean(0) : share * v.t().matmul(on));
    }
  }
  return found;
}

void CovarianceModel::gibbs_(at::Tensor& v, const Moments& theta, const Key& key, double beta) const {
  const at::Tensor &C = theta["filters.weights"], s = pooled_squares(v.matmul(C), theta);
  const bool switches = structure_.units == CovarianceUnits::switches;
  const at::Tensor h = switches ? sample_bernoulli(key.fold_in(0), covariance_means(s, theta, beta))
                                : standard_gamma(key.fold_in(0), theta["covariance.gamma"].expand_as(s).contiguous()) /
                                      (1 + 0.5 * beta * s);
  const at::Tensor weights = beta * filter_weights(h, theta).to(at::kDouble), filters = C.to(at::kDouble);
  at::Tensor linear = structure_.contained ? theta["visible.bias"].expand_as(v) : at::zeros_like(v);
  if (structure_.hidden > 0) {
    const at::Tensor& W = theta["visible_hidden.weights"];
    const at::Tensor on = sample_bernoulli(key.fold_in(1), at::addmm(theta["hidden.bias"], v, W, 1, beta).sigmoid());
    linear = at::addmm(linear, on, W.t(), 1, beta);
  }
  const std::int64_t rows = v.size(0), D = v.size(1),
                     at_once = std::max<std::int64_t>(1, state_numbers_at_once / (D * std::max(D, C.size(1))));
  const at::Tensor noise = normal(key.fold_in(2), v.sizes(), v.options()).to(at::kDouble);
  const at::Tensor around = (structure_.contained ? 1 : 1 - beta) * at::eye(D, at::kDouble);
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const std::int64_t count = std::min(at_once, rows - first);
    const at::Tensor scaled = filters.unsqueeze(0) * weights.narrow(0, first, count).unsqueeze(1);
    v.narrow(0, first, count)
        .copy_(gaussian_draws(checked_cholesky(around + scaled.matmul(filters.t()), "precisions of the hidden states"),
                              linear.narrow(0, first, count).to(at::kDouble), noise.narrow(0, first, count)));
  }
}

void CovarianceModel::constrain_(Moments& theta) const {
  if (structure_.units == CovarianceUnits::gammas) theta["covariance.gamma"].clamp_min_(least_gamma);
  if (structure_.pooled > 0) {
    at::Tensor& P = theta["pooling.weights"];
    P.clamp_min_(0);
    P.div_(P.sum(0, /*keepdim=*/true).clamp_min(1e-12));  // a unit that has lost all filters stays off
  }
  if (structure_.equal_norms) {
    at::Tensor& C = theta["filters.weights"];
    const at::Tensor lengths = C.norm(2, 0, /*keepdim=*/true).clamp_min(1e-12);
    C.mul_(lengths.mean() / lengths);
  }
}

std::string CovarianceModel::complaint(const Moments& theta) const {
  if (structure_.units == CovarianceUnits::gammas && !theta["covariance.gamma"].gt(0.5).all().item<bool>())
    return "an exponent γ of its Student-t factors is not above ½, so that its density has no integral";
  if (structure_.contained) return "";
  const at::Tensor singular = at::linalg_svdvals(theta["filters.weights"].to(at::kDouble));
  if (singular.min().item<double>() > 1e-9 * singular.max().item<double>()) return "";
  return "its filters do not span the inputs, so that its density has no integral";
}

std::vector<std::pair<std::string, at::Tensor>> CovarianceModel::features(const at::Tensor& v,
                                                                          const Moments& theta) const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  if (structure_.hidden > 0)
    all.emplace_back("hidden", at::sigmoid(at::addmm(theta["hidden.bias"], v, theta["visible_hidden.weights"])));
  all.emplace_back("covariance", covariance_means(pooled_squares(v.matmul(theta["filters.weights"]), theta), theta, 1));
  return all;
}

at::Tensor CovarianceModel::precision_given(const at::Tensor& row, const Moments& theta) const {
  const at::Tensor& C = theta["filters.weights"];
  const at::Tensor q = covariance_means(pooled_squares(row.matmul(C), theta), theta, 1);
  at::Tensor precision = (C * filter_weights(q, theta)).matmul(C.t());
  if (structure_.contained) precision.diagonal().add_(1);
  return precision;
}

double CovarianceModel::base_log_z(const Moments& theta) const {
  double total = 0.5 * static_cast<double>(structure_.inputs) * log_of_two_pi;
  if (structure_.contained) total += 0.5 * theta["visible.bias"].to(at::kDouble).square().sum().item<double>();
  if (structure_.hidden > 0) total += log_one_plus_exp(theta["hidden.bias"].to(at::kDouble)).sum().item<double>();
  if (structure_.units == CovarianceUnits::switches)
    total += log_one_plus_exp(theta["covariance.bias"].to(at::kDouble)).sum().item<double>();
  return total;
}

at::Tensor CovarianceModel::base_draws(const Moments& theta, const Key& key, std::int64_t rows) const {
  const at::Tensor noise = normal(key, {rows, structure_.inputs}, theta["filters.weights"].options());
  return structure_.contained ? noise + theta["visible.bias"] : noise;
}

bool CovarianceModel::is_ica() const {
  return structure_.units == CovarianceUnits::gammas && !structure_.contained &&
         structure_.filters == structure_.inputs;
}

std::optional<double> CovarianceModel::exact_work() const {
  if (is_ica()) return std::pow(static_cast<double>(structure_.inputs), 3);
  if (structure_.units == CovarianceUnits::gammas) return std::nullopt;
  return GaussianStates::work(structure_.inputs, structure_.filters, structure_.covariance(), structure_.hidden);
}

std::string CovarianceModel::exact_method() const {
  if (is_ica()) return "exact (as many filters as inputs)";
  return format("exact (2^{} hidden states)", structure_.covariance() + structure_.hidden);
}

double CovarianceModel::exact_log_z(const Moments& theta) const {
  if (!is_ica()) return GaussianStates(theta).log_z();
  const at::Tensor gamma = theta["covariance.gamma"].to(at::kDouble);
  const auto [sign, log_determinant] = at::linalg_slogdet(theta["filters.weights"].to(at::kDouble));
  const at::Tensor each = 0.5 * log_of_two_pi + at::lgamma(gamma - 0.5) - at::lgamma(gamma);
  return each.sum().item<double>() - log_determinant.item<double>();
}

at::Tensor CovarianceModel::exact_draws(const Moments& theta, const Key& key, std::int64_t rows) const {
  if (!has_exact_draws()) return {};
  return GaussianStates(theta).draw(key, rows).to(theta["filters.weights"].scalar_type());
}

}  // namespace harmonium
