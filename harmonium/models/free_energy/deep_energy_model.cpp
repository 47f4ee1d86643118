#include "harmonium/models/free_energy/deep_energy_model.h"

#include <ATen/ATen.h>

#include <cmath>
#include <numbers>

#include "harmonium/core/error.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr const char* net_prefix = "net.";
// Bounds of λ for data of standard deviation 1.
constexpr double least_lambda = 0.1, most_lambda = 1000;

std::vector<std::int64_t> net_widths(const DeepEnergyStructure& structure) {
  std::vector<std::int64_t> widths = {structure.inputs};
  widths.insert(widths.end(), structure.layers.begin(), structure.layers.end());
  return widths;
}

}  // namespace

DeepEnergyModel::DeepEnergyModel(DeepEnergyStructure structure)
    : structure_(std::move(structure)), net_(net_prefix, net_widths(structure_), structure_.activation) {
  require(structure_.activation != Activation::softmax,
          "@activation softmax: hidden layers may be tanh, softplus, elu, relu, logistic or linear");
  require(std::isfinite(structure_.spread) && structure_.spread > 0,
          "a deep energy model needs data with a positive spread, not {}", structure_.spread);
}

Moments DeepEnergyModel::initial_parameters(const Key& key, at::ScalarType type) const {
  Moments theta;
  theta.insert("visible.bias", at::zeros({structure_.inputs}, at::kDouble));
  theta.insert("visible.log_precision", at::full({1}, -2 * std::log(structure_.spread), at::kDouble));
  net_.declare(theta, at::kDouble);
  net_.initialize(theta, key);
  return theta.to(type);
}

std::vector<ParameterGroup> DeepEnergyModel::groups() const {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights},
      bias{.names = {"visible.bias"}, .kind = ParameterKind::bias},
      other{.names = {"visible.log_precision"}, .kind = ParameterKind::other};
  Moments net;
  net_.declare(net, at::kFloat);
  for (const auto& [name, value] : net.entries()) (name.ends_with(".bias") ? bias : weights).names.push_back(name);
  return {weights, bias, other};
}

at::Tensor DeepEnergyModel::hidden_fields(const at::Tensor& v, const Moments& theta, double beta) const {
  const at::Tensor x = net_.forward(theta, v);
  return beta == 1 ? x : at::lerp(theta[net_.output_bias()].expand_as(x), x, beta);
}

at::Tensor DeepEnergyModel::log_f(const at::Tensor& v, const Moments& theta, double beta) const {
  const at::Tensor inside = v * (theta["visible.bias"] - 0.5 * theta["visible.log_precision"].exp() * v);
  return inside.sum(1, /*keepdim=*/false, at::kDouble) + softplus_row_sums(hidden_fields(v, theta, beta));
}

at::Tensor DeepEnergyModel::score(const at::Tensor& v, const Moments& theta, double beta) const {
  const c10::AutoGradMode with_gradient(true);
  const at::Tensor leaf = v.detach().requires_grad_(), x = hidden_fields(leaf, theta, beta);
  x.backward(x.detach().sigmoid());
  const c10::NoGradGuard without_gradient;
  return at::addcmul(theta["visible.bias"], v, theta["visible.log_precision"].exp(), -1).add_(leaf.grad());
}

Moments DeepEnergyModel::moments(const at::Tensor& v, const Moments& theta) const {
  const c10::AutoGradMode with_gradient(true);
  const Moments leaves = theta.map([](const at::Tensor& value) { return value.detach().requires_grad_(); });
  const at::Tensor x = net_.forward(leaves, v.detach());
  x.backward(x.detach().sigmoid().div_(static_cast<double>(v.size(0))));
  const c10::NoGradGuard without_gradient;
  Moments found;
  for (const auto& [name, leaf] : leaves.entries()) {
    if (name == "visible.bias")
      found.insert(name, v.mean(0));
    else if (name == "visible.log_precision")
      found.insert(name, -0.5 * leaf.detach().exp() * v.square().sum(1).mean());
    else
      found.insert(name, leaf.grad());
  }
  return found;
}

void DeepEnergyModel::constrain_(Moments& theta) const {
  const double log_square = 2 * std::log(structure_.spread);
  theta["visible.log_precision"].clamp_(std::log(least_lambda) - log_square, std::log(most_lambda) - log_square);
}

std::string DeepEnergyModel::complaint(const Moments& theta) const {
  const double precision = theta["visible.log_precision"].exp().item<double>();
  if (std::isfinite(precision) && precision > 0) return "";
  return "the precision of its values is not a positive number, so that its density has no integral";
}

std::vector<std::pair<std::string, at::Tensor>> DeepEnergyModel::features(const at::Tensor& v,
                                                                          const Moments& theta) const {
  return {{"hidden", hidden_fields(v, theta, 1).sigmoid_()}};
}

double DeepEnergyModel::base_log_z(const Moments& theta) const {
  const double log_precision = theta["visible.log_precision"].to(at::kDouble).item<double>();
  const auto D = static_cast<double>(structure_.inputs);
  return 0.5 * D * (std::log(2 * std::numbers::pi) - log_precision) +
         0.5 * theta["visible.bias"].to(at::kDouble).square().sum().item<double>() * std::exp(-log_precision) +
         softplus_row_sums(theta[net_.output_bias()].to(at::kDouble).unsqueeze(0)).item<double>();
}

at::Tensor DeepEnergyModel::base_draws(const Moments& theta, const Key& key, std::int64_t rows) const {
  const at::Tensor& log_precision = theta["visible.log_precision"];
  return theta["visible.bias"] * at::exp(-log_precision) +
         normal(key, {rows, structure_.inputs}, log_precision.options()) * at::exp(-0.5 * log_precision);
}

at::Tensor DeepEnergyModel::first_filters(const Moments& theta) {
  return theta[std::string(net_prefix) + "layer1.weights"];
}

}  // namespace harmonium
