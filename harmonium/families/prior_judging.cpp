#include "harmonium/families/prior_judging.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/families/importance_judging.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/log_likelihood.h"
#include "harmonium/models/directed/rbm_prior.h"
#include "harmonium/models/enumeration.h"

namespace harmonium {

namespace {

// Of rows the same as that of normalized nets (importance_judging.cpp).
enum : std::uint64_t { rows_stream = 2, tops_stream = 3 };

// Uppermost latents of some rows of the data, drawn by q: where annealing of the prior may begin and end.
State tops_of(const JudgedPrior& judged, const TestData& test, const Key& key) {
  constexpr std::int64_t most_rows = 1000;
  const at::Tensor all = test.draw(0).to_float();
  const at::Tensor chosen = permutation(key.fold_in(0), all.size(0)).narrow(0, 0, std::min(most_rows, all.size(0)));
  const at::Tensor rows = all.index_select(0, chosen).to(judged.machine.device());
  const Trace trace = judged.model.infer(judged.parameters, rows, 1, key.fold_in(1));
  return judged.machine.observe({trace.latents.back().select(1, 0).detach()});
}

// A mean over rows of log p̂, less log Z: the noise of draws and that of log Z add up.
Estimate normalized(const Estimate& bound, const Estimate& log_z) {
  Estimate result = log_likelihood(bound.value, log_z, /*log_f_exact=*/false);
  result.low -= bound.value - bound.low;
  result.high += bound.high - bound.value;
  return result;
}

std::string about_log_z(const Evaluation& common, const Findings& findings) {
  const Estimate& z = findings.log_z;
  if (z.kind == EstimateKind::exact) return "log Z of the prior is exact";
  if (z.kind == EstimateKind::upper_bound) return "log Z of the prior is bounded from above, so that the bound holds";
  if (!common.gap) {
    const std::string doubt = warning(z);
    return doubt.empty()
               ? "log Z of the prior is by AIS alone, which errs towards too low a value, and then the bound is "
                 "too high; the method sandwich bounds it from above as well"
               : "log Z of the prior: " + doubt;
  }
  const Estimate& upper = *common.upper_log_z;
  const std::string found = findings.raise && findings.reverse
                                ? verdict(z, *findings.raise, *findings.reverse, std::nullopt, common.acceptable)
                                : verdict(Sandwich{z, upper}, std::nullopt, common.acceptable);
  return format("log Z of the prior is {} from below (AIS) and {} from above ({}): {}", fixed_number(z.value, 2),
                fixed_number(upper.value, 2), name_of_bound(upper), found);
}

std::string about_own_rows(const JudgedPrior& judged, const EstimationOptions& options) {
  return in_words(judge_own_rows(judged.model, judged.parameters, options), options.gap) +
         (judged.model.dreams_exactly()
              ? ""
              : format(" (these rows come from Gibbs chains of the prior after {} sweeps, which are close to the "
                       "model's own)",
                       RbmPrior::usual_sweeps));
}

}  // namespace

void check_prior_judging(const EstimationOptions& options, const BoltzmannMachine& prior) {
  require(options.method != "bihm",
          "@method bihm: a net whose prior is an RBM is judged by importance sampling and log Z of the prior; choose "
          "@importance, and @method exact, ais, ma-ais, raise or sandwich for log Z");
  require(options.base == "data" || options.base == "uniform",
          "@base {}: log Z of a prior is annealed from data or uniform", options.base);
  constexpr int most_bits = 30;  // by who asks for it
  require(options.method != "exact" || can_enumerate(prior, most_bits),
          "log Z of the prior cannot be exact: both its sides have more than 2^{} states; use ais or sandwich",
          most_bits);
  harmonium::check(options);
}

std::vector<Evaluation> judge_under_prior(const JudgedPrior& judged, const std::vector<const TestData*>& tests,
                                          const EstimationOptions& options, Watcher& watcher, Journal* journal) {
  check_prior_judging(options, judged.machine);
  const Key key(options.seed);
  std::optional<State> tops;
  if (!tests.empty()) tops = tops_of(judged, *tests.front(), key.fold_in(tops_stream));
  const Findings findings =
      find_log_z({.machine = judged.machine, .data_moments = {}}, tops ? &*tops : nullptr, options, watcher, journal);
  Evaluation common;
  common.log_z = findings.log_z;
  common.upper_log_z = findings.upper(options.gap);
  common.bennett = findings.bennett;
  if (common.upper_log_z && findings.log_z.kind == EstimateKind::unbiased_estimate) {
    common.gap = Sandwich{findings.log_z, *common.upper_log_z}.gap();
    common.acceptable = options.gap;
  }
  common.verdict = about_log_z(common, findings);
  if (tests.empty()) return {common};
  const std::string own_rows = about_own_rows(judged, options);
  std::vector<Evaluation> answers;
  for (const TestData* test : tests) {
    Evaluation answer = judge_by_rows(*test, judged.visible, [&](const at::Tensor& rows) {
      return bound_rows(judged.model, judged.parameters, rows, options.importance, key.fold_in(rows_stream),
                        watcher.begin(format("importance sampling, {} draws", options.importance)));
    });
    const Estimate bound = *answer.log_likelihood;  // without log Z
    answer.log_likelihood = normalized(bound, findings.log_z);
    answer.log_likelihood->method = importance_method(findings.log_z);
    answer.log_likelihood->chains = options.importance;
    answer.log_likelihood->betas = 0;
    answer.of_rows = answer.of_rows - findings.log_z.value;
    answer.log_z = common.log_z;
    answer.upper_log_z = common.upper_log_z;
    answer.bennett = common.bennett;
    answer.gap = common.gap;
    answer.acceptable = common.acceptable;
    if (findings.raise_rows > 0) {
      answer.raise = normalized(bound, *findings.raise);
      answer.raise_rows = findings.raise_rows;
    }
    answer.verdict = common.verdict;
    if (answer.gap)
      answer.verdict +=
          format(". With the larger log Z the log-likelihood is at least {}",
                 fixed_number(bound.value - std::max(findings.log_z.value, answer.upper_log_z->value), 2));
    answer.verdict += ". " + own_rows;
    answers.push_back(std::move(answer));
  }
  return answers;
}

bool judged_under_prior(const Evaluation& old, const EstimationOptions& options, const BoltzmannMachine& prior) {
  return old.log_likelihood && importance_draws(*old.log_likelihood) == options.importance &&
         found_the_same_way(old, options, prior);
}

}  // namespace harmonium
