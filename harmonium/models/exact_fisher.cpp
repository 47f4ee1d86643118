#include "harmonium/models/exact_fisher.h"

#include <algorithm>
#include <map>

#include "harmonium/core/symmetric_product.h"

namespace harmonium {

namespace {

constexpr double mass_left_out = 1e-14;
constexpr std::int64_t block_elements = 1 << 27;  // doubles of t̄ held at once: 1 GiB

// One feature of the enumerated side and the statistics it makes with those of the summed block.
struct Feature {
  at::Tensor on;       // rows in which it is one, as a byte mask; undefined for the constant
  at::Tensor columns;  // statistics t of the summed block
  at::Tensor places;   // in g, of t × feature
};

// The machine's statistics sorted by what they are to an enumeration.
class Layout {
 public:
  Layout(const BoltzmannMachine& machine, const EnumerationPlan& plan) : machine_(machine), plan_(plan) {
    for (const auto& [name, value] : machine.parameters().entries()) {
      begin_[name] = dimension_;
      dimension_ += value.numel();
    }
    for (const std::size_t layer : plan.summed) {
      summed_begin_[layer] = summed_size_;
      for (const std::string& name : machine.topology().layers[layer].parameters) {
        const std::int64_t width = machine.unit(layer).width();
        constant_places_.push_back(range(begin_.at(name), width));
        summed_size_ += width;
      }
    }
  }

  [[nodiscard]] std::int64_t dimension() const { return dimension_; }
  [[nodiscard]] std::int64_t summed_size() const { return summed_size_; }
  [[nodiscard]] std::int64_t feature_count() const {
    std::int64_t total = 1;
    for (const std::size_t layer : plan_.enumerated) total += machine_.unit(layer).width();
    return total;
  }

  [[nodiscard]] std::vector<Feature> features(const State& state) const {
    std::vector<Feature> result;
    result.push_back({.on = {}, .columns = range(0, summed_size_), .places = at::cat(constant_places_)});
    for (const std::size_t layer : plan_.enumerated)
      for (std::int64_t unit = 0; unit < machine_.unit(layer).width(); ++unit) {
        std::vector<at::Tensor> columns, places;
        for (const EdgeInfo& edge : machine_.topology().edges) {
          if (edge.lower != layer && edge.upper != layer) continue;
          const std::size_t other = edge.lower == layer ? edge.upper : edge.lower;
          if (!summed_begin_.contains(other)) continue;
          const std::int64_t width = machine_.unit(other).width(), stride = machine_.unit(edge.upper).width();
          columns.push_back(range(summed_begin_.at(other), width));
          const std::int64_t first = begin_.at(edge.weights);
          places.push_back(edge.upper == layer ? first + unit + stride * range(0, width)
                                               : first + unit * stride + range(0, width));
        }
        if (columns.empty()) continue;
        result.push_back({.on = state.layers[layer].select(1, unit).gt(0.5).contiguous(),
                          .columns = at::cat(columns),
                          .places = at::cat(places)});
      }
    return result;
  }

  // Statistics that are known given the enumerated layers: their own, and products of edges among them.
  [[nodiscard]] std::pair<at::Tensor, at::Tensor> known(const State& state) const {
    std::vector<at::Tensor> values, places;
    for (const std::size_t layer : plan_.enumerated) {
      const std::vector<at::Tensor> statistics = machine_.unit(layer).statistics(state.layers[layer]);
      for (std::size_t i = 0; i < statistics.size(); ++i) {
        values.push_back(statistics[i]);
        places.push_back(range(begin_.at(machine_.topology().layers[layer].parameters[i]), statistics[i].size(1)));
      }
    }
    for (const EdgeInfo& edge : machine_.topology().edges) {
      if (summed_begin_.contains(edge.lower) || summed_begin_.contains(edge.upper)) continue;
      const at::Tensor &x = state.layers[edge.lower], &y = state.layers[edge.upper];
      values.push_back((x.unsqueeze(2) * y.unsqueeze(1)).reshape({x.size(0), -1}));
      places.push_back(range(begin_.at(edge.weights), values.back().size(1)));
    }
    if (values.empty()) return {at::zeros({state.rows(), 0}, at::kDouble), at::zeros({0}, at::kLong)};
    return {at::cat(values, 1), at::cat(places)};
  }

 private:
  [[nodiscard]] static at::Tensor range(std::int64_t begin, std::int64_t count) {
    return at::arange(begin, begin + count, at::kLong);
  }

  const BoltzmannMachine& machine_;
  const EnumerationPlan& plan_;
  std::map<std::string, std::int64_t> begin_;
  std::map<std::size_t, std::int64_t> summed_begin_;  // layers of the summed block: place of their first statistic in t
  std::vector<at::Tensor> constant_places_;
  std::int64_t dimension_ = 0, summed_size_ = 0;
};

struct KeptStates {
  at::Tensor numbers, probabilities;
};

KeptStates keep_states(const BoltzmannMachine& machine, const EnumerationPlan& plan) {
  std::vector<at::Tensor> parts;
  for_each_state(machine, plan, [&](const State&, const at::Tensor& log_weight) { parts.push_back(log_weight); });
  const auto [probabilities, order] = at::softmax(at::cat(parts), 0).sort(0, /*descending=*/true);
  // Mass of a state and all less probable ones, summed from the small end so that nothing is lost.
  const at::Tensor tail = probabilities.flip(0).cumsum(0).flip(0);
  const std::int64_t kept = std::max<std::int64_t>(1, tail.gt(mass_left_out).sum().item<std::int64_t>());
  return {order.narrow(0, 0, kept), probabilities.narrow(0, 0, kept)};
}

// Adds a block at rows × columns of the matrix, and its transpose at the mirrored place.
void add_block(at::Tensor& matrix, const at::Tensor& rows, const at::Tensor& columns, const at::Tensor& block,
               bool mirrored) {
  const std::int64_t dimension = matrix.size(0);
  at::Tensor flat = matrix.view(-1);
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    const std::int64_t row = rows[i].item<std::int64_t>();
    flat.index_add_(0, columns + row * dimension, block[i]);
    if (mirrored) flat.index_add_(0, columns * dimension + row, block[i]);
  }
}

// Everything about one block of states.
class Accumulator {
 public:
  Accumulator(const BoltzmannMachine& machine, const EnumerationPlan& plan, const Layout& layout)
      : machine_(machine),
        plan_(plan),
        layout_(layout),
        second_(at::zeros({layout.dimension(), layout.dimension()}, at::kDouble)) {}

  void add(const State& state, const at::Tensor& probabilities, const std::function<void()>& tick) {
    fields_ = machine_.fields(plan_.summed, state);
    std::vector<at::Tensor> parts;
    for (const std::size_t layer : plan_.summed)
      for (const at::Tensor& one :
           machine_.unit(layer).expected_statistics(fields_[layer], machine_.layer_parameters(layer)))
        parts.push_back(one);
    const at::Tensor root = probabilities.sqrt().unsqueeze(1);
    const at::Tensor expected = at::cat(parts, 1).mul_(root);  // √p t̄
    const auto [known, known_places] = layout_.known(state);
    const at::Tensor scaled_known = known * root;
    if (known.size(1) > 0) add_block(second_, known_places, known_places, symmetric_product(scaled_known), false);
    const std::vector<Feature> features = layout_.features(state);
    for (std::size_t a = 0; a < features.size(); ++a) {
      const at::Tensor rows_a = features[a].on.defined() ? features[a].on.nonzero().squeeze(1) : at::Tensor();
      const auto at_rows = [](const at::Tensor& from, const at::Tensor& rows) {
        return rows.defined() ? from.index_select(0, rows) : from;
      };
      if (known.size(1) > 0)
        add_block(second_, features[a].places, known_places,
                  at_rows(expected, rows_a).index_select(1, features[a].columns).t().mm(at_rows(scaled_known, rows_a)),
                  true);
      for (std::size_t b = 0; b <= a; ++b) {
        const at::Tensor rows =
            features[b].on.defined() ? (features[a].on * features[b].on).nonzero().squeeze(1) : rows_a;
        add_pair(features[a], features[b], at_rows(expected, rows), rows, probabilities, a != b);
        tick();
      }
    }
  }

  [[nodiscard]] at::Tensor& second_moment() { return second_; }

 private:
  void add_pair(const Feature& a, const Feature& b, const at::Tensor& rows, const at::Tensor& chosen,
                const at::Tensor& probabilities, bool mirrored) {
    at::Tensor block;
    const bool whole = a.columns.equal(b.columns);
    if (whole) {
      block = symmetric_product(a.columns.size(0) == rows.size(1) ? rows : rows.index_select(1, a.columns));
    } else {
      block = rows.index_select(1, a.columns).t().mm(rows.index_select(1, b.columns));
    }
    const at::Tensor weights = chosen.defined() ? probabilities.index_select(0, chosen) : probabilities;
    at::Tensor within = at::zeros({layout_.summed_size(), layout_.summed_size()}, at::kDouble);
    for (std::int64_t begin = 0; const std::size_t layer : plan_.summed) {
      const at::Tensor field = chosen.defined() ? fields_[layer].index_select(0, chosen) : fields_[layer];
      const at::Tensor covariance =
          machine_.unit(layer).conditional_covariance(field, machine_.layer_parameters(layer), weights);
      within.narrow(0, begin, covariance.size(0)).narrow(1, begin, covariance.size(0)).copy_(covariance);
      begin += covariance.size(0);
    }
    block.add_(within.index_select(0, a.columns).index_select(1, b.columns));
    add_block(second_, a.places, b.places, block, mirrored);
  }

  const BoltzmannMachine& machine_;
  const EnumerationPlan& plan_;
  const Layout& layout_;
  Fields fields_;
  at::Tensor second_;
};

}  // namespace

FisherPlan plan_exact_fisher(const BoltzmannMachine& machine, int max_bits) {
  FisherPlan plan{.states = plan_enumeration(machine, max_bits)};
  const Layout layout(machine, plan.states);
  plan.dimension = layout.dimension();
  const auto dimension = static_cast<double>(plan.dimension), width = static_cast<double>(layout.summed_size()),
             features = static_cast<double>(layout.feature_count());
  const double rows = std::min(plan.states.states, static_cast<double>(block_elements) / width);
  plan.bytes = 8 * (dimension * dimension + 2 * rows * width + 4 * plan.states.states);
  plan.products = features * (features + 1) / 2 * plan.states.states / 4 * width * width * 0.6;
  return plan;
}

ExactFisher exact_fisher(const BoltzmannMachine& machine, int max_bits,
                         const std::function<void(std::int64_t, std::int64_t)>& progress) {
  const BoltzmannMachine precise = machine.to(at::kDouble);
  const EnumerationPlan plan = plan_exact_fisher(precise, max_bits).states;
  const Layout layout(precise, plan);
  const KeptStates kept = keep_states(precise, plan);
  const std::int64_t states = kept.numbers.size(0);
  const std::int64_t at_once =
      std::clamp<std::int64_t>(block_elements / std::max<std::int64_t>(1, layout.summed_size()), 1, states);
  const std::int64_t blocks = (states + at_once - 1) / at_once, features = layout.feature_count();
  Accumulator accumulator(precise, plan, layout);
  ExactFisher result{
      .mean = precise.parameters().zeros_like(), .covariance = {}, .states_used = states, .states = plan.states};
  std::int64_t done = 0;
  const auto tick = [&] {
    ++done;
    if (progress)
      progress(std::min(done, blocks * features * (features + 1) / 2), blocks * features * (features + 1) / 2);
  };
  for (std::int64_t first = 0; first < states; first += at_once) {
    const std::int64_t count = std::min(at_once, states - first);
    const State state = enumerated_states(precise, plan, kept.numbers.narrow(0, first, count));
    const at::Tensor probabilities = kept.probabilities.narrow(0, first, count);
    accumulator.add(state, probabilities, tick);
    result.mean.add_(precise.moments(state, precise.fields(plan.summed, state), probabilities));
  }
  const at::Tensor mean = result.mean.flatten();
  result.covariance = accumulator.second_moment().addr_(mean, mean, 1, -1);
  return result;
}

}  // namespace harmonium
