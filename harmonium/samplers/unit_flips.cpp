#include "harmonium/samplers/unit_flips.h"

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_values = 1 << 12;  // of a part

// One row for each value of each part of a layer, from one row for each column of it (columns × anything).
at::Tensor rows_of_values(const Unit& unit, const at::Tensor& rows_of_columns) {
  const at::Tensor values = unit.part_values(at::kDouble);  // values × columns of a part
  const at::Tensor by_part = rows_of_columns.reshape({-1, values.size(1), rows_of_columns.size(1)});
  return at::matmul(values, by_part).flatten(0, 1);
}

// What each value of each part counts for.
at::Tensor log_measures(const Unit& unit) {
  const std::int64_t parts = unit.width() / unit.digit().columns;
  at::Tensor state = at::zeros({unit.digit().values, unit.width()}, at::kDouble);
  state.narrow(1, 0, unit.digit().columns).copy_(unit.part_values(at::kDouble));
  const at::Tensor measure = unit.log_measure(state);
  const at::Tensor none = at::zeros({unit.digit().values}, at::kDouble);
  // Relative to state 0, whose other parts are the same.
  return (measure.defined() ? measure - measure[0] : none).repeat({parts});
}

}  // namespace

UnitFlips::UnitFlips(BoltzmannMachine machine, LayerSet kept, LayerSet summed)
    : machine_(std::move(machine)), kept_(std::move(kept)), summed_(std::move(summed)) {
  std::vector<at::Tensor> counts, own;
  for (const std::size_t layer : kept_) {
    const Unit& unit = machine_.unit(layer);
    counts.push_back(at::full({unit.width() / unit.digit().columns}, unit.digit().values, at::kLong));
    require(unit.digit().values <= most_values,
            "layer '{}' ({}) has too many states for one step to choose among; Wang–Landau takes parts with at most {}",
            machine_.layers()[layer].name, unit.spec(), most_values);
    own.push_back(rows_of_values(unit, machine_.layer_parameters(layer)[0].unsqueeze(1)).squeeze(1) +
                  log_measures(unit));
  }
  value_count_ = at::cat(counts);
  first_row_ = at::cumsum(value_count_, 0) - value_count_;
  own_table_ = at::cat(own);
  log_state_count_ = value_count_.to(at::kDouble).log().sum().item<double>();
  field_tables_.resize(machine_.layers().size());
  for (const std::size_t layer : summed_) {
    std::vector<at::Tensor> tables;
    for (const std::size_t source : kept_) {
      at::Tensor weights = at::zeros({machine_.unit(source).width(), machine_.unit(layer).width()}, at::kDouble);
      for (const EdgeInfo& edge : machine_.topology().edges) {
        if (edge.lower == source && edge.upper == layer) weights = weights + machine_.parameters()[edge.weights];
        if (edge.upper == source && edge.lower == layer) weights = weights + machine_.parameters()[edge.weights].t();
      }
      tables.push_back(rows_of_values(machine_.unit(source), weights));
    }
    field_tables_[layer] = at::cat(tables).contiguous();
  }
}

State UnitFlips::to_state(const at::Tensor& values) const {
  State state;
  state.layers.resize(machine_.layers().size());
  std::int64_t part = 0;
  for (const std::size_t layer : kept_) {
    const Unit& unit = machine_.unit(layer);
    const std::int64_t parts = unit.width() / unit.digit().columns;
    const at::Tensor here = values.narrow(1, part, parts);
    state.layers[layer] =
        unit.part_values(at::kDouble).index_select(0, here.reshape({-1})).reshape({values.size(0), unit.width()});
    part += parts;
  }
  return state;
}

at::Tensor UnitFlips::log_f(const at::Tensor& own, const Fields& fields) const {
  at::Tensor total = own;
  for (const std::size_t layer : summed_)
    total = total + machine_.unit(layer).log_partition(fields[layer], machine_.layer_parameters(layer));
  return total;
}

UnitFlips::Chains UnitFlips::start(const Key& key, std::int64_t rows) const {
  const at::Tensor u = uniform(key, {rows, value_count_.size(0)}, at::kDouble);
  return refreshed((u * value_count_).to(at::kLong));
}

UnitFlips::Chains UnitFlips::refreshed(const at::Tensor& values) const {
  const State state = to_state(values);
  Chains chains{
      .values = values.clone(), .own = own_table_.index({values + first_row_}).sum(1), .fields = {}, .log_f = {}};
  chains.fields = machine_.fields(summed_, state);
  chains.log_f = log_f(chains.own, chains.fields);
  return chains;
}

UnitFlips::Proposal UnitFlips::propose(const Chains& chains, const at::Tensor& chances) const {
  Proposal result;
  result.part = (chances[0] * value_count_.size(0)).to(at::kLong);
  const at::Tensor before = chains.values.gather(1, result.part.unsqueeze(1)).squeeze(1);
  const at::Tensor count = value_count_.index_select(0, result.part);
  result.value = at::remainder(before + 1 + (chances[1] * (count - 1)).to(at::kLong), count);
  const at::Tensor first = first_row_.index_select(0, result.part), from = first + before, to = first + result.value;
  result.own = chains.own + own_table_.index_select(0, to) - own_table_.index_select(0, from);
  result.fields.resize(chains.fields.size());
  for (const std::size_t layer : summed_) {
    const at::Tensor& table = field_tables_[layer];
    result.fields[layer] = (table.index_select(0, to).sub_(table.index_select(0, from))).add_(chains.fields[layer]);
  }
  result.log_f = log_f(result.own, result.fields);
  return result;
}

void UnitFlips::accept(Chains& chains, const Proposal& proposal, const at::Tensor& accepted) {
  const at::Tensor part = proposal.part.unsqueeze(1);
  const at::Tensor before = chains.values.gather(1, part).squeeze(1);
  chains.values.scatter_(1, part, at::where(accepted, proposal.value, before).unsqueeze(1));
  chains.own = at::where(accepted, proposal.own, chains.own);
  chains.log_f = at::where(accepted, proposal.log_f, chains.log_f);
  for (std::size_t layer = 0; layer < chains.fields.size(); ++layer)
    if (chains.fields[layer].defined())
      chains.fields[layer] = at::where(accepted.unsqueeze(1), proposal.fields[layer], chains.fields[layer]);
}

}  // namespace harmonium
