#include "harmonium/likelihood/row_annealing.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/inference/hidden_blocks.h"
#include "harmonium/samplers/single_site.h"

namespace harmonium {

namespace {

constexpr std::int64_t elements_at_once = 1 << 24;  // of the widest hidden layer, all chains of some rows

bool one_of(const LayerSet& set, std::size_t layer) { return std::ranges::find(set, layer) != set.end(); }

std::int64_t width_of(const BoltzmannMachine& machine, const LayerSet& layers) {
  std::int64_t width = 0;
  for (const std::size_t layer : layers) width += machine.unit(layer).width();
  return width;
}

// Hidden layers of some rows, `chains` copies of each, on the way between the mean-field product and the machine.
class ClampedPath {
 public:
  ClampedPath(const BoltzmannMachine& machine, const State& rows, const RowAnnealingOptions& options)
      : machine_(machine), hidden_(machine.hidden()), walked_(hidden_blocks_from_data(machine)) {
    // The widest block is summed out; of equal ones the last, which is farthest from the data. Layers with an edge
    // inside cannot be.
    const auto width = [&](const LayerSet& block) { return width_of(machine, machine.without_inner_edges(block)); };
    auto widest = walked_.begin();
    for (auto block = walked_.begin(); block != walked_.end(); ++block)
      if (width(*block) >= width(*widest)) widest = block;
    summed_ = machine.without_inner_edges(*widest);
    std::erase_if(*widest, [&](std::size_t layer) { return one_of(summed_, layer); });
    const Posterior q = infer(machine, rows, options.mean_field);
    const auto copies = [&](const at::Tensor& table) { return table.repeat_interleave(options.chains, 0); };
    start_.resize(machine.layers().size());
    change_.resize(machine.layers().size());
    chains_.layers.resize(machine.layers().size());
    const CodedState seen = rows;
    for (const std::size_t layer : hidden_) {
      const at::Tensor held = machine.add_input(machine.layer_parameters(layer)[0], layer, seen, machine.observed());
      start_[layer] = copies(q.fields[layer]);
      change_[layer] = copies(held - q.fields[layer]);
    }
  }

  // A draw of the product.
  void draw_product(const Key& key) {
    for (const std::size_t layer : hidden_) redraw(layer, start_[layer], key.fold_in(layer));
  }
  // Redraws the summed layers and then the others at β, unit by unit where they are joined.
  void sweep(double beta, const Key& key) {
    for (const std::size_t layer : summed_) redraw(layer, field(layer, beta), key.fold_in(layer));
    for (const LayerSet& block : walked_)
      for (const std::size_t layer : block) {
        if (machine_.inner_edge(layer) == nullptr)
          redraw(layer, field(layer, beta), key.fold_in(layer));
        else
          chains_.layers[layer] =
              single_site_sweep(machine_, layer, chains_, key.fold_in(layer), field(layer, beta), beta);
      }
  }
  // log f_to − log f_from of every chain's walked layers, float64.
  [[nodiscard]] at::Tensor log_ratio(double from, double to) const {
    at::Tensor total = at::zeros({start_[hidden_.front()].size(0)}, machine_.options(at::kDouble));
    for (const LayerSet& block : walked_)
      for (const std::size_t layer : block)
        total += (chains_.layers[layer] * change_[layer]).sum(1, false, at::kDouble) * (to - from);
    for (const EdgeInfo& edge : machine_.topology().edges)
      if (walks(edge.lower) && walks(edge.upper))
        total += (chains_.layers[edge.lower].mm(machine_.parameters()[edge.weights]) * chains_.layers[edge.upper])
                     .sum(1, false, at::kDouble) *
                 (to - from);
    for (const std::size_t layer : summed_) {
      const Unit& unit = machine_.unit(layer);
      const Unit::Parameters theta = machine_.layer_parameters(layer);
      const at::Tensor slope = input(layer);
      total += unit.log_partition(at::add(start_[layer], slope, to), theta) -
               unit.log_partition(at::add(start_[layer], slope, from), theta);
    }
    return total;
  }
  // log Σ over all states at β = 0, float64, of each chain.
  [[nodiscard]] at::Tensor log_start() const {
    at::Tensor total = at::zeros({start_[hidden_.front()].size(0)}, machine_.options(at::kDouble));
    for (const std::size_t layer : hidden_)
      total += machine_.unit(layer).log_partition(start_[layer], machine_.layer_parameters(layer));
    return total;
  }

 private:
  [[nodiscard]] bool walks(std::size_t layer) const { return one_of(hidden_, layer) && !one_of(summed_, layer); }
  // What a field gains from β = 0 to 1, given the other hidden layers.
  [[nodiscard]] at::Tensor input(std::size_t layer) const {
    return machine_.add_input(change_[layer], layer, chains_, hidden_);
  }
  [[nodiscard]] at::Tensor field(std::size_t layer, double beta) const {
    return at::add(start_[layer], input(layer), beta);
  }
  void redraw(std::size_t layer, const at::Tensor& field, const Key& key) {
    chains_.layers[layer] = machine_.unit(layer).sample(key, field, machine_.layer_parameters(layer));
  }

  const BoltzmannMachine& machine_;
  LayerSet hidden_, summed_;
  std::vector<LayerSet> walked_;
  Fields start_, change_;  // (1−β)·start + β·(start + change) is a field without other hidden layers
  State chains_;
};

}  // namespace

AnnealedRows anneal_rows(const BoltzmannMachine& machine, const State& data, const Key& key,
                         const RowAnnealingOptions& options, bool both_ways) {
  require(options.chains >= 1 && options.betas >= 1 && options.posterior_sweeps >= 0,
          "annealing of rows needs at least one chain and one step");
  require(!machine.hidden().empty(), "annealing of rows needs hidden layers");
  std::int64_t widest = 1;
  for (const std::size_t layer : machine.hidden()) {
    require(machine.unit(layer).parameter_names().size() == 1,
            "the hidden layer '{}' ({}) cannot be annealed with data held: that is made for layers of units with "
            "one parameter (binary, softmax, cardinality, pooled, stepped)",
            machine.layers()[layer].name, machine.unit(layer).spec());
    widest = std::max(widest, machine.unit(layer).width());
  }
  // What observed layers add by themselves, edges between them included.
  at::Tensor own = machine.edge_potential(data, machine.observed());
  for (const std::size_t layer : machine.observed())
    own = own + machine.unit(layer).log_factor(data.layers[layer], machine.layer_parameters(layer));

  const std::int64_t at_once = std::max<std::int64_t>(1, elements_at_once / (widest * options.chains));
  const auto steps = static_cast<double>(options.betas);
  const std::int64_t blocks = (data.rows() + at_once - 1) / at_once, walks = both_ways ? 2 : 1;
  std::int64_t done = 0;
  const auto tell = [&] {
    ++done;
    if (options.progress) options.progress(done, blocks * walks * options.betas);
  };
  std::vector<at::Tensor> up, down;
  double effective = 0;
  for (std::int64_t first = 0; first < data.rows(); first += at_once) {
    const std::int64_t count = std::min(at_once, data.rows() - first);
    State rows = data;
    for (at::Tensor& layer : rows.layers)
      if (layer.defined()) layer = layer.narrow(0, first, count);
    const Key own_key = key.fold_in(static_cast<std::uint64_t>(first));
    ClampedPath path(machine, rows, options);
    const auto key_of = [](const Key& base, std::int64_t step) {
      return base.fold_in(static_cast<std::uint64_t>(step));
    };

    path.draw_product(own_key.fold_in(0));
    at::Tensor log_weights = path.log_start();
    for (std::int64_t step = 1; step <= options.betas; ++step) {
      const double from = static_cast<double>(step - 1) / steps, to = static_cast<double>(step) / steps;
      log_weights += path.log_ratio(from, to);
      if (step < options.betas) path.sweep(to, key_of(own_key.fold_in(1), step));
      tell();
    }
    const at::Tensor table = log_weights.reshape({count, options.chains});
    const at::Tensor sum = at::logsumexp(table, 1);
    up.push_back(sum - std::log(static_cast<double>(options.chains)));
    effective += at::exp(2 * sum - at::logsumexp(2 * table, 1)).sum().item<double>();

    if (!both_ways) continue;
    path.draw_product(own_key.fold_in(2));
    for (std::int64_t sweep = 0; sweep < options.posterior_sweeps; ++sweep)
      path.sweep(1, key_of(own_key.fold_in(3), sweep));
    at::Tensor totals = path.log_start();
    for (std::int64_t step = options.betas; step >= 1; --step) {
      const double from = static_cast<double>(step - 1) / steps, to = static_cast<double>(step) / steps;
      path.sweep(to, key_of(own_key.fold_in(4), step));
      totals += path.log_ratio(from, to);
      tell();
    }
    down.push_back(totals.reshape({count, options.chains}).mean(1));
  }
  AnnealedRows result;
  result.log_f = at::cat(up) + own;
  if (both_ways) result.at_most = at::cat(down) + own;
  result.effective = effective / static_cast<double>(data.rows());
  return result;
}

}  // namespace harmonium
