#include "harmonium/geometry/block_diagonal.h"

#include "harmonium/core/error.h"
#include "harmonium/geometry/damped_cholesky.h"

namespace harmonium {

namespace {

constexpr double most_bytes = 4.0 * (1 << 30);

}  // namespace

BlockDiagonal::BlockDiagonal(const Topology& topology, const Moments& shape, const MetricOptions& options)
    : index_(topology, shape), options_(options) {
  double elements = 0;
  for (std::size_t layer = 0; layer < topology.layers.size(); ++layer) {
    std::vector<std::size_t> entering;
    for (std::size_t edge = 0; edge < topology.edges.size(); ++edge)
      if (topology.edges[edge].upper == layer) entering.push_back(edge);
    const std::int64_t width = index_.width(layer);
    const at::Tensor unary =
        index_.unary_places().narrow(0, index_.unary_begin(layer), index_.unary_count(layer)).view({-1, width});
    if (entering.empty()) {
      blocks_.push_back({.places = unary.reshape(-1), .covariance = {}, .factor = {}});
      continue;
    }
    for (std::int64_t unit = 0; unit < width; ++unit) {
      std::vector<at::Tensor> places = {unary.select(1, unit)};
      for (const std::size_t edge : entering) {
        const std::int64_t begin = index_.edge_begin(edge) + unit;
        places.push_back(index_.range(begin, begin + index_.edge_count(edge) - unit, width));
      }
      blocks_.push_back({.places = at::cat(places), .covariance = {}, .factor = {}});
    }
  }
  for (const Block& block : blocks_) elements += 2.0 * static_cast<double>(block.places.size(0) * block.places.size(0));
  const double bytes = elements * static_cast<double>(shape.entries().front().second.element_size());
  require(bytes <= most_bytes,
          "block_diagonal needs {:.1f} GiB for its {} blocks, more than its limit of {:.0f} GiB; fang needs a "
          "fraction of that",
          bytes / (1 << 30), blocks_.size(), most_bytes / (1 << 30));
}

void BlockDiagonal::observe(const Observation& observation) {
  require(observation.statistics != nullptr,
          "block_diagonal needs the distribution of the statistics, and none was given");
  const double weight = observation_weight(options_.statistics_every, options_.time_scale);
  for (Block& block : blocks_) block.covariance.observe(observation.statistics->covariance(block.places), weight);
}

void BlockDiagonal::refit() {
  for (Block& block : blocks_) {
    DampedFactor result = damped_cholesky(block.covariance.get(), options_.damping, "block_diagonal: a block");
    block.factor = std::move(result.factor);
    if (!result.note.empty()) note(std::move(result.note));
  }
}

Direction BlockDiagonal::solve(const Moments& gradient) const {
  const at::Tensor flat = gradient.flatten();
  at::Tensor solved = at::empty_like(flat);
  for (const Block& block : blocks_)
    solved.index_copy_(0, block.places,
                       at::cholesky_solve(flat.index_select(0, block.places).unsqueeze(1), block.factor).squeeze(1));
  return without_split(index_.topology(), gradient.unflatten(solved));
}

at::Tensor BlockDiagonal::to_dense() const {
  at::Tensor dense = at::zeros({index_.dimension(), index_.dimension()}, index_.precise());
  for (const Block& block : blocks_) {
    const at::Tensor factor = block.factor.to(at::kDouble);
    const at::Tensor cells = block.places.unsqueeze(1) * index_.dimension() + block.places.unsqueeze(0);
    dense.view(-1).index_copy_(0, cells.reshape(-1), factor.mm(factor.t()).reshape(-1));
  }
  return dense;
}

double BlockDiagonal::log_det() const {
  double total = 0;
  for (const Block& block : blocks_) total += 2 * block.factor.diagonal().to(at::kDouble).log().sum().item<double>();
  return total;
}

std::int64_t BlockDiagonal::parameter_count() const {
  std::int64_t total = 0;
  for (const Block& block : blocks_) total += block.places.size(0) * (block.places.size(0) + 1) / 2;
  return total;
}

NamedTensors BlockDiagonal::state() const {
  NamedTensors tensors;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (blocks_[i].covariance.empty()) continue;
    tensors.emplace_back(format("covariance.{}", i), blocks_[i].covariance.get());
    tensors.emplace_back(format("factor.{}", i), blocks_[i].factor);
  }
  return tensors;
}

void BlockDiagonal::restore(const NamedTensors& tensors) {
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const bool empty = tensors.empty();
    blocks_[i].covariance.restore(empty ? at::Tensor()
                                        : find_tensor(tensors, format("covariance.{}", i), "block_diagonal"));
    blocks_[i].factor = empty ? at::Tensor() : find_tensor(tensors, format("factor.{}", i), "block_diagonal").clone();
  }
}

}  // namespace harmonium
