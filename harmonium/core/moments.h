// The common shape of parameters, expected statistics and gradients: named tensors with vector-space operations.
//
// A Boltzmann machine is an exponential family with natural parameters η and statistics g(x), so parameters η, moments
// s = E[g] and the gradient s_data − s_model all live here and "gradient = data − model" is the code. Entries are
// ordered; two Moments combine only when their names agree.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace harmonium {

class Moments {
 public:
  using Entry = std::pair<std::string, at::Tensor>;

  Moments() = default;
  Moments(std::initializer_list<Entry> entries) : entries_(entries) {}

  void insert(std::string name, at::Tensor value);
  [[nodiscard]] bool contains(std::string_view name) const;
  [[nodiscard]] const at::Tensor& operator[](std::string_view name) const;
  [[nodiscard]] at::Tensor& operator[](std::string_view name);
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // dim(g): the number of scalars in all tensors.
  [[nodiscard]] std::int64_t dimension() const;

  [[nodiscard]] Moments map(const std::function<at::Tensor(const at::Tensor&)>& f) const;
  [[nodiscard]] Moments clone() const;
  // In another precision, on another device, or both.
  [[nodiscard]] Moments to(const at::TensorOptions& options) const;
  [[nodiscard]] Moments zeros_like() const;

  // In place, so that a long run allocates nothing: this += scale * other; this += weight * (other − this).
  Moments& add_(const Moments& other, double scale = 1.0);
  // The same for an `other` that has only some of the entries.
  Moments& add_some_(const Moments& other, double scale);
  Moments& lerp_(const Moments& other, double weight);
  Moments& mul_(double factor);
  Moments& copy_(const Moments& other);

  // All entries in one vector, in order, and back (row-major within a tensor).
  [[nodiscard]] at::Tensor flatten() const;
  [[nodiscard]] Moments unflatten(const at::Tensor& flat) const;

 private:
  std::vector<Entry> entries_;
};

[[nodiscard]] Moments operator+(const Moments& a, const Moments& b);
[[nodiscard]] Moments operator-(const Moments& a, const Moments& b);
[[nodiscard]] Moments operator*(double factor, const Moments& a);
[[nodiscard]] double dot(const Moments& a, const Moments& b);
[[nodiscard]] double norm(const Moments& a);

}  // namespace harmonium
