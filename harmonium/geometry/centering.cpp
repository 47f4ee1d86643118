#include "harmonium/geometry/centering.h"

#include "harmonium/core/error.h"

namespace harmonium {

Centering::Centering(const Topology& topology, const Moments& shape, CenteringOptions options)
    : options_(options), gaussian_(topology, shape), offsets_(topology.layers.size()) {}

void Centering::observe(const Observation& observation) {
  const Topology& topology = gaussian_.index().topology();
  for (std::size_t layer = 0; layer < offsets_.size(); ++layer) {
    const std::string& bias = topology.layers[layer].parameters.front();
    const at::Tensor& model = observation.model[bias];
    offsets_[layer].observe(options_.enhanced ? at::lerp(model, observation.data[bias], 0.5) : model,
                            1 / options_.time_scale);
  }
  set_coefficients();
  if (options_.fit_variances) {
    require(observation.statistics != nullptr, "centering needs statistics to fit variances to");
    fit_variances(*observation.statistics);
  }
}

void Centering::set_coefficients() {
  const Topology& topology = gaussian_.index().topology();
  for (std::size_t edge = 0; edge < topology.edges.size(); ++edge) {
    Regression regression;
    regression.on_first = offsets_[topology.edges[edge].upper].get().unsqueeze(0);
    regression.on_second = offsets_[topology.edges[edge].lower].get().unsqueeze(1);
    gaussian_.set_regression(edge, std::move(regression));
  }
}

void Centering::fit_variances(const ModelStatistics& statistics) {
  const StatisticIndex& index = gaussian_.index();
  const at::Tensor mean = statistics.unary_mean(), second = statistics.unary_second_moment();
  const at::Tensor variance = second.diagonal() - mean.square() + options_.damping;
  gaussian_.set_unary(variance);
  for (std::size_t edge = 0; edge < index.topology().edges.size(); ++edge) {
    const EdgeInfo& info = index.topology().edges[edge];
    const std::int64_t lower = index.unary_begin(info.lower), upper = index.unary_begin(info.upper);
    const std::int64_t rows = index.width(info.lower), columns = index.width(info.upper);
    const at::Tensor p = mean.narrow(0, lower, rows).unsqueeze(1), q = mean.narrow(0, upper, columns).unsqueeze(0);
    const at::Tensor r = second.narrow(0, lower, rows).narrow(1, upper, columns);
    const ProductMoments moments = statistics.product_moments(edge);
    Regression regression;
    regression.on_first = offsets_[info.upper].get().unsqueeze(0);
    regression.on_second = offsets_[info.lower].get().unsqueeze(1);
    // Var(m − α x − β y)
    const at::Tensor &alpha = regression.on_first, &beta = regression.on_second;
    regression.variance =
        moments.square - r.square() + options_.damping + alpha.square() * variance.narrow(0, lower, rows).unsqueeze(1) +
        beta.square() * variance.narrow(0, upper, columns).unsqueeze(0) - 2 * alpha * (moments.with_lower - r * p) -
        2 * beta * (moments.with_upper - r * q) + 2 * alpha * beta * (r - p * q);
    gaussian_.set_regression(edge, std::move(regression));
  }
}

std::int64_t Centering::parameter_count() const {
  const StatisticIndex& index = gaussian_.index();
  std::int64_t units = 0;
  for (const LayerInfo& layer : index.topology().layers) units += layer.width;
  return units + (options_.fit_variances ? index.dimension() : 0);
}

NamedTensors Centering::state() const {
  NamedTensors tensors;
  for (std::size_t layer = 0; layer < offsets_.size(); ++layer)
    if (!offsets_[layer].empty()) tensors.emplace_back(format("offset.{}", layer), offsets_[layer].get());
  return tensors;
}

void Centering::restore(const NamedTensors& tensors) {
  for (std::size_t layer = 0; layer < offsets_.size(); ++layer)
    offsets_[layer].restore(tensors.empty() ? at::Tensor()
                                            : find_tensor(tensors, format("offset.{}", layer), "centering"));
  if (!tensors.empty()) set_coefficients();
}

}  // namespace harmonium
