// Word counts (Salakhutdinov & Hinton 2009, "replicated softmax"): a document of D words over a vocabulary of K is D
// softmax units under one field, known by how often each word was chosen: x_k ≥ 0 with Σ x_k = D.
//
// How long a document is, is no part of the model: all is given D, which belongs to the row and never changes. So a
// field here has a column more than the layer, the last, which holds D (with_own_state() reads it off the present
// state):  E[x] = D·softmax(field), log-partition D·log Σ_k e^{field_k}. There are D!/∏ x_k! orders of words with the
// counts x; probabilities, entropies and potentials are those of one order, which is what perplexities are made of, so
// states are not enumerated.
//
// Hidden biases that scale with D need nothing of their own: D·a_j = Σ_k x_k a_j is a shift of all weights of hidden
// unit j. So with weights W + 1aᵀ and a bias of zero the field of unit j is D·a_j + Σ_k x_k W_kj; the bias that any
// layer has comes on top and does not scale.
#pragma once

#include "harmonium/units/unit.h"

namespace harmonium {

class Counts final : public Unit {
 public:
  using Unit::sample;
  using Unit::Unit;
  [[nodiscard]] std::string spec() const override;
  [[nodiscard]] Support support() const override { return Support::counts; }
  [[nodiscard]] std::optional<Activation> activation() const override { return Activation::softmax; }
  [[nodiscard]] bool wants_own_state() const override { return true; }
  [[nodiscard]] at::Tensor with_own_state(const at::Tensor& field, const at::Tensor& state) const override;
  [[nodiscard]] at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor sample(const Key& key, const at::Tensor& field, const Parameters& parameters) const override;
  // The most probable counts, all their orders together.
  [[nodiscard]] at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor entropy(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const override;
  [[nodiscard]] at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                  const at::Tensor& weights) const override;
  [[nodiscard]] Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const override;
  [[nodiscard]] std::string complaint(const at::Tensor& state) const override;

 private:
  // The two parts of a field: what words are chosen by, rows × K, and how many there are, rows × 1.
  struct Choice {
    at::Tensor field, length;
  };
  [[nodiscard]] Choice choice(const at::Tensor& field) const;
};

}  // namespace harmonium
