// Orderless, deep NADE (Uria, Murray & Larochelle 2014): one net that gives the distribution of every variable given
// any set of others, and so an autoregressive model for each of the N! orders.
//
//   h_1 = f(c_1 + (x∘m) W + m U),   h_l = f(c_l + h_{l−1} W_l),   raw = b + h_L V,
//   p(x | o) = Π_k p(x_{o(k)} | raw of the net that is shown the variables o(1) … o(k−1)),
//
// m is 1 where a variable is shown. Training draws d uniformly from 0 … N−1 and d variables to show; with
//
//   N/(N − d) · Σ_{i not shown} log p(x_i | x_m, m)
//
// the mean over d and sets is that of log p(x | o) over orders: unbiased, one pass for a row.
//
// With k > 1 refinements (NADE-k; Raiko, Yao, Cho & Bengio 2014) hidden variables are not left dark: k times in turn
// the net is given, in their place, the means that it has just put out, and weights are the same every time:
//
//   u^t = x∘m + v^{t−1}∘(1 − m),   raw^t = the net above of u^t and m,   v^t = mean(raw^t),   p by raw^k
//
// v⁰ is learnt, from the means of the data on. Training climbs the mean over t of the estimates by raw^t.
//
// The model is the ensemble p(x) = (1/M) Σ_o p(x | o) of M orders that a seed names: exact for these orders, and no
// less, in the mean over seeds of orders, than log p of any one of them. A row costs N steps for each order; the first
// layer adds one variable a step, deeper layers are whole products. With refinements a step is k whole passes.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "harmonium/models/autoregressive/masked_net.h"

namespace harmonium {

struct OrderlessNadeStructure {
  std::string visible = "bernoulli:784";          // what make_distribution() reads; no shared columns
  std::vector<std::int64_t> hidden = {500, 500};  // at least one
  Activation activation = Activation::relu;
  std::int64_t refinements = 1;
  std::int64_t orders = 8;  // of the ensemble
  std::uint64_t seed = 0;   // that names them
};

class OrderlessNade {
 public:
  // Parameters are zero.
  explicit OrderlessNade(OrderlessNadeStructure structure, at::ScalarType type = at::kFloat);

  [[nodiscard]] const OrderlessNadeStructure& structure() const { return structure_; }
  [[nodiscard]] const Distribution& visible() const { return *visible_; }
  // Order number `number` of the ensemble, of which the first M are the same for every M. Variables (N), int64.
  [[nodiscard]] at::Tensor order(std::int64_t number) const;

  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  [[nodiscard]] OrderlessNade with_parameters(Moments parameters) const;
  [[nodiscard]] OrderlessNade to(const at::TensorOptions& options) const;

  // What the net puts out for every variable where it is shown those with `shown` = 1 (rows × N), after all
  // refinements. Differentiable.
  [[nodiscard]] at::Tensor raw(const Moments& parameters, const at::Tensor& rows, const at::Tensor& shown) const;
  // Sets of variables to show, rows × N: `number` of them for every row, taken from equal parts of the sizes 0 … N−1,
  // so that the mean over sets is still unbiased and its noise less. Set s of row i stands in row i·number + s.
  [[nodiscard]] at::Tensor draw_shown(const Key& key, std::int64_t rows, std::int64_t number,
                                      const at::TensorOptions& options) const;
  // The estimate above for every row, float64: its mean over sets is that of log p(x | o) over all orders.
  // Differentiable.
  [[nodiscard]] at::Tensor log_prob_estimate(const Moments& parameters, const at::Tensor& rows,
                                             const at::Tensor& shown) const;

  // log p(x | o) for one order: exact, float64. Rows × N are its terms, by variable.
  [[nodiscard]] at::Tensor log_conditionals(const at::Tensor& rows, const at::Tensor& order) const;
  // Raw columns of every variable given those before it in the order, rows × raw columns.
  [[nodiscard]] at::Tensor ordered_raw(const at::Tensor& rows, const at::Tensor& order) const;
  // log p(x) of the ensemble of so many orders (0: the model's own number). `done` is told orders × rows done.
  [[nodiscard]] at::Tensor log_probabilities(
      const at::Tensor& rows, std::int64_t orders = 0,
      const std::function<void(std::int64_t done, std::int64_t total)>& done = {}) const;

  // Independent draws, each by one of the model's orders.
  [[nodiscard]] OrderedDraw sample(const Key& key, std::int64_t count) const;
  // Draws what is free in each row (NaN) given all the rest, along a random order that begins with what is known.
  [[nodiscard]] OrderedDraw complete(const Key& key, const at::Tensor& known) const;

 private:
  // The same after each refinement.
  [[nodiscard]] std::vector<at::Tensor> refined(const Moments& parameters, const at::Tensor& rows,
                                                const at::Tensor& shown) const;
  // What a step of a walk does with the variables `which` (one for all rows, or one for each): it is given their raw
  // columns, rows × raw columns of a variable, and answers with their values.
  using Visit = std::function<at::Tensor(std::int64_t step, const at::Tensor& which, const at::Tensor& raw)>;
  // Shows one variable after the other along orders: 1 × N, or rows × N.
  void walk(std::int64_t rows, const at::Tensor& orders, const Visit& visit) const;
  // The same with refinements, whose every step is whole passes.
  void walk_by_passes(std::int64_t rows, const at::Tensor& orders, const Visit& visit) const;
  [[nodiscard]] OrderedDraw draw_along(const Key& key, const at::Tensor& known, const at::Tensor& orders) const;
  [[nodiscard]] at::TensorOptions options() const;

  OrderlessNadeStructure structure_;
  std::shared_ptr<const Distribution> visible_, one_;
  at::Tensor value_columns_, raw_columns_;  // variables × columns of each, int64, where the parameters are
  Moments parameters_;
};

// As a MaskedNet begins (masked_net.h).
void initialize(OrderlessNade& net, const Key& key, const at::Tensor& data_means);

}  // namespace harmonium
