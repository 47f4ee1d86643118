// The law of a layer of bits y given its parent, of which a net has made raw numbers; or of a layer without a parent,
// where raw is a bias. All kinds are normalized and drawn from exactly.
//
//   factorial        p(y_i = 1) = σ(raw_i)
//   autoregressive   p(y_i = 1 | y_1 … y_{i−1}) = σ(raw_i + Σ_{j<i} y_j U_ji): a fully visible belief net on top of the
//                    parent, as in deep autoregressive networks (Gregor, Danihelka, Mnih, Blundell & Wierstra 2014)
//   nade             σ(b_i + V_i·σ(c + Σ_{j<i} y_j W_j)) with raw = [b, c]: a NADE whose biases the parent decides
//                    (Bornschein & Bengio 2015; models/autoregressive/conditional_nade.h)
//
// Of N units, and H hidden ones of a NADE, log p of a row costs O(N²) or O(NH), and so does a draw, in N steps. Units
// have the order of their columns. Parameters are PREFIX + "earlier.weights" U (N × N, of which what lies above the
// diagonal counts), or "nade.encoder.weights" W and "nade.decoder.weights" V (N × H each).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/distributions/distribution.h"

namespace harmonium {

enum class LayerKind { factorial, autoregressive, nade };

struct LayerKindName {
  LayerKind kind;
  std::string name, help;
};
// All there are: help texts and messages read this table.
[[nodiscard]] const std::vector<LayerKindName>& layer_kinds();
[[nodiscard]] const std::string& to_string(LayerKind kind);
// `option` is what a message calls it.
[[nodiscard]] LayerKind parse_layer_kind(const std::string& text, const char* option);

class LayerLaw {
 public:
  // `values` are bits, unless the law is factorial. `hidden`: of a NADE, 0 for as many as there are values.
  LayerLaw(std::string prefix, LayerKind kind, std::shared_ptr<const Distribution> values, std::int64_t hidden);

  [[nodiscard]] LayerKind kind() const { return kind_; }
  [[nodiscard]] const Distribution& values() const { return *values_; }
  // Columns of raw. The first values().raw_width() of them are biases of the values.
  [[nodiscard]] std::int64_t raw_width() const { return values_->raw_width() + hidden_; }
  // Puts its own parameters, all zero, among others.
  void declare(Moments& parameters, at::ScalarType type) const;
  // Draws them afresh: U is zero, so that the law begins as a factorial one; W and V are uniform in ±√(6/(N + H)).
  void initialize(Moments& parameters, const Key& key) const;

  // log p(y | raw), float64. Leading dimensions of raw (… × raw width) are at most as many as those of y (… × N), and
  // both may broadcast. Differentiable in raw and the parameters.
  [[nodiscard]] at::Tensor log_prob(const Moments& parameters, const at::Tensor& y, const at::Tensor& raw) const;
  // The mean of every value given the parent and the values before it, … × N.
  [[nodiscard]] at::Tensor means(const Moments& parameters, const at::Tensor& y, const at::Tensor& raw) const;
  // A draw for every row of raw (rows × raw width), without a gradient; row r depends on (key, r) and its raw alone.
  [[nodiscard]] at::Tensor sample(const Moments& parameters, const Key& key, const at::Tensor& raw) const;
  // So many draws for every row, rows × draws × N, each by a key of its own. `raw`: rows × 1 × raw width for all draws,
  // or rows × draws × raw width.
  [[nodiscard]] at::Tensor sample(const Moments& parameters, const std::vector<Key>& keys, const at::Tensor& raw) const;
  // Every value at its mean given those before it at theirs: of a factorial law the means.
  [[nodiscard]] at::Tensor mean_walk(const Moments& parameters, const at::Tensor& raw) const;

 private:
  // Parameters of values_ for every value given those before it.
  [[nodiscard]] at::Tensor given_earlier(const Moments& parameters, const at::Tensor& y, const at::Tensor& raw) const;
  // Rows of bits, u (rows × N) below their probabilities; where u is undefined values are those probabilities.
  [[nodiscard]] at::Tensor walk(const Moments& parameters, const at::Tensor& raw, const at::Tensor& u) const;
  [[nodiscard]] at::Tensor nade_means(const Moments& parameters, const at::Tensor& raw) const;

  std::string prefix_;
  LayerKind kind_;
  std::shared_ptr<const Distribution> values_;
  std::int64_t hidden_ = 0;
};

}  // namespace harmonium
