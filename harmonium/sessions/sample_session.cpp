#include "harmonium/sessions/sample_session.h"

#include <chrono>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/samplers/tempered_line.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

namespace {

constexpr std::int64_t shortest_trace = 10;

State started(const TrainedMachine& model, const DrawPlan& plan, const State* data, std::int64_t rows, const Key& key) {
  const BoltzmannMachine& machine = model.machine;
  if (plan.start == "noise") return machine.with_parameters(uniform_parameters(machine)).independent_sample(key, rows);
  State state = machine.independent_sample(key, rows);
  if (plan.start != "data") return state;
  // Rows at random, all of them before any comes twice.
  const std::int64_t known = data->rows();
  const at::Tensor order = permutation(key.fold_in(0xDA7A), known, machine.device());
  const at::Tensor chosen = order.index_select(0, at::remainder(at::arange(rows, order.options()), known));
  for (const std::size_t layer : machine.observed())
    state.layers[layer] = data->layers[layer].index_select(0, chosen).to(machine.scalar_type());
  // Whatever is drawn first, it must know of the data.
  for (std::size_t block = 1; block < machine.blocks().size(); ++block)
    (void)sample_layers(machine, state, key.fold_in(0x41D).fold_in(block), machine.blocks()[block]);
  return state;
}

at::Tensor visible_of(const BoltzmannMachine& machine, const State& state, const KnownUnits& known, bool means) {
  if (!means) return state.layers[0];
  at::Tensor visible = machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0));
  if (!known.empty() && known[0].defined()) visible = at::where(known[0].isnan(), visible, known[0]);
  return visible;
}

}  // namespace

void check(const DrawPlan& plan) {
  check(plan.sampler);
  require(plan.start == "biases" || plan.start == "noise" || plan.start == "data",
          "--start {}: there are biases, noise and data", plan.start);
  require(plan.chains >= 1, "at least one chain is needed, not {}", plan.chains);
  require(plan.per_chain >= 1, "--per-chain {}: take at least one state of each chain", plan.per_chain);
  require(plan.every >= 1, "--every {}: give the number of sweeps between states, 1 or more", plan.every);
  require(plan.sweeps >= 0, "--sweeps {}: the number of sweeps cannot be negative", plan.sweeps);
  require(plan.trace == 0 || plan.trace >= shortest_trace, "--trace {}: at least {} steps are needed for a diagnosis",
          plan.trace, shortest_trace);
}

bool needs_data(const DrawPlan& plan) { return find_sampler(plan.sampler.name).needs_data || plan.start == "data"; }

Drawn draw(const TrainedMachine& model, const DrawPlan& plan, const State* data, const ClassAssigner* classes,
           const KnownUnits& known, const std::string& label, bool silent) {
  using Clock = std::chrono::steady_clock;
  check(plan);
  require(data != nullptr || !needs_data(plan), "{} from {} needs data: give --data", plan.sampler.name, plan.start);
  const BoltzmannMachine& machine = model.machine;
  const SamplerKind& kind = find_sampler(plan.sampler.name);
  const Key key(plan.seed), steps_key = key.fold_in(1);
  const std::int64_t sweeps = kind.markov ? plan.sweeps : 0, last = (plan.per_chain - 1) * plan.every;
  const std::int64_t total = sweeps + plan.trace + last;
  ProgressBar bar(label, silent);
  const auto chains = make_chains(plan.sampler, {.machine = machine,
                                                 .data_moments = model.data_moments,
                                                 .start = started(model, plan, data, plan.chains, key.fold_in(0)),
                                                 .start_matters = plan.start != "biases",
                                                 .data = data,
                                                 .known = known,
                                                 .key = key.fold_in(2)});
  std::int64_t done = 0;
  const auto step = [&] {
    if (interrupted()) throw RunFailure("interrupted; nothing was written");
    chains->step(steps_key.fold_in(static_cast<std::uint64_t>(done++)));
    bar.show(done, total, 0, "");
  };
  // Some have no state before their first step.
  if (sweeps + plan.trace == 0 && (kind.single_chain || kind.rungs > 0)) step();
  while (done < sweeps) step();
  Drawn result;
  if (plan.trace > 0) {
    (void)chains->take_notes();
    ChainTrace trace(machine, classes);
    for (std::int64_t i = 0; i < plan.trace; ++i) {
      const Clock::time_point start = Clock::now();
      step();
      const State state = chains->state();
      wait_for_device(state.layers[0]);  // who counts effective samples per second must not count promises
      trace.observe(state, std::chrono::duration<double>(Clock::now() - start).count());
    }
    result.diagnosis = trace.diagnose(chains->take_notes());
  }
  std::vector<at::Tensor> taken;  // per state, chains × width
  for (std::int64_t i = 0; i < plan.per_chain; ++i) {
    for (std::int64_t between = 0; i > 0 && between < plan.every; ++between) step();
    taken.push_back(visible_of(machine, chains->state(), known, plan.means).clone());
  }
  if (!result.diagnosis && done > 0) result.notes = chains->take_notes();
  result.visible = on_cpu(at::stack(taken, 1).flatten(0, 1));
  return result;
}

}  // namespace harmonium
