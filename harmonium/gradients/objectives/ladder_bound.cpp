#include "harmonium/gradients/objectives/ladder_bound.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

LadderTerms terms_of(const Ladder& ladder, const LadderWalk& walk, const at::Tensor& rows) {
  LadderTerms terms{.log_likelihood = ladder.visible().log_prob(rows, walk.visible_raw), .kl = {}};
  for (std::size_t l = 0; l < ladder.levels(); ++l)
    terms.kl.push_back(ladder.kl(l, walk.levels[l]).sum(-1, /*keepdim=*/false, at::kDouble));
  return terms;
}

}  // namespace

at::Tensor LadderTerms::bound() const { return objective({}); }

at::Tensor LadderTerms::objective(const ElboOptions& options) const {
  require(options.beta >= 0 && std::isfinite(options.beta), "the weight of the KL must not be negative, and is {}",
          options.beta);
  require(options.free_nats >= 0 && std::isfinite(options.free_nats), "free nats must not be negative, and are {}",
          options.free_nats);
  std::vector<at::Tensor> means;
  for (const at::Tensor& each : kl) means.push_back(each.mean());
  at::Tensor divergence = at::stack(means);
  if (options.free_nats > 0) divergence = divergence.clamp_min(options.free_nats);
  return log_likelihood.mean() - options.beta * divergence.sum();
}

LadderTerms ladder_terms(const Ladder& ladder, const Moments& leaves, const at::Tensor& rows, const Key& key) {
  require(rows.dim() == 2 && rows.size(0) >= 1, "the bound of a ladder needs at least one row");
  return terms_of(ladder, ladder.walk(leaves, rows, 1, ladder.posterior_draws(key, 1)), rows);
}

LadderFindings ladder_findings(const Ladder& ladder, const Moments& parameters, const at::Tensor& rows,
                               const Key& key) {
  require(rows.dim() == 2 && rows.size(0) >= 2, "counting active latent variables needs at least two rows");
  constexpr std::int64_t rows_at_once = 200;  // part of the names of random streams
  const c10::NoGradGuard without_gradient;
  const auto n = static_cast<double>(rows.size(0));
  LadderFindings found{.bound = 0, .kl = std::vector<double>(ladder.levels()), .kl_of_variables = {}, .active = {}};
  std::vector<at::Tensor> kl_of_levels(ladder.levels());
  std::vector<std::vector<at::Tensor>> means(ladder.levels());
  for (std::int64_t first = 0; first < rows.size(0); first += rows_at_once) {
    const at::Tensor part = rows.narrow(0, first, std::min(rows_at_once, rows.size(0) - first));
    const Key part_key = key.fold_in(static_cast<std::uint64_t>(first));
    const LadderWalk walk = ladder.walk(parameters, part, 1, ladder.posterior_draws(part_key, 1));
    const LadderTerms terms = terms_of(ladder, walk, part);
    found.bound += terms.log_likelihood.sum().item<double>() / n;
    for (std::size_t l = 0; l < ladder.levels(); ++l) {
      const double kl = terms.kl[l].sum().item<double>() / n;
      found.bound -= kl;
      found.kl[l] += kl;
      const at::Tensor each = ladder.kl(l, walk.levels[l]).sum(0, /*keepdim=*/false, at::kDouble) / n;
      kl_of_levels[l] = kl_of_levels[l].defined() ? kl_of_levels[l] + each : each;
      means[l].push_back(ladder.latent(l).mean(walk.levels[l].posterior));
    }
  }
  found.kl_of_variables = at::cat(kl_of_levels);
  for (const std::vector<at::Tensor>& level : means)
    found.active.push_back(at::cat(level).var(0).gt(0.01).sum().item<std::int64_t>());
  return found;
}

}  // namespace harmonium
