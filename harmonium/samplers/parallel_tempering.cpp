#include "harmonium/samplers/parallel_tempering.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

constexpr std::int64_t from_base = 1, from_target = 2;

at::TensorOptions chain_options(const State& state) {
  for (const at::Tensor& layer : state.layers)
    if (layer.defined()) return layer.options();
  return {};
}

// Rows of a and b change places where `wanted` says so; neither tensor is written to.
void exchange_rows(const at::Tensor& wanted, at::Tensor& a, at::Tensor& b) {
  const at::Tensor mask = a.dim() == 2 ? wanted.unsqueeze(1) : wanted, before = a;
  a = at::where(mask, b, a);
  b = at::where(mask, before, b);
}

}  // namespace

ParallelTempering::ParallelTempering(std::vector<double> ladder, std::int64_t rows)
    : ladder_(std::move(ladder)), rows_(rows), offered_(ladder_.size()) {
  check_ladder(ladder_);
  require(rows_ >= 1, "parallel tempering needs at least one chain on each rung, not {}", rows_);
}

void ParallelTempering::start(std::vector<State> rungs) {
  require(rungs.size() == ladder_.size(), "parallel tempering: {} states for a ladder of {} rungs", rungs.size(),
          ladder_.size());
  for (const State& one : rungs)
    require(one.rows() == rows_, "parallel tempering: a rung was given {} chains in place of {}", one.rows(), rows_);
  rungs_ = std::move(rungs);
  heading_ = at::zeros({static_cast<std::int64_t>(ladder_.size()), rows_}, chain_options(rungs_[0]).dtype(at::kLong));
  accepted_ = at::zeros({static_cast<std::int64_t>(ladder_.size())}, heading_.options().dtype(at::kDouble));
  round_trips_ = at::zeros({}, heading_.options());
  offered_.assign(ladder_.size(), 0);
  steps_ = 0;
  turn_ = 0;
}

void ParallelTempering::step(const TemperedLine& line, const Key& key, std::int64_t sweeps) {
  require(sweeps >= 1, "parallel tempering needs at least one sweep in a step, not {}", sweeps);
  if (rungs_.empty()) {
    std::vector<State> first;
    for (std::size_t rung = 0; rung < ladder_.size(); ++rung)
      first.push_back(line.draw_base(key.fold_in(0).fold_in(rung), rows_));
    start(std::move(first));
  }
  const auto first_lower = static_cast<std::size_t>(turn_ % 2);
  std::vector<Fields> inputs(ladder_.size());
  // The base takes part in exchanges every other step only.
  for (std::size_t rung = first_lower; rung < ladder_.size(); ++rung) inputs[rung] = line.inputs(rungs_[rung]);
  for (std::size_t lower = first_lower; lower + 1 < ladder_.size(); lower += 2)
    exchange(line, lower, key.fold_in(1).fold_in(lower), inputs);
  note_arrivals();
  rungs_[0] = line.draw_base(key.fold_in(2), rows_);
  for (std::size_t rung = 1; rung < ladder_.size(); ++rung)
    for (std::int64_t sweep = 0; sweep < sweeps; ++sweep)
      line.sweep(rungs_[rung], sweep == 0 ? inputs[rung] : line.inputs(rungs_[rung]), ladder_[rung],
                 key.fold_in(3).fold_in(rung).fold_in(static_cast<std::uint64_t>(sweep)));
  ++turn_;
  ++steps_;
}

void ParallelTempering::exchange(const TemperedLine& line, std::size_t lower, const Key& key,
                                 std::vector<Fields>& inputs) {
  const std::size_t upper = lower + 1;
  // log f_upper − log f_lower of the state on one of the rungs.
  const auto gain = [&](std::size_t rung) {
    return line.log_f(rungs_[rung], inputs[rung], ladder_[upper]) -
           line.log_f(rungs_[rung], inputs[rung], ladder_[lower]);
  };
  const at::Tensor probability = (gain(lower) - gain(upper)).clamp_max(0).exp();
  const at::Tensor wanted = uniform(key, {rows_}, probability.options()) < probability;
  for (const std::size_t layer : line.kept())
    exchange_rows(wanted, rungs_[lower].layers[layer], rungs_[upper].layers[layer]);
  for (const std::size_t layer : line.summed()) exchange_rows(wanted, inputs[lower][layer], inputs[upper][layer]);
  at::Tensor below = heading_[static_cast<std::int64_t>(lower)], above = heading_[static_cast<std::int64_t>(upper)];
  at::Tensor new_below = below, new_above = above;
  exchange_rows(wanted, new_below, new_above);
  below.copy_(new_below);
  above.copy_(new_above);
  accepted_[static_cast<std::int64_t>(lower)].add_(probability.mean());
  offered_[lower] += 1;
}

void ParallelTempering::note_arrivals() {
  at::Tensor bottom = heading_[0], top = heading_[-1];
  round_trips_.add_(bottom.eq(from_target).sum());
  bottom.fill_(from_base);
  top.masked_fill_(top.eq(from_base), from_target);
}

State ParallelTempering::target_state(const TemperedLine& line, const Key& key, Fields* summed_fields) const {
  require(!rungs_.empty(), "parallel tempering has made no step yet");
  State state = rungs_.back();
  Fields fields = sample_layers(line.target(), state, key, line.summed());
  if (summed_fields != nullptr) *summed_fields = std::move(fields);
  return state;
}

TemperingStatistics ParallelTempering::take_statistics() {
  TemperingStatistics result{.steps = steps_, .acceptance = {}, .round_trips = 0};
  const at::Tensor accepted = on_cpu(accepted_);
  for (std::size_t pair = 0; pair + 1 < ladder_.size(); ++pair)
    result.acceptance.push_back((accepted.defined() ? accepted[static_cast<std::int64_t>(pair)].item<double>() : 0) /
                                offered_[pair]);
  if (round_trips_.defined()) {
    result.round_trips = round_trips_.item<std::int64_t>();
    accepted_.zero_();
    round_trips_.zero_();
  }
  steps_ = 0;
  offered_.assign(ladder_.size(), 0);
  return result;
}

NamedTensors ParallelTempering::state() const {
  if (rungs_.empty()) return {};
  NamedTensors tensors = {{"ladder", at::tensor(ladder_, at::kDouble)},
                          {"turn", at::tensor({turn_}, at::kLong)},
                          {"heading", heading_.clone()},
                          {"layers", at::tensor({static_cast<std::int64_t>(rungs_[0].layers.size())}, at::kLong)}};
  for (std::size_t rung = 0; rung < rungs_.size(); ++rung)
    for (std::size_t layer = 0; layer < rungs_[rung].layers.size(); ++layer)
      // The base never has its summed layers, and the others do not need them.
      if (rungs_[0].layers[layer].defined())
        tensors.emplace_back(format("rung.{}.{}", rung, layer), rungs_[rung].layers[layer]);
  return tensors;
}

void ParallelTempering::restore(const NamedTensors& tensors) {
  rungs_.clear();
  if (tensors.empty()) return;
  const std::string what = "parallel tempering";
  const at::Tensor ladder = on_cpu(find_tensor(tensors, "ladder", what)).to(at::kDouble).contiguous();
  ladder_.assign(ladder.data_ptr<double>(), ladder.data_ptr<double>() + ladder.numel());
  check_ladder(ladder_);
  const auto layers = find_tensor(tensors, "layers", what).item<std::int64_t>();
  std::vector<State> rungs(ladder_.size());
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const bool kept =
        std::ranges::any_of(tensors, [&](const auto& one) { return one.first == format("rung.0.{}", layer); });
    for (std::size_t rung = 0; rung < rungs.size(); ++rung)
      rungs[rung].layers.push_back(kept ? find_tensor(tensors, format("rung.{}.{}", rung, layer), what).clone()
                                        : at::Tensor());
  }
  rows_ = rungs[0].rows();
  require(rows_ >= 1, "{}: the saved state has no chains", what);
  start(std::move(rungs));
  const at::Tensor heading = find_tensor(tensors, "heading", what);
  require(heading.sizes() == heading_.sizes(), "{}: tensor 'heading' has another shape than the chains", what);
  heading_.copy_(heading);
  turn_ = find_tensor(tensors, "turn", what).item<std::int64_t>();
  (void)take_statistics();
}

}  // namespace harmonium
