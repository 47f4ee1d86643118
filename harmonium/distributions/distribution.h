// The distribution of one row of values given what a net puts out for it, p(y | raw).
//
// A directed net ends in `raw`, … × raw_width real numbers without any constraint (logits; a mean and a log standard
// deviation), and everything else a model asks is answered here. Values are … × width; any number of leading dimensions
// (rows, or rows × draws) is taken, and those of `value` and `raw` may broadcast. Everything but sample() is
// differentiable in `value` and `raw`. A new distribution is one short file and a line in distribution_types().
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/core/key.h"

namespace harmonium {

class Distribution {
 public:
  explicit Distribution(std::int64_t width);
  virtual ~Distribution() = default;

  [[nodiscard]] std::int64_t width() const { return width_; }
  // "bernoulli:784": what make_distribution() reads.
  [[nodiscard]] virtual std::string spec() const = 0;
  // A unit type (units/unit_types.h) with the same values, for those who only look at data: "bernoulli:784".
  [[nodiscard]] virtual std::string unit_spec() const = 0;
  [[nodiscard]] virtual std::int64_t raw_width() const = 0;
  // How many columns of raw, the last, are the same in every row: parameters of the model, not outputs of a net.
  [[nodiscard]] virtual std::int64_t shared_width() const { return 0; }

  // Independent variables given raw: a column of values each, or a group of columns (one-hot).
  [[nodiscard]] virtual std::int64_t variables() const { return width(); }
  // The variable that each column of a value belongs to (width numbers), and each column of raw (raw_width; shared
  // columns belong to none, −1).
  [[nodiscard]] std::vector<std::int64_t> value_variables() const;
  [[nodiscard]] virtual std::vector<std::int64_t> raw_variables() const = 0;
  // The same distribution of a single variable: what an autoregressive net draws from, one variable after the other.
  [[nodiscard]] virtual std::shared_ptr<const Distribution> of_one_variable() const = 0;

  // log p of every variable, … × variables.
  [[nodiscard]] virtual at::Tensor log_prob_each(const at::Tensor& value, const at::Tensor& raw) const = 0;
  // log p(value | raw), summed over variables in float64: likelihoods are differences of such sums.
  [[nodiscard]] at::Tensor log_prob(const at::Tensor& value, const at::Tensor& raw) const;
  // A draw, without a gradient. Element i of the result depends on (key, i) and its raw alone.
  [[nodiscard]] virtual at::Tensor sample(const Key& key, const at::Tensor& raw) const = 0;
  // A draw y = g(ε; raw) with ε from the key alone, differentiable in raw: ∇ E f(y) = E ∇ f(g(ε; raw)), unbiased.
  [[nodiscard]] virtual bool reparametrizable() const { return false; }
  [[nodiscard]] virtual at::Tensor reparametrized(const Key& key, const at::Tensor& raw) const;  // else fails
  [[nodiscard]] virtual at::Tensor mean(const at::Tensor& raw) const = 0;
  // KL(p(· | raw) ‖ p(· | other)) of every column, where it has a closed form.
  [[nodiscard]] virtual std::optional<at::Tensor> kl(const at::Tensor& raw, const at::Tensor& other) const;
  // Columns of raw that a net puts out (without the shared ones) such that the mean is near `means` (width); kept away
  // from the edge of what is possible.
  [[nodiscard]] virtual at::Tensor raw_of_means(const at::Tensor& means) const = 0;

  // Empty when rows of `value` are possible values (or means of them), else what is wrong with the first bad one.
  [[nodiscard]] virtual std::string complaint(const at::Tensor& value) const = 0;
  // Empty when data may be modelled by it; else why not, and what to take instead.
  [[nodiscard]] virtual std::string complaint_as_output() const { return {}; }

 private:
  std::int64_t width_;
};

struct DistributionType {
  std::string name;  // "bernoulli"
  std::string form;  // "bernoulli:N"
  std::string help;
  // From what stands after the name and its colon; `spec` is the whole, for messages.
  std::function<std::shared_ptr<const Distribution>(const std::string& arguments, const std::string& spec)> make;
};

// All there are: make_distribution() and its messages read this table.
[[nodiscard]] const std::vector<DistributionType>& distribution_types();
[[nodiscard]] std::shared_ptr<const Distribution> make_distribution(const std::string& spec);

}  // namespace harmonium
