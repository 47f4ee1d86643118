// What is known about how good a model is: the answer of `evaluate`, whatever family the model is of.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/likelihood/estimate.h"

namespace harmonium {

// How hidden layers that are joined to each other were summed over (likelihood/log_marginal.h).
struct HiddenLayers {
  std::string method;       // "2^10 states of hidden2", "mean field", "annealing with data held"
  bool exact = true;        // else the log-likelihood is bounded from below
  std::int64_t sweeps = 0;  // of mean field, of the slowest rows
  double change = 0;        // of a mean in the last of them
  bool converged = true;
  // Of annealed rows: chains for each, steps, and by how much walking down is above walking up, the mean over rows.
  std::int64_t chains = 0, betas = 0;
  std::optional<double> gap = std::nullopt;

  // Whether the log-likelihood is bounded from below, by nobody knows how much.
  [[nodiscard]] bool bounds() const { return !exact && !gap; }
};

// "hidden layers by mean field, 23 sweeps, converged".
[[nodiscard]] std::string in_words(const HiddenLayers& hidden);

// An importance bound with fewer draws than that of the answer, from the same ones: L_1, L_10, ….
struct BoundWithDraws {
  std::int64_t draws = 0;
  double value = 0;
};
// Data whose rows are frames of sequences: the log-likelihood is then per frame, over all frames.
struct JudgedSequences {
  std::int64_t count = 0;
  // Mean of a whole sequence, and intervals of 95 % of that and of the mean per frame for sequences drawn anew from
  // where these come from; nothing where there are fewer than two.
  double mean = 0;
  struct Intervals {
    double low = 0, high = 0, frame_low = 0, frame_high = 0;
  };
  std::optional<Intervals> intervals = std::nullopt;
};
// From log-likelihoods of single frames (float64, on the CPU), sequence after sequence of these lengths.
[[nodiscard]] JudgedSequences judged_sequences(const at::Tensor& of_frames, const std::vector<std::int64_t>& lengths);
// "77 sequences, −512.3 nats each [−541.0, −483.6]; …".
[[nodiscard]] std::string in_words(const JudgedSequences& sequences);

struct Evaluation {
  std::string model;
  std::int64_t updates = 0;  // that the model was trained, as it says itself; 0: not known (in a run: the final model)
  double seconds = 0;        // of training until then; 0: not known
  std::string data;          // empty where log Z alone was asked for
  std::int64_t n = 0;        // rows
  std::string binarization;  // "none", "threshold", "stochastic (seed 0)", "stochastic (seeds 0–4)"
  std::string device = "cpu";  // where it was estimated: "cpu", "cuda, precision fast", "cuda, precision exact"
  int draws = 1;               // of a stochastic binarization, over which the log-likelihood is averaged
  std::optional<double> draw_spread = std::nullopt;       // standard deviation between draws; nothing for one draw
  std::optional<Estimate> log_z = std::nullopt;           // nothing for models that are normalized by construction
  std::optional<Estimate> log_likelihood = std::nullopt;  // mean per row
  std::optional<HiddenLayers> hidden = std::nullopt;      // nothing where they have a closed form
  // Log-likelihood of each row (n, float64, on the CPU), of which log_likelihood is the mean; averaged over draws.
  // Undefined where nobody knows. No record holds it.
  at::Tensor of_rows = {};
  std::optional<JudgedSequences> sequences = std::nullopt;  // where the model is one of sequences, and rows are frames
  // Beside an AIS that errs the other way, or alone:
  std::optional<Estimate> raise = std::nullopt;        // bound on the log-likelihood from below
  std::int64_t raise_rows = 0;                         // that it was found with
  std::optional<Estimate> upper_log_z = std::nullopt;  // the bound on log Z that it comes from
  std::optional<double> gap = std::nullopt;            // upper_log_z − log_z, in nats
  std::optional<Estimate> bennett = std::nullopt;      // log Z by AIS and reverse AIS together (likelihood/bennett.h)
  // Of an importance bound: how it rose to its value, which is the last, and the share of rows whose weights have a
  // tail too heavy for a mean that can be trusted (likelihood/weight_tails.h).
  std::vector<BoundWithDraws> bounds = {};
  std::optional<double> heavy_rows = std::nullopt;
  double acceptable = 0.5;      // a gap that does not matter, in nats
  std::string verdict = {};     // in plain words; empty where there is nothing to say
  std::string unfinished = {};  // "update 2871 of 10000" where the run had not ended; empty otherwise
  std::optional<std::int64_t> trained_rows = std::nullopt;  // rows that the model has learnt from; nothing: not known
  std::string trained_rows_note = {};                       // the same in words; empty where there is nothing to say

  // The estimate that says how the answer was found: that of log Z, or of the log-likelihood where there is no Z.
  [[nodiscard]] const Estimate& way() const { return log_z ? *log_z : log_likelihood.value(); }
};

// Fails where a number was found that is not finite: it says nothing, and no file could hold it.
void require_finite(const Evaluation& evaluation);

// Data, rows, binarization and way of estimating (exact; AIS of so many chains and β; a sandwich) are the same.
[[nodiscard]] bool same_question(const Evaluation& one, const Evaluation& other);
// Which of two answers about the same data to show where there is room for one: exact before estimated, more annealing
// before less, the later where they are equal.
[[nodiscard]] bool at_least_as_good(const Evaluation& later, const Evaluation& earlier);

}  // namespace harmonium
