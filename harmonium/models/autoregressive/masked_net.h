// Masked autoencoders (MADE; Germain, Gregor, Murray & Larochelle 2015) and fully visible belief nets: a net whose
// output for a variable sees only variables before it in an order, so that one pass gives every conditional.
//
//   log p(x) = Σ_i log p(x_i | raw_i),   raw = b + h_L (V∘M_V) + x (D∘M_D),   h_l = f(c_l + h_{l−1} (W_l∘M_l)),  h_0 =
//   x
//
// Every unit has a degree. That of a column of x is the place 1 … N of its variable in the order, that of a hidden unit
// lies between the least degree below it and N − 1. Hidden unit k may see unit j below where degree(k) ≥ degree(j),
// an output where place > degree(j): a path from x_j to raw_i exists only if j comes before i. Without hidden layers
// and with D alone the net is a fully visible belief net, of logistic regressions where x is binary (Frey 1998), of
// linear ones where it is real.
//
// In groups, one hidden layer has as many units of every degree 1 … N − 1: group g sees the variables up to number g by
// weights of its own, an output the groups before it (Bengio & Bengio 2000). It has O(N²·H) weights for groups of H
// units. They are stored densely, zeros of the masks included, which doubles them.
//
// With several masks the model is the mixture p(x) = (1/n) Σ_s p_s(x) of nets that share all weights and differ in the
// order (where that is random) and in the degrees. Training climbs the mean of log p_s, a lower bound of log p.
//
// Cost: all conditionals of a row are one pass. So are all steps of a draw together: the hidden units of degree t are
// computed once, when t variables are known.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"
#include "harmonium/distributions/distribution.h"
#include "harmonium/models/autoregressive/ordered_draw.h"
#include "harmonium/nets/activation.h"

namespace harmonium {

struct MaskedNetStructure {
  std::string visible = "bernoulli:784";     // what make_distribution() reads; no shared columns
  std::vector<std::int64_t> hidden = {500};  // may be empty
  Activation activation = Activation::relu;
  bool direct = true;            // weights from inputs to outputs
  bool constant_spread = false;  // gaussian: direct weights for means alone, so that deviations are parameters
  std::int64_t masks = 1;
  std::string order = "raster";  // or "random:SEED", an order of its own for every mask
  std::int64_t group = 0;        // units of every degree in one hidden layer, in place of `hidden`; one mask
  std::uint64_t seed = 0;        // of the degrees where there are several masks; one mask has them spread evenly
};

class MaskedNet {
 public:
  // Parameters are zero.
  explicit MaskedNet(MaskedNetStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const MaskedNetStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  [[nodiscard]] std::int64_t masks() const { return structure_.masks; }
  // Variables in the order of mask `mask`.
  [[nodiscard]] std::vector<std::int64_t> order(std::int64_t mask) const;

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same net under other parameters (shared, not copied).
  [[nodiscard]] MaskedNet with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] MaskedNet to(const at::TensorOptions& options) const;

  // Weights of the first hidden layer as a mask leaves them, columns of a row × units.
  [[nodiscard]] at::Tensor filters(std::int64_t mask) const;
  // What the net puts out for every variable, rows × raw columns. Differentiable.
  [[nodiscard]] at::Tensor raw(const Moments& parameters, const at::Tensor& rows, std::int64_t mask) const;
  // log p_s(x), rows, float64. Differentiable.
  [[nodiscard]] at::Tensor log_prob(const Moments& parameters, const at::Tensor& rows, std::int64_t mask) const;
  // log p(x) of the mixture under its own parameters: exact, float64. Rows may be anywhere.
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const;

  // Independent draws, each by a mask of its own.
  [[nodiscard]] OrderedDraw sample(const Key& key, std::int64_t count) const;
  // Draws variables from their exact distribution given the known ones, which must come before all others in the order:
  // else, or with several masks, it fails. `known`: rows × columns, NaN where a variable is free.
  [[nodiscard]] OrderedDraw complete(const Key& key, const at::Tensor& known) const;

 private:
  // Of one mask: int64, where the parameters are.
  struct Degrees {
    at::Tensor inputs, outputs;  // places of columns of a row, and of raw
    std::vector<at::Tensor> hidden;
  };
  [[nodiscard]] Degrees degrees_of(std::int64_t mask) const;
  // Draws what comes at place `first` and later.
  [[nodiscard]] OrderedDraw walk(const Key& key, const at::Tensor& rows, std::int64_t mask, std::int64_t first) const;

  MaskedNetStructure structure_;
  std::shared_ptr<const Distribution> visible_, one_;
  std::vector<Degrees> degrees_;  // of every mask
  Moments parameters_;
};

// Weights between layers uniform in ±√(6/(inputs + outputs)), direct weights and biases zero, output biases so that the
// means are those of the data (visible columns).
void initialize(MaskedNet& net, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
