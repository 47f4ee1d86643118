// Moments of estimates that can only be drawn.
#pragma once

#include <functional>

#include "harmonium/gradients/objectives/estimator_study.h"
#include "harmonium/gradients/objectives/estimator_targets.h"
#include "harmonium/gradients/objectives/latent_objective.h"

namespace harmonium {

// One estimate, the mean over rows with draws of their own, as the derivative of a number.
using DrawnSurrogate = std::function<at::Tensor(const Moments& leaves, const Key& key)>;

struct DrawnMoments {
  GradientMoments generation, recognition;
};
// Of so many estimates, each a mean over `rows` rows.
[[nodiscard]] DrawnMoments moments_by_draws(const StudiedNet& net, std::int64_t rows, std::int64_t repetitions,
                                            const Key& key, const DrawnSurrogate& surrogate);
// Objectives with relaxed draws, where there are any.
[[nodiscard]] std::vector<LatentObjective> relaxed_objectives(const StudiedNet& net);
[[nodiscard]] DrawnSurrogate relaxed_surrogate(const StudiedNet& net, const at::Tensor& rows,
                                               const LatentObjective& objective);
// What wake-sleep teaches q: so many dreams. Moves nothing else.
[[nodiscard]] DrawnSurrogate sleep_surrogate(const StudiedNet& net, std::int64_t rows);
// Parameters whose gradients are looked at.
[[nodiscard]] Moments fresh_leaves(const StudiedNet& net);
// Draws of q, scored at values that have no path.
[[nodiscard]] Trace draw_without_path(const StudiedNet& net, const Moments& leaves, const at::Tensor& rows,
                                      std::int64_t draws, const Key& key);

// To a study of enumerated states: estimators whose draws are not of those, relaxed ones (held against the exact
// gradient of L_1) and dreams. `likelihood` is ∇_θ log p(x).
void add_drawn_findings(EstimatorStudy& study, const StudiedNet& net, const at::Tensor& rows,
                        const ParameterGradients& bound, const at::Tensor& likelihood,
                        const EstimatorStudyOptions& options);

}  // namespace harmonium
