#include "harmonium/samplers/chains.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/core/number_text.h"
#include "harmonium/inference/data_moments.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/samplers/adaptive_ladder.h"
#include "harmonium/samplers/exact_sample.h"
#include "harmonium/samplers/herding.h"
#include "harmonium/samplers/parallel_tempering.h"
#include "harmonium/samplers/rates_fpcd.h"
#include "harmonium/samplers/tempered_transitions.h"

namespace harmonium {

namespace {

// A short pilot: enough to even out a ladder that is only to be sampled with.
std::vector<double> pilot_ladder(const TemperedLine& line, std::int64_t rungs, const Key& key) {
  return adaptive_ladder(line, rungs, key, {.rows = 20, .rounds = 4, .steps = 25});
}

// The base with the means of the data: those the model remembers, those at hand, or those of a short run.
Moments tempering_base(const ChainsInput& input) {
  const BoltzmannMachine& machine = input.machine;
  if (!input.data_moments.empty()) return base_rate_parameters(machine, input.data_moments);
  if (input.data == nullptr) return base_rate_parameters(machine, input.key.fold_in(0xBA5E));
  ObservedMoments moments;
  for (const std::size_t layer : machine.observed())
    moments.push_back(machine.unit(layer).moments(input.data->layers[layer], {}));
  return base_rate_parameters(machine, moments);
}

Moments steering_moments(const ChainsInput& input) {
  require(input.data != nullptr, "this sampler needs moments of the training data: give @data");
  return data_moments(input.machine, *input.data);
}

// Layers after the first block drawn given it: where chains begin at visible values, the others have to follow.
void follow_first_block(const BoltzmannMachine& machine, State& state, const Key& key) {
  for (std::size_t block = 1; block < machine.blocks().size(); ++block)
    (void)sample_layers(machine, state, key, machine.blocks()[block]);
}

class GibbsChains final : public Chains {
 public:
  explicit GibbsChains(ChainsInput input)
      : machine_(input.machine), state_(std::move(input.start)), known_(std::move(input.known)) {
    known_.resize(machine_.layers().size());
  }
  void step(const Key& key) override { conditional_gibbs(machine_, state_, key, 1, known_); }
  [[nodiscard]] State state() override { return state_; }

 private:
  BoltzmannMachine machine_;
  State state_;
  KnownUnits known_;
};

class ParallelTemperingChains final : public Chains {
 public:
  ParallelTemperingChains(const ChainsInput& input, std::int64_t rungs)
      : line_(input.machine, tempering_base(input)),
        chains_(pilot_ladder(line_, rungs, input.key.fold_in(0)), input.start.rows()) {
    if (input.start_matters) chains_.start(std::vector<State>(static_cast<std::size_t>(rungs), input.start));
  }
  void step(const Key& key) override {
    chains_.step(line_, key.fold_in(0));
    last_ = key.fold_in(1);
  }
  [[nodiscard]] State state() override { return chains_.target_state(line_, last_); }
  [[nodiscard]] Notes take_notes() override {
    const TemperingStatistics found = chains_.take_statistics();
    double least = 1;
    for (const double each : found.acceptance)
      if (!std::isnan(each)) least = std::min(least, each);
    // Of the walkers, of which there are as many on every rung as there are chains.
    const double trips = static_cast<double>(found.round_trips) / static_cast<double>(chains_.rungs()[0].rows());
    Notes notes;
    notes.numbers = {{"ladder", chains_.ladder()},
                     {"exchange_acceptance", found.acceptance},
                     {"round_trips", found.round_trips},
                     {"round_trips_per_chain", trips}};
    notes.sentences = {
        format("exchanges between {} rungs accepted with probability {:.2f} or more; {} round trips ({} "
               "per chain)",
               chains_.ladder().size(), least, found.round_trips, short_number(trips))};
    if (least < 0.1)
      notes.sentences.push_back("exchanges are rare; use more @rungs");
    else if (found.round_trips == 0)
      notes.sentences.push_back("no chain has made a round trip to the base yet; use more steps");
    return notes;
  }

 private:
  TemperedLine line_;
  ParallelTempering chains_;
  Key last_ = Key(0);
};

class TemperedTransitionChains final : public Chains {
 public:
  TemperedTransitionChains(ChainsInput input, std::int64_t rungs)
      : line_(input.machine, tempering_base(input)),
        ladder_(pilot_ladder(line_, rungs, input.key.fold_in(0))),
        state_(std::move(input.start)) {
    follow_first_block(line_.target(), state_, input.key.fold_in(1));
  }
  void step(const Key& key) override {
    gibbs(line_.target(), state_, key.fold_in(0));
    accepted_ += tempered_transition(line_, ladder_, state_, key.fold_in(1)).acceptance;
    ++offered_;
  }
  [[nodiscard]] State state() override { return state_; }
  [[nodiscard]] Notes take_notes() override {
    const double mean = accepted_ / static_cast<double>(std::max<std::int64_t>(offered_, 1));
    accepted_ = 0;
    offered_ = 0;
    Notes notes{.numbers = {{"ladder", ladder_}, {"acceptance", mean}},
                .sentences = {format("excursions over {} rungs accepted with probability {}", ladder_.size(),
                                     short_number(mean))}};
    if (mean < 0.02)
      notes.sentences.push_back("excursions are hardly ever accepted; use more @rungs or another sampler");
    return notes;
  }

 private:
  TemperedLine line_;
  std::vector<double> ladder_;
  State state_;
  double accepted_ = 0;
  std::int64_t offered_ = 0;
};

class HerdingChain final : public Chains {
 public:
  explicit HerdingChain(const ChainsInput& input)
      : options_(input.machine.options()), herding_(input.machine, steering_moments(input)) {}
  void step(const Key&) override { (void)herding_.step(); }
  [[nodiscard]] State state() override {
    State state = herding_.state();
    for (at::Tensor& layer : state.layers) layer = layer.to(options_);
    return state;
  }
  [[nodiscard]] Notes take_notes() override {
    if (herding_.steps() == 0) return {};
    const double error = herding_.moment_error();
    return {.numbers = {{"steps", herding_.steps()}, {"moment_error", error}, {"shortfalls", herding_.shortfalls()}},
            .sentences = {format("moments of all {} states are {} away from those of the data; {} local maxima were "
                                 "not good enough for the guarantee",
                                 herding_.steps(), short_number(error), herding_.shortfalls())}};
  }

 private:
  at::TensorOptions options_;
  Herding herding_;
};

class RatesFpcdChains final : public Chains {
 public:
  RatesFpcdChains(const ChainsInput& input, const SamplerOptions& options)
      : chains_(input.machine, steering_moments(input), started(input),
                {.fast_rate = options.fast_rate, .fast_decay = options.fast_decay}) {}
  void step(const Key& key) override { (void)chains_.step(key); }
  [[nodiscard]] State state() override { return chains_.state(); }
  [[nodiscard]] Notes take_notes() override {
    return {
        .sentences = {"rates-FPCD is biased: its chains are pulled towards the data and pushed away from their past"}};
  }

 private:
  static State started(const ChainsInput& input) {
    constexpr double most_bytes = 8e9;
    const double bytes = static_cast<double>(input.start.rows() * input.machine.parameters().dimension()) *
                         static_cast<double>(input.start.layers[0].element_size());
    require(bytes <= most_bytes,
            "rates_fpcd stores the parameters once for each of its {} chains, {:.0f} GB in all; use fewer chains "
            "(-n), or several states of each (@per_chain)",
            input.start.rows(), bytes / 1e9);
    State state = input.start;
    follow_first_block(input.machine, state, input.key.fold_in(1));
    return state;
  }

  RatesFpcd chains_;
};

// Draws made in stock, because an enumeration costs the same for one or for many.
class ExactChains final : public Chains {
 public:
  explicit ExactChains(const ChainsInput& input) : machine_(input.machine), rows_(input.start.rows()) {
    std::int64_t width = 0;
    for (const Layer& layer : machine_.layers()) width += layer.unit->width();
    constexpr std::int64_t most_values = 1 << 24;
    in_stock_ = std::clamp<std::int64_t>(most_values / (rows_ * width), 1, 1000);
    key_ = input.key;
  }
  void step(const Key&) override { ++next_; }
  [[nodiscard]] State state() override {
    if (next_ / in_stock_ != batch_) {
      batch_ = next_ / in_stock_;
      stock_ = exact_sample(machine_, key_.fold_in(static_cast<std::uint64_t>(batch_)), rows_ * in_stock_);
    }
    State state;
    for (const at::Tensor& layer : stock_.layers)
      state.layers.push_back(layer.narrow(0, next_ % in_stock_ * rows_, rows_));
    return state;
  }

 private:
  BoltzmannMachine machine_;
  std::int64_t rows_, in_stock_ = 1, next_ = 0, batch_ = -1;
  Key key_;
  State stock_;
};

}  // namespace

const std::vector<SamplerKind>& sampler_kinds() {
  using MadeChains = std::unique_ptr<Chains>;
  static const std::vector<SamplerKind> kinds = {
      {.name = "gibbs",
       .alias = "",
       .help = "block Gibbs sampling",
       .clamps = true,
       .make = [](ChainsInput input, const SamplerOptions&) -> MadeChains {
         return std::make_unique<GibbsChains>(std::move(input));
       }},
      {.name = "parallel_tempering",
       .alias = "pt",
       .help = "chains at many temperatures that exchange their states",
       .rungs = 20,
       .make = [](ChainsInput input, const SamplerOptions& options) -> MadeChains {
         return std::make_unique<ParallelTemperingChains>(input, options.rungs);
       }},
      {.name = "tempered_transitions",
       .alias = "tempered",
       .help = "excursions to the base rates and back",
       .rungs = 50,
       .make = [](ChainsInput input, const SamplerOptions& options) -> MadeChains {
         return std::make_unique<TemperedTransitionChains>(std::move(input), options.rungs);
       }},
      {.name = "herding",
       .alias = "",
       .help = "one deterministic sequence with the data's moments",
       .needs_data = true,
       .single_chain = true,
       .make = [](ChainsInput input, const SamplerOptions&) -> MadeChains {
         return std::make_unique<HerdingChain>(input);
       }},
      {.name = "rates_fpcd",
       .alias = "fpcd",
       .help = "Gibbs sampling under fast weights; mixes fast, biased",
       .needs_data = true,
       .make = [](ChainsInput input, const SamplerOptions& options) -> MadeChains {
         return std::make_unique<RatesFpcdChains>(input, options);
       }},
      {.name = "exact",
       .alias = "",
       .help = "independent draws, where one side can be enumerated",
       .markov = false,
       .make = [](ChainsInput input, const SamplerOptions&) -> MadeChains {
         return std::make_unique<ExactChains>(input);
       }},
  };
  return kinds;
}

const SamplerKind& find_sampler(const std::string& name) {
  for (const SamplerKind& kind : sampler_kinds())
    if (!name.empty() && (name == kind.name || name == kind.alias)) return kind;
  fail("unknown sampler '{}'; there are: {}, wang_landau", name, names_of(sampler_kinds()));
}

void check(const SamplerOptions& options) {
  const SamplerKind& kind = find_sampler(options.name);
  require(options.rungs == 0 || kind.rungs > 0, "@rungs {} does not apply to the sampler {}; it applies to {}",
          options.rungs, kind.name, names_of(sampler_kinds(), [](const SamplerKind& each) { return each.rungs > 0; }));
  require(options.rungs == 0 || options.rungs >= 2, "@rungs {}: at least 2 inverse temperatures are needed, 0 and 1",
          options.rungs);
}

std::unique_ptr<Chains> make_chains(const SamplerOptions& options, ChainsInput given) {
  check(options);
  const BoltzmannMachine machine = given.machine.with_exact_units();
  ChainsInput input{.machine = machine,
                    .data_moments = given.data_moments,
                    .start = std::move(given.start),
                    .start_matters = given.start_matters,
                    .data = given.data,
                    .known = std::move(given.known),
                    .key = given.key};
  require_finite_z(input.machine);
  const SamplerKind& kind = find_sampler(options.name);
  SamplerOptions complete = options;
  if (complete.rungs == 0) complete.rungs = kind.rungs;
  return kind.make(std::move(input), complete);
}

}  // namespace harmonium
