#include "harmonium/units/nrelu.h"

#include <ATen/ATen.h>

#include "harmonium/core/format.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "harmonium/units/relu.h"

namespace harmonium {

std::string NRelu::spec() const { return format("nrelu:{}", width()); }

at::Tensor NRelu::mean(const at::Tensor& field, const Parameters&) const { return at::softplus(field); }

at::Tensor NRelu::sample(const Key& key, const at::Tensor& field, const Parameters&) const {
  return (field + normal(key, field.sizes(), field.options()) * logistic(field).sqrt()).clamp_min_(0);
}

at::Tensor NRelu::expected_square(const at::Tensor& field, const Parameters& parameters) const {
  return mean(field, parameters).square() + logistic(field);
}

at::Tensor NRelu::conditional_covariance(const at::Tensor& field, const Parameters&, const at::Tensor& weights) const {
  return at::diag(average_rows(logistic(field), weights));
}

std::shared_ptr<const Unit> NRelu::stands_for() const { return std::make_shared<Stepped>(width(), copies()); }

std::string NRelu::complaint(const at::Tensor& state) const { return Relu(width()).complaint(state); }

}  // namespace harmonium
