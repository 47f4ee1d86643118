// The neural autoregressive distribution estimator (Larochelle & Murray 2011): a distribution of binary rows whose
// log p(x) is exact, one input after the other in a fixed order.
//
//   log p(x) = Σ_k log p(x_{o(k)} | x_{o(0)} … x_{o(k−1)}),   p(x_i = 1 | those before) = σ(z_i),
//   z_i = b_i + V_i·h_i,   h_i = σ(c + Σ_{j before i} x_j W_j),
//
// N inputs, H hidden units; W and V are N × H, a row for each input, c has H and b has N numbers. Inputs share W, so
// all conditionals together cost O(N·H) a row. The order o is part of the model: the same parameters in another order
// are another distribution. W of the last input in order has no effect, and its gradient is zero.
//
// Parameters are "hidden.bias" c, "encoder.weights" W, "output.bias" b and "decoder.weights" V in one Moments, rows by
// column of the data, never by place in the order.
//
// Values of a row lie in [0, 1]. Of gray ones "log p" is Σ x z − log(1 + e^z) with the gray values as inputs: minus a
// cross-entropy, and no probability.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"
#include "harmonium/core/topology.h"
#include "harmonium/kernels/nade_loop.h"

namespace harmonium {

struct LogLikelihoodGradient {
  at::Tensor log_likelihood;  // mean over rows (float64): one number, where the net is, so nobody waits for a device
  Moments gradient;           // of that, shaped like the parameters
};

class Nade {
 public:
  // order[k] is the column that comes as the k-th; left out, columns come as they are. Parameters are zero.
  Nade(std::int64_t inputs, std::int64_t hidden, std::vector<std::int64_t> order = {},
       at::ScalarType type = at::kFloat);

  [[nodiscard]] std::int64_t inputs() const { return inputs_; }
  [[nodiscard]] std::int64_t hidden() const { return hidden_; }
  [[nodiscard]] const std::vector<std::int64_t>& order() const { return order_; }
  // As step rules see it: inputs, outputs and hidden units.
  [[nodiscard]] Topology topology() const;

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same net under other parameters (shared, not copied). Fails where names or shapes are others.
  [[nodiscard]] Nade with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] Nade to(const at::TensorOptions& options) const;

  // Rows may be of another type or on another device than the net: they are converted.

  // log p(x) of every row: exact, float64.
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const;
  // Its terms, rows × N, float64: column i is log p(x_i | inputs before i in order).
  [[nodiscard]] at::Tensor log_conditionals(const at::Tensor& rows) const;
  // p(x_i = 1 | inputs before i in order), rows × N.
  [[nodiscard]] at::Tensor conditional_means(const at::Tensor& rows) const;
  // The mean of log p over rows, and its gradient. Exact; O(rows·N·H) time, O(rows·(N + H)) memory.
  [[nodiscard]] LogLikelihoodGradient log_likelihood_gradient(const at::Tensor& rows) const;

  // Independent draws, count × N. Row r depends on (key, r) alone.
  [[nodiscard]] at::Tensor sample(const Key& key, std::int64_t count) const;
  // Draws the other columns of each row from their exact distribution given the known ones. `known` has N entries, not
  // zero where a column is known; these must come before all others in the order, else it fails.
  [[nodiscard]] at::Tensor sample_given(const Key& key, const at::Tensor& rows, const at::Tensor& known) const;

 private:
  // The parameters, rows in order; the tensors themselves where the order is that of the columns.
  [[nodiscard]] NadeTensors in_order() const;
  [[nodiscard]] at::Tensor to_order(const at::Tensor& rows) const;
  [[nodiscard]] at::Tensor to_columns(const at::Tensor& in_order) const;
  // Columns of the data as inputs of the net: of its type, where it is. Fails for rows of another width.
  [[nodiscard]] at::Tensor fitting(const at::Tensor& rows) const;
  [[nodiscard]] at::Tensor logits(const at::Tensor& rows) const;

  std::int64_t inputs_, hidden_;
  std::vector<std::int64_t> order_;
  at::Tensor places_, columns_;  // order_ and its inverse as indices; undefined where nothing changes places
  Moments parameters_;
};

// Weights uniform in ±√(6/(N + H)) (Glorot & Bengio 2010), hidden biases zero, output biases at the log-odds of the
// data's column means (N), clipped to [0.001, 0.999]: at first each column has the frequency of the data.
void initialize(Nade& nade, const Key& key, const at::Tensor& means);

// "raster": columns as they are; "random:SEED": an order drawn from that seed, the same everywhere.
[[nodiscard]] std::vector<std::int64_t> parse_order(const std::string& text, std::int64_t inputs);

}  // namespace harmonium
