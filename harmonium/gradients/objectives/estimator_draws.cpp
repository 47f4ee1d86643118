#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>
#include <memory>

#include "harmonium/core/error.h"
#include "harmonium/gradients/objectives/estimator_draws.h"
#include "harmonium/gradients/objectives/estimator_study.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "harmonium/gradients/objectives/path_objective.h"

namespace harmonium {

namespace {

// One estimate for all rows: a surrogate, whose derivative it is.
struct DrawnEstimator {
  std::string name;
  std::int64_t draws = 1;
  DrawnSurrogate surrogate;
  std::string target_p = {}, target_q = {};  // "∇L_5"; empty: none
  bool moves_p = true;
  double recognition_scale = 1;  // of the estimate for q
  bool biased = false;           // and so no target for others
  double passes = 1;
};

// An objective after `batches` batches of these rows: with running means near those they converge to.
std::shared_ptr<LatentObjective> settled_objective(const StudiedNet& net, const Moments& leaves, const at::Tensor& rows,
                                                   const std::string& spec, const SignalOptions& signals,
                                                   const Key& key) {
  const c10::NoGradGuard without_gradient;
  constexpr std::uint64_t batches = 40;
  const auto objective =
      std::make_shared<LatentObjective>(spec, std::vector<std::int64_t>(net.latent.size(), 1), signals);
  for (std::uint64_t batch = 0; batch < batches; ++batch)
    objective->observe(leaves, rows, draw_without_path(net, leaves, rows, objective->draws(), key.fold_in(batch)));
  return objective;
}

std::vector<DrawnEstimator> drawn_estimators(const StudiedNet& net, const Moments& leaves, const at::Tensor& rows,
                                             const std::vector<std::int64_t>& draws, const Key& key) {
  std::vector<DrawnEstimator> all;
  const auto by_score = [&](const std::string& name, const std::string& spec, const std::string& bound,
                            const std::string& bound_q, const SignalOptions& signals = {}) {
    const auto objective = settled_objective(net, leaves, rows, spec, signals, key.fold_in(0).fold_in(all.size()));
    all.push_back({.name = name,
                   .draws = objective->draws(),
                   .surrogate =
                       [&net, rows, objective](const Moments& p, const Key& each) {
                         const Trace trace = draw_without_path(net, p, rows, objective->draws(), each);
                         return objective->of_trace(p, rows, trace).climbed.mean();
                       },
                   .target_p = bound,
                   .target_q = bound_q,
                   .passes = static_cast<double>(objective->draws())});
  };
  const auto by_path = [&](const std::string& spec, const std::string& bound, double passes) {
    const auto objective = std::make_shared<PathObjective>(spec);
    all.push_back({.name = spec,
                   .draws = objective->draws(),
                   .surrogate = [&net, rows, objective](
                                    const Moments& p,
                                    const Key& each) { return objective->estimate(*net.model, p, rows, each).climbed; },
                   .target_p = bound,
                   .target_q = bound,
                   .passes = passes * static_cast<double>(objective->draws())});
  };
  if (!net.binary) {
    if (net.closed)
      all.push_back({.name = "elbo, closed KL",
                     .surrogate = [&net, rows](const Moments& p, const Key& each) { return net.closed(p, rows, each); },
                     .target_p = "∇L_1",
                     .target_q = "∇L_1"});
    by_path("path:1", "∇L_1", 1);
    by_path("stick:1", "∇L_1", 2);
  }
  for (const char* baseline : {"none", "mean", "optimal"}) {
    if (std::string(baseline) == "optimal" && net.affine.size() != net.latent.size()) continue;
    by_score(format("elbo:1, baseline {}", baseline), "elbo:1", "∇L_1", "∇L_1",
             {.baseline = baseline, .normalize = "no", .recognition = net.affine});
  }
  for (const std::int64_t k : draws) {
    const std::string bound = format("∇L_{}", k);
    if (!net.binary) {
      by_path(format("plain_iwae:{}", k), bound, 1);
      by_path(format("iwae:{}", k), bound, 2);
    }
    if (k >= 2) by_score(format("elbo:{}", k), format("elbo:{}", k), "∇L_1", "∇L_1");
    by_score(format("{}:{}", net.binary ? "iwae" : "score function", k), format("iwae:{}", k), bound, bound);
    if (k >= 2) by_score(format("vimco:{}", k), format("vimco:{}", k), bound, bound);
    by_score(format("rws:{}", k), format("rws:{}", k), bound, "");
    all.back().name += ", wake";
    all.back().recognition_scale = 2;  // training takes the mean of wake and sleep
  }
  for (const LatentObjective& each : relaxed_objectives(net))
    all.push_back({.name = each.spec(),
                   .draws = each.draws(),
                   .surrogate = relaxed_surrogate(net, rows, each),
                   .target_p = "∇L_1",
                   .target_q = "∇L_1",
                   .biased = true,
                   .passes = static_cast<double>(each.draws())});
  all.push_back({.name = "sleep", .surrogate = sleep_surrogate(net, rows.size(0)), .moves_p = false});
  return all;
}

}  // namespace

Moments fresh_leaves(const StudiedNet& net) {
  return net.parameters.map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
}

Trace draw_without_path(const StudiedNet& net, const Moments& leaves, const at::Tensor& rows, std::int64_t draws,
                        const Key& key) {
  std::vector<at::Tensor> held;
  {
    const c10::NoGradGuard without_gradient;
    held = net.model->infer(leaves, rows, draws, key).latents;
  }
  return net.model->score(leaves, rows, held);
}

std::vector<LatentObjective> relaxed_objectives(const StudiedNet& net) {
  std::vector<LatentObjective> all;
  if (net.relaxes)
    for (const char* spec : {"straight_through", "concrete:1"})
      all.emplace_back(spec, std::vector<std::int64_t>(net.latent.size(), 1));
  return all;
}

DrawnSurrogate relaxed_surrogate(const StudiedNet& net, const at::Tensor& rows, const LatentObjective& objective) {
  return [&net, rows, objective](const Moments& leaves, const Key& key) {
    return objective.of_trace(leaves, rows, objective.infer(*net.model, leaves, rows, key)).climbed.mean();
  };
}

DrawnSurrogate sleep_surrogate(const StudiedNet& net, std::int64_t rows) {
  const LatentObjective objective("wake_sleep", std::vector<std::int64_t>(net.latent.size(), 1));
  return [&net, rows, objective](const Moments& leaves, const Key& key) {
    return objective.of_dreams(*net.model, leaves, rows, key).mean();
  };
}

DrawnMoments moments_by_draws(const StudiedNet& net, std::int64_t rows, std::int64_t repetitions, const Key& key,
                              const DrawnSurrogate& surrogate) {
  const c10::AutoGradMode with_gradient(true);
  const Moments leaves = fresh_leaves(net);
  DrawnGradients p, q;
  for (std::int64_t i = 0; i < repetitions; ++i) {
    const at::Tensor value = surrogate(leaves, key.fold_in(static_cast<std::uint64_t>(i)));
    p.add(flat_gradient(net, leaves, value, false));
    q.add(flat_gradient(net, leaves, value, true));
  }
  return {.generation = p.moments(rows), .recognition = q.moments(rows)};
}

void add_drawn_findings(EstimatorStudy& study, const StudiedNet& net, const at::Tensor& rows,
                        const ParameterGradients& bound, const at::Tensor& likelihood,
                        const EstimatorStudyOptions& options) {
  const auto measure = [&](const DrawnSurrogate& surrogate) {
    const Key key = Key(options.seed).fold_in(0).fold_in(study.findings.size());
    return moments_by_draws(net, rows.size(0), options.repetitions, key, surrogate);
  };
  for (const LatentObjective& each : relaxed_objectives(net)) {
    const DrawnMoments found = measure(relaxed_surrogate(net, rows, each));
    study.findings.push_back(
        {.name = each.spec(),
         .draws = each.draws(),
         .generation = compare_with(found.generation, "∇L_1", bound.generation),
         .recognition = compare_with(found.recognition, "∇L_1", bound.recognition),
         .off_log_p = ((found.generation.mean - likelihood).norm() / likelihood.norm()).item<double>(),
         .passes = static_cast<double>(each.draws())});
  }
  study.findings.push_back(
      {.name = "sleep",
       .generation = {},
       .recognition = compare_with(measure(sleep_surrogate(net, rows.size(0))).recognition, "", {}),
       .passes = 1});
}

EstimatorStudy study_by_draws(const StudiedNet& net, const at::Tensor& rows, const EstimatorStudyOptions& options,
                              const EstimatorProgress& progress) {
  const c10::AutoGradMode with_gradient(true);
  const Moments leaves = fresh_leaves(net);
  const Key key(options.seed);
  const std::vector<DrawnEstimator> list = drawn_estimators(net, leaves, rows, options.draws, key.fold_in(0));
  std::int64_t done = 0;
  const auto measure = [&](const DrawnEstimator& one, const Key& stream) {
    progress("estimators", done++, 2 * static_cast<std::int64_t>(list.size()));
    DrawnMoments found = moments_by_draws(net, rows.size(0), options.repetitions, stream, one.surrogate);
    const double scale = one.recognition_scale;
    found.recognition.mean = scale * found.recognition.mean;
    found.recognition.error = scale * scale * found.recognition.error;
    found.recognition.variance *= scale * scale;
    return found;
  };
  // Each is measured twice, by draws of its own: what is compared must be independent of what it is compared with.
  std::vector<DrawnMoments> first, second;
  for (std::size_t i = 0; i < list.size(); ++i) {
    first.push_back(measure(list[i], key.fold_in(1).fold_in(i)));
    second.push_back(measure(list[i], key.fold_in(2).fold_in(i)));
  }
  // The target: of all with this aim, the mean with the least noise.
  const auto target = [&](const std::string& aim, bool recognition) -> const GradientMoments* {
    const GradientMoments* best = nullptr;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].biased || (recognition ? list[i].target_q : list[i].target_p) != aim) continue;
      const GradientMoments& one = recognition ? second[i].recognition : second[i].generation;
      if (best == nullptr || one.variance < best->variance) best = &one;
    }
    return best;
  };
  const auto compared = [&](const GradientMoments& found, const std::string& aim, bool recognition) {
    if (aim.empty()) return compare_with(found, aim, {});
    const GradientMoments* wanted = target(aim, recognition);
    return compare_with(found, aim, wanted->mean, wanted->error);
  };
  EstimatorStudy study{.enumerated = false, .rows = rows.size(0), .findings = {}};
  for (std::size_t i = 0; i < list.size(); ++i)
    study.findings.push_back(
        {.name = list[i].name,
         .draws = list[i].draws,
         .generation = list[i].moves_p ? compared(first[i].generation, list[i].target_p, false) : EstimatorPart{},
         .recognition = compared(first[i].recognition, list[i].target_q, true),
         .passes = list[i].passes});
  return study;
}

}  // namespace harmonium
