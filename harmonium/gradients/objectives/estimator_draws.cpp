#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>
#include <memory>

#include "harmonium/core/error.h"
#include "harmonium/gradients/objectives/estimator_study.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "harmonium/gradients/objectives/path_objective.h"

namespace harmonium {

namespace {

// One estimate for all rows: a surrogate, whose derivative it is.
struct DrawnEstimator {
  std::string name;
  std::int64_t draws = 1;
  std::function<at::Tensor(const Moments& leaves, const Key& key)> surrogate;
  std::string target_p, target_q;  // "∇L_5"; empty: none
  bool moves_p = true, moves_q = true;
  double passes = 1;
};

Trace without_path(const StudiedNet& net, const Moments& leaves, const at::Tensor& rows, std::int64_t draws,
                   const Key& key) {
  std::vector<at::Tensor> held;
  {
    const c10::NoGradGuard without_gradient;
    held = net.model->infer(leaves, rows, draws, key).latents;
  }
  return net.model->score(leaves, rows, held);
}

// An objective after `batches` batches of these rows: with running means near those they converge to.
std::shared_ptr<LatentObjective> settled_objective(const StudiedNet& net, const Moments& leaves, const at::Tensor& rows,
                                                   const std::string& spec, const SignalOptions& signals,
                                                   const Key& key) {
  const c10::NoGradGuard without_gradient;
  constexpr std::uint64_t batches = 40;
  const auto objective =
      std::make_shared<LatentObjective>(spec, std::vector<std::int64_t>(net.latent.size(), 1), signals);
  for (std::uint64_t batch = 0; batch < batches; ++batch)
    objective->observe(leaves, rows, without_path(net, leaves, rows, objective->draws(), key.fold_in(batch)));
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
                         const Trace trace = without_path(net, p, rows, objective->draws(), each);
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
  }
  return all;
}

at::Tensor gradients(const StudiedNet& net, const Moments& leaves, const at::Tensor& surrogate, bool recognition) {
  return flat_gradient(net, leaves, surrogate, recognition);
}

struct DrawnMoments {
  GradientMoments generation, recognition;
};

}  // namespace

EstimatorStudy study_by_draws(const StudiedNet& net, const at::Tensor& rows, const EstimatorStudyOptions& options,
                              const EstimatorProgress& progress) {
  const c10::AutoGradMode with_gradient(true);
  const Moments leaves =
      net.parameters.map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
  const Key key(options.seed);
  const std::vector<DrawnEstimator> list = drawn_estimators(net, leaves, rows, options.draws, key.fold_in(0));
  const auto total = static_cast<std::int64_t>(list.size()) * 2 * options.repetitions;
  std::int64_t done = 0;
  const auto measure = [&](const DrawnEstimator& one, const Key& stream) {
    std::vector<at::Tensor> p, q;
    for (std::int64_t i = 0; i < options.repetitions; ++i) {
      progress(one.name, done++, total);
      const at::Tensor surrogate = one.surrogate(leaves, stream.fold_in(static_cast<std::uint64_t>(i)));
      p.push_back(gradients(net, leaves, surrogate, false));
      q.push_back(gradients(net, leaves, surrogate, true));
    }
    return DrawnMoments{.generation = moments_of_draws(at::stack(p), rows.size(0)),
                        .recognition = moments_of_draws(at::stack(q), rows.size(0))};
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
      if ((recognition ? list[i].target_q : list[i].target_p) != aim) continue;
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
    study.findings.push_back({.name = list[i].name,
                              .draws = list[i].draws,
                              .generation = compared(first[i].generation, list[i].target_p, false),
                              .recognition = compared(first[i].recognition, list[i].target_q, true),
                              .passes = list[i].passes});
  return study;
}

}  // namespace harmonium
