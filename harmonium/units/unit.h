// A layer of units of one exponential-family type, seen through its field.
//
// A layer contributes  θ·t(x)  to −E, with t(x) = (x, …) its statistics and θ = (bias, …) its natural parameters. The
// neighbours only add to the bias, so everything a model asks of a layer is a function of the total
//   field = bias + Σ_edges (weights × neighbour's state),   rows × width.
// A new unit type is one short file that answers the questions below; it then works in every model and algorithm.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/kernels/coded_table.h"
#include "harmonium/nets/activation.h"

namespace harmonium {

class Unit {
 public:
  // The layer's natural parameters, in the order of parameter_names().
  using Parameters = std::vector<at::Tensor>;

  explicit Unit(std::int64_t width) : width_(width) {}
  virtual ~Unit() = default;

  [[nodiscard]] std::int64_t width() const { return width_; }
  // "bernoulli:784": what make_unit() reads.
  [[nodiscard]] virtual std::string spec() const = 0;
  // Which values a unit can have; means of bits lie between 0 and 1. Units of bits whose only statistic is x itself are
  // on with probability σ(field), so this says all about them.
  // Linked bits are 0 or 1 as well, but depend on each other given the field.
  enum class Support { bits, halves, one_hot, reals, counts, linked_bits, naturals, nonnegative };
  [[nodiscard]] virtual Support support() const = 0;
  // How many classes the layer chooses one of, where it is a label's: one one-hot group. Else 0.
  [[nodiscard]] virtual std::int64_t classes() const { return 0; }
  // "bias" first; further entries are parameters of statistics beyond x itself.
  [[nodiscard]] virtual std::vector<std::string> parameter_names() const { return {"bias"}; }
  // Parameters of a layer that knows nothing: zero bias, unit precision.
  [[nodiscard]] virtual Parameters neutral_parameters(at::ScalarType type) const;

  // Whether p(x | field) depends on something that belongs to a row and never changes, such as the length of a
  // document. It is read off the layer's present state and becomes part of the field, which has columns for it.
  [[nodiscard]] virtual bool wants_own_state() const { return false; }
  [[nodiscard]] virtual at::Tensor with_own_state(const at::Tensor& field, const at::Tensor&) const { return field; }

  // E[x | field] and a draw from p(x | field), rows × width.
  [[nodiscard]] virtual at::Tensor mean(const at::Tensor& field, const Parameters& parameters) const = 0;
  [[nodiscard]] virtual at::Tensor sample(const Key& key, const at::Tensor& field,
                                          const Parameters& parameters) const = 0;
  // E[x | field] as a layer of a feed-forward net computes it, activation(field / divisor); nothing where none does.
  // The divisor (width) is undefined where there is nothing to divide by.
  [[nodiscard]] virtual std::optional<Activation> activation() const { return std::nullopt; }
  [[nodiscard]] virtual at::Tensor activation_divisor(const Parameters&) const { return {}; }
  // The field start + neighbour·weights, not multiplied yet. `start` is a row or a table.
  struct ProductField {
    const at::Tensor& start;
    const CodedTable& neighbour;
    const at::Tensor& weights;
    [[nodiscard]] at::Tensor total() const;
  };
  // A draw given such a field, the same as given its total; that is written to `total` where one is given.
  [[nodiscard]] virtual CodedTable sample(const Key& key, const ProductField& field, const Parameters& parameters,
                                          at::Tensor* total) const;
  // The most probable x given the field, rows × width: what deterministic samplers take in place of a draw. Of equal
  // ones, the same always.
  [[nodiscard]] virtual at::Tensor mode(const at::Tensor& field, const Parameters& parameters) const = 0;
  // The field bias + scale·input of a layer, not added up, and its parameters: what annealing walks along.
  struct AnnealedField {
    const at::Tensor& input;
    double scale;
    const Parameters& parameters;
    [[nodiscard]] at::Tensor total() const { return parameters[0].add(input, scale); }
  };
  // A draw given such a field.
  [[nodiscard]] virtual at::Tensor sample(const Key& key, const AnnealedField& field) const;
  // The same for the field after a step; adds log_partition(after) − log_partition(before) to each row's log_weight.
  [[nodiscard]] virtual at::Tensor anneal(const Key& key, const AnnealedField& before, const AnnealedField& after,
                                          at::Tensor& log_weights) const;
  // log Σ_x exp(field·x + …) of each row, float64.
  [[nodiscard]] virtual at::Tensor log_partition(const at::Tensor& field, const Parameters& parameters) const = 0;
  // log_partition of the field first_a + second_b for every row a of one and b of the other: what walking through all
  // states is made of.
  [[nodiscard]] virtual at::Tensor pair_log_partitions(const at::Tensor& first, const at::Tensor& second,
                                                       const Parameters& parameters) const;
  // Entropy of p(x | field) of each row in nats, float64: −E[log p(x | field)], with p relative to log_measure() (and
  // differential for continuous units).
  [[nodiscard]] virtual at::Tensor entropy(const at::Tensor& field, const Parameters& parameters) const;
  // θ·t(x) of each row, float64: linear in the parameters, so those may be a difference of two.
  [[nodiscard]] virtual at::Tensor log_potential(const at::Tensor& state, const Parameters& parameters) const;
  // log of what a value counts for beside its potential (float64, rows), such as −log x! of Poisson units; undefined
  // where all values count alike.
  [[nodiscard]] virtual at::Tensor log_measure(const at::Tensor&) const { return {}; }
  // Both: what a layer with these values adds to −E.
  [[nodiscard]] at::Tensor log_factor(const at::Tensor& state, const Parameters& parameters) const;

  // t(x) of each row, one tensor (rows × width) per parameter, and E[t(x) | field].
  [[nodiscard]] virtual std::vector<at::Tensor> statistics(const at::Tensor& state) const;
  [[nodiscard]] virtual std::vector<at::Tensor> expected_statistics(const at::Tensor& field,
                                                                    const Parameters& parameters) const;
  // E[x² | field], rows × width.
  [[nodiscard]] virtual at::Tensor expected_square(const at::Tensor& field, const Parameters& parameters) const;
  // Σ_rows weight·Cov(t(x) | field), square over all statistics of the layer in the order of its parameters. Weights
  // (rows) need not sum to one; undefined means the plain average.
  [[nodiscard]] virtual at::Tensor conditional_covariance(const at::Tensor& field, const Parameters& parameters,
                                                          const at::Tensor& weights) const = 0;
  // True when values are 0 or 1, so that x² = x.
  [[nodiscard]] virtual bool indicator() const { return false; }

  // Σ_rows weight·t(x), one tensor per parameter; weights (rows) sum to one, undefined means the plain average.
  [[nodiscard]] std::vector<at::Tensor> moments(const at::Tensor& state, const at::Tensor& weights) const;
  // The same for E[t(x) | field].
  [[nodiscard]] std::vector<at::Tensor> expected_moments(const at::Tensor& field, const Parameters& parameters,
                                                         const at::Tensor& weights) const;
  // The parameters under which independent units have these moments; `smoothing` keeps probabilities off 0 and 1.
  [[nodiscard]] virtual Parameters parameters_of(const std::vector<at::Tensor>& moments, double smoothing) const = 0;
  // Puts parameters that a step has carried out of their domain back to its edge.
  virtual void constrain_(Parameters& parameters) const;
  // How fast the log-partition grows with the field x: κ = lim 2·log_partition(x) / x² of each unit (width), which
  // decides whether Z is finite (models/definiteness.h). Undefined where it grows no faster than linearly.
  [[nodiscard]] virtual at::Tensor growth(const Parameters&) const { return {}; }
  // The units whose draws these only approximate, with the same parameters: what is judged and sampled. Null for units
  // that are drawn exactly.
  [[nodiscard]] virtual std::shared_ptr<const Unit> stands_for() const { return nullptr; }

  // How many states the layer has, if finitely many (as a double: 2^784 fits), and states by number.
  [[nodiscard]] virtual std::optional<double> state_count() const { return std::nullopt; }
  [[nodiscard]] virtual at::Tensor states(const at::Tensor& numbers, at::ScalarType type) const;
  // A state's number has one digit per independent part of the layer, the first part's being the fastest: how many
  // values such a part takes and how many columns it has.
  struct Digit {
    std::int64_t values = 2, columns = 1;
  };
  [[nodiscard]] virtual Digit digit() const { return {}; }
  // All values of one part, values × columns: state number d of a layer that has this part alone.
  [[nodiscard]] at::Tensor part_values(at::ScalarType type) const;
  // Continuous units: places start + k·step (0 ≤ k ≤ steps), one column each, over which sums of step·p(x | field) are
  // integrals, up to 10⁻⁸, for every field between `low` and `high` (width). Nothing for other units.
  struct Grid {
    at::Tensor start, step;
    std::int64_t steps = 0;
  };
  [[nodiscard]] virtual std::optional<Grid> grid(const at::Tensor& low, const at::Tensor& high,
                                                 const Parameters& parameters) const;
  // Empty when rows of `state` are possible values of the layer (or means of them), else what is wrong with the first
  // bad one.
  [[nodiscard]] virtual std::string complaint(const at::Tensor& state) const = 0;

 private:
  std::int64_t width_;
};

// Weighted average of rows; undefined weights mean the plain average.
[[nodiscard]] at::Tensor average_rows(const at::Tensor& rows, const at::Tensor& weights);

// "bernoulli:784", "softmax:20x21": by the table in units/unit_types.h.
[[nodiscard]] std::shared_ptr<const Unit> make_unit(const std::string& spec);

}  // namespace harmonium
