#include "harmonium/models/exact_fisher.h"

#include <ATen/TensorIndexing.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harmonium/core/error.h"
#include "harmonium/core/symmetric_product.h"
#include "harmonium/models/enumeration_layout.h"

namespace harmonium {

namespace {

constexpr std::int64_t pattern_elements = 1 << 25;  // doubles of S(o) held at once: 256 MiB
constexpr std::size_t most_groups = 4;
constexpr std::int64_t row_elements = 1 << 22;  // doubles of t̄ held at once

// Sums over the states, and the matrix they make.
class Enumeration {
 public:
  Enumeration(const BoltzmannMachine& machine, const EnumerationPlan& plan,
              const std::function<void(std::int64_t, std::int64_t)>& progress)
      : machine_(machine), plan_(plan), layout_(machine, plan), progress_(progress) {
    std::vector<at::Tensor> parts;
    for_each_state(machine, plan, [&](const State&, const at::Tensor& log_weight) { parts.push_back(log_weight); });
    probabilities_ = at::softmax(at::cat(parts), 0);
    second_ = at::zeros({layout_.dimension(), layout_.dimension()}, at::kDouble);
  }

  [[nodiscard]] Moments mean() const {
    Moments sum = machine_.parameters().zeros_like();
    for_each_block([&](const State& state, const at::Tensor& p) {
      sum.add_(machine_.moments(state, machine_.fields(plan_.summed, state), p));
    });
    return sum;
  }

  [[nodiscard]] at::Tensor second_moment() {
    const std::vector<DigitGroup> groups = grouped_digits(machine_, plan_, most_groups);
    std::vector<std::pair<DigitGroup, DigitGroup>> passes;  // outer and inner digits
    for (std::size_t a = 0; a < groups.size(); ++a)
      for (std::size_t b = a + 1; b < groups.size(); ++b) {
        passes.emplace_back();
        for (std::size_t c = 0; c < groups.size(); ++c)
          std::ranges::copy(groups[c],
                            std::back_inserter(c == a || c == b ? passes.back().first : passes.back().second));
      }
    if (passes.empty()) passes.emplace_back(groups.empty() ? DigitGroup() : groups.front(), DigitGroup());
    for (const auto& [outer, inner] : passes) {
      run_pass(outer, inner, static_cast<std::int64_t>(passes.size()));
      ++passes_done_;
    }
    add_known();
    return second_;
  }

 private:
  using Pair = std::pair<std::size_t, std::size_t>;  // of features, the first not before the second

  // All states in order, with their probabilities.
  void for_each_block(const std::function<void(const State&, const at::Tensor&)>& visit) const {
    const std::int64_t total = probabilities_.size(0), rows = rows_at_once(total);
    for (std::int64_t first = 0; first < total; first += rows) {
      const at::Tensor numbers = place_range(first, std::min(rows, total - first));
      visit(enumerated_states(machine_, plan_, numbers), probabilities_.index_select(0, numbers));
    }
  }
  [[nodiscard]] std::int64_t rows_at_once(std::int64_t total) const {
    return std::clamp<std::int64_t>(row_elements / std::max<std::int64_t>(1, layout_.summed_size()), 1, total);
  }

  // Which features the outer digits decide, and the pairs among them that no earlier pass has summed.
  [[nodiscard]] std::vector<Pair> new_pairs(const DigitGroup& outer) {
    const auto decided = [&](std::size_t feature) {
      const Feature& one = layout_.features()[feature];
      return one.column < 0 || std::ranges::any_of(outer, [&](const Digit& digit) {
               return digit.layer == one.layer && one.column >= digit.first_column &&
                      one.column < digit.first_column + digit.columns;
             });
    };
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < layout_.features().size(); ++a)
      for (std::size_t b = 0; b <= a; ++b)
        if (decided(a) && decided(b) && done_.insert({a, b}).second) pairs.emplace_back(a, b);
    return pairs;
  }

  void run_pass(const DigitGroup& outer, const DigitGroup& inner, std::int64_t passes) {
    const std::vector<Pair> pairs = new_pairs(outer);
    const at::Tensor patterns = number_offsets(outer), rest = number_offsets(inner);
    const std::int64_t width = layout_.summed_size(), count = patterns.size(0);
    const std::int64_t at_once = std::clamp<std::int64_t>(pattern_elements / (width * width), 1, count);
    at::Tensor sums = at::zeros({static_cast<std::int64_t>(pairs.size()), width * width}, at::kDouble);
    at::Tensor some = at::empty({at_once, width, width}, at::kDouble);
    for (std::int64_t first = 0; first < count; first += at_once) {
      const std::int64_t here = std::min(at_once, count - first);
      for (std::int64_t k = 0; k < here; ++k) {
        sum_over(patterns[first + k] + rest, some[k]);
        if (progress_) progress_(passes_done_ * count + first + k + 1, passes * count);
      }
      sums.addmm_(indicators(pairs, patterns.narrow(0, first, here)), some.narrow(0, 0, here).view({here, -1}));
    }
    for (std::size_t k = 0; k < pairs.size(); ++k)
      put(layout_.features()[pairs[k].first], layout_.features()[pairs[k].second],
          sums[static_cast<std::int64_t>(k)].view({width, width}));
  }

  // Σ p (t̄ t̄ᵀ + Cov(t | y)) over the given states.
  void sum_over(const at::Tensor& numbers, at::Tensor target) const {
    target.zero_();
    const std::int64_t rows = rows_at_once(numbers.size(0));
    for (std::int64_t first = 0; first < numbers.size(0); first += rows) {
      const at::Tensor chosen = numbers.narrow(0, first, std::min(rows, numbers.size(0) - first));
      const at::Tensor p = probabilities_.index_select(0, chosen);
      const State state = enumerated_states(machine_, plan_, chosen);
      std::vector<at::Tensor> expected;
      for (std::int64_t begin = 0; const std::size_t layer : plan_.summed) {
        const Unit::Parameters theta = machine_.layer_parameters(layer);
        const at::Tensor field = machine_.field(layer, state);
        for (const at::Tensor& one : machine_.unit(layer).expected_statistics(field, theta)) expected.push_back(one);
        const at::Tensor covariance = machine_.unit(layer).conditional_covariance(field, theta, p);
        target.narrow(0, begin, covariance.size(0)).narrow(1, begin, covariance.size(0)).add_(covariance);
        begin += covariance.size(0);
      }
      target.add_(
          symmetric_product((expected.size() == 1 ? expected.front() : at::cat(expected, 1)) * p.sqrt().unsqueeze(1)));
    }
  }

  // pairs × patterns: one where both features are on.
  [[nodiscard]] at::Tensor indicators(const std::vector<Pair>& pairs, const at::Tensor& patterns) const {
    const State state = enumerated_states(machine_, plan_, patterns);
    const auto on = [&](std::size_t feature) {
      const Feature& one = layout_.features()[feature];
      return one.column < 0 ? at::ones({patterns.size(0)}, at::kDouble) : state.layers[one.layer].select(1, one.column);
    };
    std::vector<at::Tensor> rows = {};
    for (const auto& [a, b] : pairs) rows.push_back(on(a) * on(b));
    return rows.empty() ? at::zeros({0, patterns.size(0)}, at::kDouble) : at::stack(rows);
  }

  void put(const Feature& a, const Feature& b, const at::Tensor& sum) {
    const at::Tensor block = sum.index_select(0, a.columns).index_select(1, b.columns);
    put_block(a.places, b.places, block);
  }

  void put_block(const at::Tensor& rows, const at::Tensor& columns, const at::Tensor& block) {
    second_.index_put_({rows.unsqueeze(1), columns.unsqueeze(0)}, block);
    second_.index_put_({columns.unsqueeze(1), rows.unsqueeze(0)}, block.t());
  }

  // Products with statistics that the enumerated layers decide.
  void add_known() {
    const at::Tensor places = layout_.known_places();
    if (places.size(0) == 0) return;
    const std::size_t features = layout_.features().size();
    at::Tensor own = at::zeros({places.size(0), places.size(0)}, at::kDouble);
    std::vector<at::Tensor> cross(features);
    for_each_block([&](const State& state, const at::Tensor& probabilities) {
      const at::Tensor known = layout_.known(state), p = probabilities.unsqueeze(1);
      own.addmm_((known * p).t(), known);
      std::vector<at::Tensor> parts;
      for (const std::size_t layer : plan_.summed)
        for (const at::Tensor& one :
             machine_.unit(layer).expected_statistics(machine_.field(layer, state), machine_.layer_parameters(layer)))
          parts.push_back(one);
      const at::Tensor expected = at::cat(parts, 1).mul_(p);
      for (std::size_t k = 0; k < features; ++k) {
        const Feature& one = layout_.features()[k];
        const at::Tensor scaled =
            one.column < 0 ? known : known * state.layers[one.layer].select(1, one.column).unsqueeze(1);
        const at::Tensor sum = expected.t().mm(scaled);
        cross[k] = cross[k].defined() ? cross[k].add_(sum) : sum;
      }
    });
    put_block(places, places, own);
    for (std::size_t k = 0; k < features; ++k)
      put_block(layout_.features()[k].places, places, cross[k].index_select(0, layout_.features()[k].columns));
  }

  const BoltzmannMachine& machine_;
  const EnumerationPlan& plan_;
  EnumerationLayout layout_;
  std::function<void(std::int64_t, std::int64_t)> progress_;
  at::Tensor probabilities_, second_;
  std::set<Pair> done_;  // summed by this pass or an earlier one
  std::int64_t passes_done_ = 0;
};

}  // namespace

FisherPlan plan_exact_fisher(const BoltzmannMachine& machine, int max_bits) {
  for (const EdgeInfo& edge : machine.topology().edges)
    require(!edge.inner(), "the exact Fisher information of machines with an edge inside a layer ({}) is not known",
            edge.weights);
  FisherPlan plan{.states = plan_enumeration(machine, max_bits)};
  const EnumerationLayout layout(machine, plan.states);
  plan.dimension = layout.dimension();
  const auto dimension = static_cast<double>(plan.dimension), width = static_cast<double>(layout.summed_size());
  plan.bytes = 8 * (1.5 * dimension * dimension + pattern_elements + 6 * row_elements + 3 * plan.states.states);
  plan.products = 6 * plan.states.states * width * width * 0.6;
  return plan;
}

ExactFisher exact_fisher(const BoltzmannMachine& machine, int max_bits,
                         const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const BoltzmannMachine precise = machine.precise_on_cpu();
  const EnumerationPlan plan = plan_exact_fisher(precise, max_bits).states;
  Enumeration enumeration(precise, plan, progress);
  ExactFisher result{.mean = enumeration.mean(), .covariance = enumeration.second_moment()};
  const at::Tensor mean = result.mean.flatten();
  result.covariance.addr_(mean, mean, 1, -1);
  return result;
}

}  // namespace harmonium
