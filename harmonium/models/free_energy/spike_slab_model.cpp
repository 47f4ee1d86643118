#include "harmonium/models/free_energy/spike_slab_model.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/models/free_energy/spike_slab_states.h"

namespace harmonium {

namespace {

// Bounds of Λ and α for data of standard deviation 1 and columns of unit length.
constexpr double least_precision = 0.1, most_precision = 1000;
constexpr double least_slab_precision = 0.1, most_slab_precision = 1000;
// Of Λ^{-½} W α^{-½}: Λ_h keeps a tenth of Λ in every state. Nearer to 1 states with many spikes on hold most of the
// mass far away, where chains do not come.
constexpr double strongest = 0.95;

// Φ_ij below which a unit takes more precision away than it adds.
at::Tensor least_penalties(const Moments& theta) {
  const at::Tensor size = theta["visible_hidden.weights"].abs();
  return size * (size.sum(0) / theta["hidden.log_precision"].exp());
}

// (1 − 1/r)₊ of every unit: the share of its w wᵀ/α that Λ has to hold.
at::Tensor shares_left_to_precisions(const Moments& theta) {
  const at::Tensor alpha = theta["hidden.log_precision"].exp();
  if (!theta.contains("penalty.weights")) return at::ones_like(alpha);
  const at::Tensor squares = theta["visible_hidden.weights"].square(), penalties = theta["penalty.weights"];
  const at::Tensor ratio = at::where(squares.eq(0), at::zeros_like(squares), squares / penalties);
  return (1 - alpha / ratio.sum(0)).clamp_min(0);  // r = 0 where w = 0: −∞ becomes 0
}

// The largest singular value of Λ^{-½} W α^{-½} √(1 − 1/r)₊: in every state Λ_h ≻ 0 where it is below 1.
double definite_strength(const Moments& theta) {
  const Moments exact = theta.to(at::TensorOptions(at::kCPU).dtype(at::kDouble));
  return coupling_strength(exact["visible_hidden.weights"], at::exp(-0.5 * exact["visible.log_precision"]),
                           shares_left_to_precisions(exact).sqrt() * at::exp(-0.5 * exact["hidden.log_precision"]));
}

}  // namespace

SpikeSlabModel::SpikeSlabModel(const SpikeSlabStructure& structure) : structure_(structure) {
  const SpikeSlabStructure& s = structure_;
  require(s.inputs >= 1 && s.hidden >= 1, "a spike-and-slab RBM needs inputs and hidden units, not {} and {}", s.inputs,
          s.hidden);
  require(std::isfinite(s.spread) && s.spread > 0, "a spike-and-slab RBM needs data with a positive spread, not {}",
          s.spread);
  require(s.penalties || s.definite == SpikeSlabDefinite::certificate,
          "a spike-and-slab RBM that is definite by its penalties has penalties");
}

Moments SpikeSlabModel::initial_parameters(const Key& key, at::ScalarType type) const {
  const SpikeSlabStructure& s = structure_;
  const double precision = 1 / (s.spread * s.spread);
  // A tenth of a visible precision for each unit, less where many units would together take too much.
  const double crowd = 1 + std::sqrt(static_cast<double>(s.hidden) / static_cast<double>(s.inputs));
  const double slab_precision = 1 / (precision * std::min(0.1, 0.5 / (crowd * crowd)));
  const auto full = [](std::int64_t width, double value) { return at::full({width}, value, at::kDouble); };
  Moments theta;
  theta.insert("visible.bias", full(s.inputs, 0));
  theta.insert("visible.log_precision", full(s.inputs, std::log(precision)));
  const at::Tensor W = normal(key.fold_in(0), {s.inputs, s.hidden}, at::kDouble);
  theta.insert("visible_hidden.weights", W / W.norm(2, 0, /*keepdim=*/true).clamp_min(1e-12));
  theta.insert("hidden.bias", full(s.hidden, -1));
  theta.insert("hidden.mean", full(s.hidden, 0.1 / s.spread));
  theta.insert("hidden.log_precision", full(s.hidden, std::log(slab_precision)));
  if (s.penalties) theta.insert("penalty.weights", at::zeros({s.inputs, s.hidden}, at::kDouble));
  constrain_(theta);
  return theta.to(type);
}

std::vector<ParameterGroup> SpikeSlabModel::groups() const {
  std::vector<ParameterGroup> all = {
      {.names = {"visible_hidden.weights"}, .kind = ParameterKind::weights},
      {.names = {"visible.bias", "hidden.bias", "hidden.mean"}, .kind = ParameterKind::bias},
      {.names = {"visible.log_precision", "hidden.log_precision"}, .kind = ParameterKind::other, .rate = 0.5}};
  if (structure_.penalties) all.back().names.emplace_back("penalty.weights");
  return all;
}

at::Tensor SpikeSlabModel::spike_fields(const at::Tensor& v, const at::Tensor& t, const Moments& theta,
                                        double beta) const {
  at::Tensor gain = t * at::addcmul(theta["hidden.mean"], t, at::exp(-theta["hidden.log_precision"]), 0.5);
  if (structure_.penalties) gain.addmm_(v.square(), theta["penalty.weights"], 1, -0.5);
  return at::add(theta["hidden.bias"], gain, beta);
}

at::Tensor SpikeSlabModel::log_f(const at::Tensor& v, const Moments& theta, double beta) const {
  const at::Tensor t = v.matmul(theta["visible_hidden.weights"]);
  const at::Tensor inside = v * (theta["visible.bias"] - 0.5 * theta["visible.log_precision"].exp() * v);
  return inside.sum(1, /*keepdim=*/false, at::kDouble) + softplus_row_sums(spike_fields(v, t, theta, beta));
}

at::Tensor SpikeSlabModel::score(const at::Tensor& v, const Moments& theta, double beta) const {
  const at::Tensor& W = theta["visible_hidden.weights"];
  at::Tensor t = v.matmul(W);
  const at::Tensor q = spike_fields(v, t, theta, beta).sigmoid_();
  at::Tensor gradient = at::addcmul(theta["visible.bias"], v, theta["visible.log_precision"].exp(), -1);
  if (structure_.penalties) gradient.addcmul_(v, q.matmul(theta["penalty.weights"].t()), -beta);
  t.mul_(at::exp(-theta["hidden.log_precision"])).add_(theta["hidden.mean"]).mul_(q);
  return gradient.addmm_(t, W.t(), 1, beta);
}

Moments SpikeSlabModel::moments(const at::Tensor& v, const Moments& theta) const {
  const double share = 1.0 / static_cast<double>(v.size(0));
  const at::Tensor t = v.matmul(theta["visible_hidden.weights"]), slope = at::exp(-theta["hidden.log_precision"]);
  const at::Tensor q = spike_fields(v, t, theta, 1).sigmoid_(), squares = v.square();
  Moments found;
  found.insert("visible.bias", v.mean(0));
  found.insert("visible.log_precision", -0.5 * theta["visible.log_precision"].exp() * squares.mean(0));
  found.insert("visible_hidden.weights", share * v.t().matmul(q * at::addcmul(theta["hidden.mean"], t, slope)));
  found.insert("hidden.bias", q.mean(0));
  found.insert("hidden.mean", (q * t).mean(0));
  found.insert("hidden.log_precision", -0.5 * slope * (q * t.square()).mean(0));
  if (structure_.penalties) found.insert("penalty.weights", -0.5 * share * squares.t().matmul(q));
  return found;
}

// w/n, μn and α/n² for n = ‖w‖: t²/α, μt and the penalties stay as they are.
void SpikeSlabModel::scale_columns_(Moments& theta) const {
  at::Tensor& W = theta["visible_hidden.weights"];
  const at::Tensor lengths = W.norm(2, 0).clamp_min(1e-6);
  W.div_(lengths);
  theta["hidden.mean"].mul_(lengths);
  theta["hidden.log_precision"].sub_(2 * lengths.log());
}

void SpikeSlabModel::constrain_(Moments& theta) const {
  const double log_square = 2 * std::log(structure_.spread);
  scale_columns_(theta);
  at::Tensor &precision = theta["visible.log_precision"], &slab = theta["hidden.log_precision"];
  precision.clamp_(std::log(least_precision) - log_square, std::log(most_precision) - log_square);
  slab.clamp_(std::log(least_slab_precision) + log_square, std::log(most_slab_precision) + log_square);
  if (structure_.penalties) theta["penalty.weights"].clamp_min_(0);
  if (structure_.definite == SpikeSlabDefinite::penalty) {
    at::Tensor& penalties = theta["penalty.weights"];
    penalties.copy_(at::max(penalties, least_penalties(theta)));
  } else {
    (void)clip_coupling_(theta["visible_hidden.weights"], at::exp(-0.5 * precision), at::exp(-0.5 * slab), strongest);
  }
}

std::map<std::string, double> SpikeSlabModel::measures(const Moments& theta) const {
  return {{"definite_strength", definite_strength(theta)}};
}

std::string SpikeSlabModel::complaint(const Moments& theta) const {
  if (structure_.penalties && theta["penalty.weights"].lt(0).any().item<bool>()) return "a penalty is negative";
  const double strength = definite_strength(theta);
  if (strength < 1) return "";
  return format(
      "its weights are too large for its precisions: their strength is {:.4g} and must be below 1, so {}", strength,
      structure_.penalties ? "nothing shows that its density has an integral" : "its density has no integral");
}

at::Tensor SpikeSlabModel::precision_given(const at::Tensor& row, const Moments& theta) const {
  const at::Tensor& W = theta["visible_hidden.weights"];
  const at::Tensor q = spike_fields(row, row.matmul(W), theta, 1).sigmoid_();
  at::Tensor diagonal = theta["visible.log_precision"].exp();
  if (structure_.penalties) diagonal = diagonal + theta["penalty.weights"].matmul(q.squeeze(0));
  return at::diag(diagonal) - (W * q * at::exp(-theta["hidden.log_precision"])).matmul(W.t());
}

std::vector<std::pair<std::string, at::Tensor>> SpikeSlabModel::features(const at::Tensor& v,
                                                                         const Moments& theta) const {
  const at::Tensor t = v.matmul(theta["visible_hidden.weights"]), q = spike_fields(v, t, theta, 1).sigmoid_();
  const at::Tensor slabs = at::addcmul(theta["hidden.mean"], t, at::exp(-theta["hidden.log_precision"]));
  return {{"slabs", q * slabs}, {"spikes", q}};
}

double SpikeSlabModel::base_log_z(const Moments& theta) const {
  const at::Tensor log_precision = theta["visible.log_precision"].to(at::kDouble);
  const at::Tensor each = std::log(2 * std::numbers::pi) - log_precision +
                          theta["visible.bias"].to(at::kDouble).square() * at::exp(-log_precision);
  return 0.5 * each.sum().item<double>() +
         softplus_row_sums(theta["hidden.bias"].to(at::kDouble).unsqueeze(0)).item<double>();
}

at::Tensor SpikeSlabModel::base_draws(const Moments& theta, const Key& key, std::int64_t rows) const {
  const at::Tensor& log_precision = theta["visible.log_precision"];
  return theta["visible.bias"] * at::exp(-log_precision) +
         normal(key, {rows, structure_.inputs}, log_precision.options()) * at::exp(-0.5 * log_precision);
}

void SpikeSlabModel::gibbs_(at::Tensor& v, const Moments& theta, const Key& key, double beta) const {
  const at::Tensor &W = theta["visible_hidden.weights"], variance = at::exp(-theta["hidden.log_precision"]);
  at::Tensor t = v.matmul(W);
  const at::Tensor h = sample_bernoulli(key.fold_in(0), spike_fields(v, t, theta, beta).sigmoid_());
  // Slabs given the values, N(β(μ + t/α), β/α), where the spike is on.
  t.mul_(variance).add_(theta["hidden.mean"]).mul_(beta);
  t.addcmul_(normal(key.fold_in(1), t.sizes(), t.options()), variance.sqrt(), std::sqrt(beta)).mul_(h);
  at::Tensor precision = theta["visible.log_precision"].exp();
  if (structure_.penalties) precision = at::addmm(precision, h, theta["penalty.weights"].t(), 1, beta);
  const at::Tensor noise = normal(key.fold_in(2), v.sizes(), v.options());
  v.copy_(at::addmm(theta["visible.bias"], t, W.t()).addcmul_(noise, precision.sqrt()).div_(precision));
}

std::optional<double> SpikeSlabModel::exact_work() const {
  return SpikeSlabStates::work(structure_.inputs, structure_.hidden);
}

std::string SpikeSlabModel::exact_method() const { return format("exact (2^{} states of spikes)", structure_.hidden); }

double SpikeSlabModel::exact_log_z(const Moments& theta) const { return SpikeSlabStates(theta).log_z(); }

at::Tensor SpikeSlabModel::exact_draws(const Moments& theta, const Key& key, std::int64_t rows) const {
  return SpikeSlabStates(theta).draw(key, rows).to(theta["visible.bias"].scalar_type());
}

}  // namespace harmonium
