// How good is a machine: which estimate of log Z to make, within a time budget, as work that survives being stopped.
#pragma once

#include <optional>
#include <string>

#include "harmonium/likelihood/evaluation.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/likelihood/journal.h"
#include "harmonium/likelihood/sandwich.h"
#include "harmonium/samplers/base_parameters.h"

namespace harmonium {

struct EstimationOptions {
  std::string method = "auto";  // exact, ais, ma-ais, raise, sandwich
  std::int64_t chains = 100;    // of AIS, and of reverse AIS
  std::int64_t betas = 0;       // 0: 10 000; auto starts with 1 000
  std::string schedule = "linear", base = "data", sum_out = "odd";
  std::int64_t knots = 9;  // ma-ais
  std::int64_t raise_rows = 100, raise_chains = 5;
  // Rows of machines whose hidden layers are joined: mean_field, ais (annealing with data held), or auto: ais for
  // machines that were trained with a sampled posterior.
  std::string rows_by = "auto";
  std::int64_t row_chains = 8, row_betas = 1000;
  std::int64_t importance = 1000;  // draws of the latent variables of each row, for models that have them
  std::int64_t orders = 0;         // of an ensemble of orders, for models of any order; 0: the model's own number
  double gap = 0.5, minutes = 5;   // auto: the gap to reach and the time it may take
  std::uint64_t seed = 0;
  // What auto does: exact to 2^25 states, else a sandwich; where many models are judged: exact to 2^22, else AIS.
  bool thorough = true;
};

// Fails where an option is unknown or contradicts another.
void check(const EstimationOptions& options);

// exact, ais, ma-ais, raise, sandwich or auto (a sandwich that grows): what `options` come to for this machine.
[[nodiscard]] std::string method_for(const EstimationOptions& options, const BoltzmannMachine& machine);

// How an estimate by these options calls itself: "ais", "ais, base uniform", "ma-ais", "raise".
[[nodiscard]] std::string method_text(const EstimationOptions& options, const BoltzmannMachine& machine);

// The steps from base to target that `options` come to; auto starts there.
[[nodiscard]] std::int64_t betas_of(const EstimationOptions& options);

// Whether an answer about the machine was found in the way that `options` ask for.
[[nodiscard]] bool found_the_same_way(const Evaluation& old, const EstimationOptions& options,
                                      const BoltzmannMachine& machine);

struct Findings {
  Estimate log_z;  // what the log-likelihood follows from
  // Bounds from above, beside an AIS or alone: by rows of data, and by samples of the model.
  std::optional<Estimate> raise = std::nullopt, reverse = std::nullopt;
  std::optional<Estimate> bennett = std::nullopt;  // AIS and reverse AIS put together, where both were made
  std::int64_t raise_rows = 0;                     // that were annealed; 0: none

  // The bound that a sandwich is judged by, where there is one.
  [[nodiscard]] std::optional<Estimate> upper(double gap) const {
    if (raise && reverse) return cautious(*raise, *reverse, gap);
    return raise ? raise : reverse;
  }
};

// Who waits for an estimate: told how far it is, asked whether to go on (throws to stop), and given sentences.
class Watcher {
 public:
  virtual ~Watcher() = default;
  // A new piece of work; progress goes to what it returns.
  [[nodiscard]] virtual Progress begin(const std::string& what) = 0;
  virtual void say(const std::string& sentence) = 0;
};

// What is judged: a machine, averages of its training data where they are known, and another base than those, where
// `base` of the options names a model.
struct JudgedMachine {
  const BoltzmannMachine& machine;
  const ObservedMoments& data_moments;
  const BoltzmannMachine* base = nullptr;
};

// `rows` (observed layers) may be null; they are what RAISE starts at, and give base rates where the model knows none.
// `journal` may be null.
[[nodiscard]] Findings find_log_z(const JudgedMachine& judged, const State* rows, const EstimationOptions& options,
                                  Watcher& watcher, Journal* journal);

}  // namespace harmonium
