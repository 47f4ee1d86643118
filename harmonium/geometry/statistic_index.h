// Where every statistic stands: in the flat vector g of Moments::flatten(), and in u, the unary statistics alone.
//
// u holds the statistics of all layers, layer by layer; the rest of g are products of two of them, one matrix per edge.
#pragma once

#include "harmonium/core/moments.h"
#include "harmonium/core/topology.h"

namespace harmonium {

class StatisticIndex {
 public:
  StatisticIndex(const Topology& topology, const Moments& shape);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Moments& shape() const { return shape_; }
  // Numbers begin, begin + step, … below end (int64), where the moments are: places are looked up there.
  [[nodiscard]] at::Tensor range(std::int64_t begin, std::int64_t end, std::int64_t step = 1) const;
  [[nodiscard]] at::Tensor all_places() const { return range(0, dimension_); }
  // Of float64 tensors beside the moments.
  [[nodiscard]] at::TensorOptions precise() const;
  [[nodiscard]] std::int64_t dimension() const { return dimension_; }
  [[nodiscard]] std::int64_t unary_size() const { return unary_size_; }
  // Place in u of the first statistic (the bias's) of a layer, and how many the layer has.
  [[nodiscard]] std::int64_t unary_begin(std::size_t layer) const { return unary_begin_[layer]; }
  [[nodiscard]] std::int64_t unary_count(std::size_t layer) const {
    return unary_begin_[layer + 1] - unary_begin_[layer];
  }
  [[nodiscard]] std::int64_t width(std::size_t layer) const { return topology_.layers[layer].width; }
  // Place in g of every unary statistic, and of the first product of an edge (row-major from there).
  [[nodiscard]] const at::Tensor& unary_places() const { return unary_places_; }
  [[nodiscard]] std::int64_t edge_begin(std::size_t edge) const { return edge_begin_[edge]; }
  [[nodiscard]] std::int64_t edge_count(std::size_t edge) const;
  // Every statistic of g as a product of two columns of (1, u): dimension × 2 places, 0 standing for the constant.
  [[nodiscard]] at::Tensor factors() const;

  // The unary entries as one vector, and entries (views of it) from such a vector.
  [[nodiscard]] at::Tensor gather_unary(const Moments& moments) const;
  void insert_unary(Moments& target, const at::Tensor& unary) const;

 private:
  Topology topology_;
  Moments shape_;
  std::int64_t dimension_ = 0, unary_size_ = 0;
  std::vector<std::int64_t> unary_begin_, edge_begin_;
  at::Tensor unary_places_;
};

}  // namespace harmonium
