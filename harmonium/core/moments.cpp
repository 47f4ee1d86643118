#include "harmonium/core/moments.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

const Moments::Entry* find(const std::vector<Moments::Entry>& entries, std::string_view name) {
  const auto it = std::ranges::find(entries, name, &Moments::Entry::first);
  return it == entries.end() ? nullptr : &*it;
}

std::string names(const std::vector<Moments::Entry>& entries) {
  std::string all;
  for (const auto& [name, value] : entries) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// Calls f(a_i, b_i) for every entry, after checking that both sides have the same names in the same order.
template <class F>
void zip(const std::vector<Moments::Entry>& a, const std::vector<Moments::Entry>& b, F f) {
  require(std::ranges::equal(a, b, {}, &Moments::Entry::first, &Moments::Entry::first),
          "moments of different machines do not combine: [{}] and [{}]", names(a), names(b));
  for (std::size_t i = 0; i < a.size(); ++i) {
    require(a[i].second.sizes() == b[i].second.sizes(), "moments of different shapes do not combine: '{}'", a[i].first);
    f(a[i].second, b[i].second);
  }
}

// Tensors that are worked on in pairs. On a device every operation is a launch, and a net may have a hundred small
// tensors: there, all pairs at once.
struct Pairs {
  std::vector<at::Tensor> a, b;
  [[nodiscard]] bool on_device() const { return !a.empty() && a.front().is_cuda(); }

  void add_(double scale) const {
    if (on_device()) return at::_foreach_add_(a, b, scale);
    for (std::size_t i = 0; i < a.size(); ++i) a[i].add_(b[i], scale);
  }
  void lerp_(double weight) const {
#if TORCH_VERSION_MAJOR >= 2
    if (on_device()) return at::_foreach_lerp_(a, b, weight);
#endif
    for (std::size_t i = 0; i < a.size(); ++i) a[i].lerp_(b[i], weight);
  }
};

Pairs pairs_of(const std::vector<Moments::Entry>& a, const std::vector<Moments::Entry>& b) {
  Pairs found;
  zip(a, b, [&](const at::Tensor& x, const at::Tensor& y) {
    found.a.push_back(x);
    found.b.push_back(y);
  });
  return found;
}

}  // namespace

void Moments::insert(std::string name, at::Tensor value) {
  require(!contains(name), "moments already have an entry named {}", name);
  entries_.emplace_back(std::move(name), std::move(value));
}

bool Moments::contains(std::string_view name) const { return find(entries_, name) != nullptr; }

const at::Tensor& Moments::operator[](std::string_view name) const {
  const Entry* entry = find(entries_, name);
  require(entry != nullptr, "no entry named {}; there are: {}", name, names(entries_));
  return entry->second;
}

at::Tensor& Moments::operator[](std::string_view name) { return const_cast<at::Tensor&>(std::as_const(*this)[name]); }

std::int64_t Moments::dimension() const {
  std::int64_t total = 0;
  for (const auto& [name, value] : entries_) total += value.numel();
  return total;
}

Moments Moments::map(const std::function<at::Tensor(const at::Tensor&)>& f) const {
  Moments result;
  for (const auto& [name, value] : entries_) result.entries_.emplace_back(name, f(value));
  return result;
}

Moments Moments::clone() const {
  return map([](const at::Tensor& x) { return x.clone(); });
}

Moments Moments::to(const at::TensorOptions& options) const {
  return map([&options](const at::Tensor& x) { return x.to(options); });
}

Moments Moments::zeros_like() const {
  return map([](const at::Tensor& x) { return at::zeros_like(x); });
}

Moments& Moments::add_(const Moments& other, double scale) {
  pairs_of(entries_, other.entries_).add_(scale);
  return *this;
}

Moments& Moments::add_some_(const Moments& other, double scale) {
  Pairs some;
  for (const auto& [name, value] : other.entries_) {
    some.a.push_back((*this)[name]);
    some.b.push_back(value);
  }
  some.add_(scale);
  return *this;
}

Moments& Moments::lerp_(const Moments& other, double weight) {
  pairs_of(entries_, other.entries_).lerp_(weight);
  return *this;
}

Moments& Moments::mul_(double factor) {
  for (auto& [name, value] : entries_) value.mul_(factor);
  return *this;
}

Moments& Moments::copy_(const Moments& other) {
  zip(entries_, other.entries_, [](at::Tensor a, const at::Tensor& b) { a.copy_(b); });
  return *this;
}

at::Tensor Moments::flatten() const {
  require(!entries_.empty(), "there is nothing to flatten: no entries");
  std::vector<at::Tensor> parts;
  for (const auto& [name, value] : entries_) parts.push_back(value.reshape({-1}));
  return at::cat(parts);
}

Moments Moments::unflatten(const at::Tensor& flat) const {
  require(flat.dim() == 1 && flat.numel() == dimension(), "unflatten: {} numbers for moments of dimension {}",
          flat.numel(), dimension());
  std::int64_t offset = 0;
  return map([&](const at::Tensor& x) {
    const at::Tensor part = flat.narrow(0, offset, x.numel()).reshape(x.sizes());
    offset += x.numel();
    return part;
  });
}

Moments operator+(const Moments& a, const Moments& b) { return a.clone().add_(b); }
Moments operator-(const Moments& a, const Moments& b) { return a.clone().add_(b, -1.0); }
Moments operator*(double factor, const Moments& a) { return a.clone().mul_(factor); }

double dot(const Moments& a, const Moments& b) {
  double total = 0;
  zip(a.entries(), b.entries(),
      [&](const at::Tensor& x, const at::Tensor& y) { total += (x * y).sum(at::kDouble).item<double>(); });
  return total;
}

double norm(const Moments& a) { return std::sqrt(dot(a, a)); }

}  // namespace harmonium
