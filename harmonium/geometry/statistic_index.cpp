#include "harmonium/geometry/statistic_index.h"

#include <map>

namespace harmonium {

StatisticIndex::StatisticIndex(const Topology& topology, const Moments& shape) : topology_(topology), shape_(shape) {
  std::map<std::string, std::int64_t> begin;
  for (const auto& [name, value] : shape.entries()) {
    begin[name] = dimension_;
    dimension_ += value.numel();
  }
  std::vector<at::Tensor> places;
  for (const LayerInfo& layer : topology.layers) {
    unary_begin_.push_back(unary_size_);
    for (const std::string& name : layer.parameters) {
      places.push_back(range(begin.at(name), begin.at(name) + layer.width));
      unary_size_ += layer.width;
    }
  }
  unary_begin_.push_back(unary_size_);
  unary_places_ = at::cat(places);
  for (const EdgeInfo& edge : topology.edges) edge_begin_.push_back(begin.at(edge.weights));
}

at::TensorOptions StatisticIndex::precise() const {
  return shape_.empty() ? at::TensorOptions(at::kDouble) : shape_.entries().front().second.options().dtype(at::kDouble);
}

at::Tensor StatisticIndex::range(std::int64_t begin, std::int64_t end, std::int64_t step) const {
  return at::arange(begin, end, step, precise().dtype(at::kLong));
}

std::int64_t StatisticIndex::edge_count(std::size_t edge) const {
  return width(topology_.edges[edge].lower) * width(topology_.edges[edge].upper);
}

at::Tensor StatisticIndex::factors() const {
  at::Tensor result = at::zeros({dimension_, 2}, precise().dtype(at::kLong));
  result.select(1, 0).index_copy_(0, unary_places_, range(1, unary_size_ + 1));
  for (std::size_t edge = 0; edge < topology_.edges.size(); ++edge) {
    const EdgeInfo& one = topology_.edges[edge];
    const std::int64_t rows = width(one.lower), columns = width(one.upper);
    const at::Tensor lower = range(0, rows) + unary_begin_[one.lower] + 1;
    const at::Tensor upper = range(0, columns) + unary_begin_[one.upper] + 1;
    const at::Tensor target = result.narrow(0, edge_begin_[edge], rows * columns);
    target.select(1, 0).copy_(lower.unsqueeze(1).expand({rows, columns}).reshape(-1));
    target.select(1, 1).copy_(upper.unsqueeze(0).expand({rows, columns}).reshape(-1));
  }
  return result;
}

at::Tensor StatisticIndex::gather_unary(const Moments& moments) const {
  std::vector<at::Tensor> parts;
  for (const LayerInfo& layer : topology_.layers)
    for (const std::string& name : layer.parameters) parts.push_back(moments[name]);
  return parts.size() == 1 ? parts.front() : at::cat(parts);
}

void StatisticIndex::insert_unary(Moments& target, const at::Tensor& unary) const {
  std::int64_t begin = 0;
  for (const LayerInfo& layer : topology_.layers)
    for (const std::string& name : layer.parameters) {
      target.insert(name, unary.narrow(0, begin, layer.width));
      begin += layer.width;
    }
}

}  // namespace harmonium
