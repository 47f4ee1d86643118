#include "harmonium/geometry/fisher_study.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/geometry/block_diagonal.h"
#include "harmonium/geometry/centering.h"
#include "harmonium/geometry/diagonal.h"
#include "harmonium/geometry/fang.h"
#include "harmonium/geometry/low_rank.h"

namespace harmonium {

namespace {

struct Candidate {
  std::string name;
  std::vector<std::unique_ptr<Metric>> draws;  // more than one for the control
};

std::vector<Candidate> make_candidates(const Topology& topology, const Moments& shape,
                                       const FisherStudyOptions& options, bool with_blocks) {
  MetricOptions metric{.damping = options.damping, .centered_damping = false, .statistics_every = 1, .refit_every = 1};
  std::vector<Candidate> all;
  const auto add = [&](std::string name, std::unique_ptr<Metric> one) {
    Candidate candidate{.name = std::move(name), .draws = {}};
    candidate.draws.push_back(std::move(one));
    all.push_back(std::move(candidate));
  };
  metric.rank = 0;
  add("isotropic", std::make_unique<LowRank>(topology, shape, metric));
  // The largest rank first: smaller ones then find their eigenpairs known.
  std::vector<std::int64_t> ranks = options.ranks;
  std::ranges::sort(ranks, std::greater<>());
  for (const std::int64_t rank : ranks) {
    if (rank >= shape.dimension()) continue;
    metric.rank = rank;
    add(format("low_rank:{}", rank), std::make_unique<LowRank>(topology, shape, metric));
  }
  add("diagonal", std::make_unique<Diagonal>(topology, shape, metric));
  if (with_blocks) add("block_diagonal", std::make_unique<BlockDiagonal>(topology, shape, metric));
  add("centering", std::make_unique<Centering>(topology, shape,
                                               CenteringOptions{.fit_variances = true, .damping = options.damping}));
  add("fang", std::make_unique<Fang>(topology, shape, metric));
  Candidate control{.name = "fang_random", .draws = {}};
  for (std::int64_t draw = 0; draw < options.random_draws; ++draw) {
    metric.seed = options.seed + static_cast<std::uint64_t>(draw);
    control.draws.push_back(std::make_unique<Fang>(topology, shape, metric, FangParents::random));
  }
  if (!control.draws.empty()) all.push_back(std::move(control));
  return all;
}

// Numbers over the draws of the control; one number elsewhere.
Approximation summarize(const Candidate& candidate, const std::vector<double>& divergences) {
  double sum = 0;
  for (const double one : divergences) sum += one;
  return {.name = candidate.name,
          .parameters = candidate.draws.front()->parameter_count(),
          .divergence = sum / static_cast<double>(divergences.size()),
          .low = *std::ranges::min_element(divergences),
          .high = *std::ranges::max_element(divergences)};
}

void sort_worst_first(std::vector<Approximation>& approximations) {
  std::ranges::sort(approximations, std::greater<>(), &Approximation::divergence);
}

// tr(Ĝ⁻¹ G), column by column through solve(): what a training run would use is what is judged. Columns are shared out
// among threads, which a single solve is too small for.
double trace_of_solved(const Metric& metric, const Moments& shape, const at::Tensor& fisher,
                       const std::function<void(std::int64_t)>& tick) {
  constexpr std::int64_t columns_at_once = 256;
  const std::int64_t dimension = fisher.size(0);
  std::vector<double> terms(static_cast<std::size_t>(dimension));
  for (std::int64_t first = 0; first < dimension; first += columns_at_once) {
    const std::int64_t last = std::min(first + columns_at_once, dimension);
    at::parallel_for(first, last, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k)
        terms[static_cast<std::size_t>(k)] =
            metric.solve(shape.unflatten(fisher[k])).total().flatten()[k].item<double>();
    });
    tick(last);
  }
  double trace = 0;
  for (const double term : terms) trace += term;
  return trace;
}

}  // namespace

std::vector<Approximation> compare_approximations(const DenseStatistics& statistics, const Topology& topology,
                                                  const FisherStudyOptions& options, const StudyProgress& progress) {
  const Moments mean = statistics.mean();
  const std::int64_t dimension = mean.dimension();
  at::Tensor fisher = statistics.covariance().clone();
  fisher.diagonal().add_(options.damping);
  progress("factorizing G", 0, 1);
  const auto [factor, info] = at::linalg_cholesky_ex(fisher);
  require(info.item<std::int64_t>() == 0, "the Fisher information with damping {} is not positive definite; raise it",
          options.damping);
  const double log_det = 2 * factor.diagonal().log().sum().item<double>();

  // Metrics keep what they are given, so they share this view of the caller's statistics.
  const std::shared_ptr<const ModelStatistics> shared(std::shared_ptr<void>(), &statistics);
  std::vector<Approximation> results;
  for (Candidate& candidate : make_candidates(topology, mean, options, true)) {
    std::vector<double> divergences;
    for (const auto& metric : candidate.draws) {
      progress("fitting " + candidate.name, 0, 1);
      metric->observe({mean, mean, shared});
      metric->refit();
      const double trace = trace_of_solved(
          *metric, mean, fisher, [&](std::int64_t done) { progress("judging " + candidate.name, done, dimension); });
      divergences.push_back(0.5 * (trace + metric->log_det() - log_det - static_cast<double>(dimension)));
    }
    results.push_back(summarize(candidate, divergences));
  }
  sort_worst_first(results);
  return results;
}

std::vector<Approximation> compare_approximations(const std::shared_ptr<const ParticleStatistics>& fit,
                                                  const ParticleStatistics& fresh, const Topology& topology,
                                                  const Moments& shape, const FisherStudyOptions& options,
                                                  const StudyProgress& progress) {
  const Moments mean = fit->mean();
  const at::Tensor center = mean.flatten();
  const std::int64_t rows = fresh.rows();
  // ½[(g − s)ᵀ Ĝ⁻¹ (g − s) + log det Ĝ] of every fresh row.
  const auto scores = [&](const Metric& metric, const std::string& name) {
    at::Tensor result = at::empty({rows}, at::kDouble);
    for (std::int64_t n = 0; n < rows; ++n) {
      at::Tensor one = at::zeros({rows}, center.options());
      one[n] = 1;
      const Moments row = mean.unflatten(fresh.combine(one).flatten() - center);
      result[n] = 0.5 * (dot(row, metric.solve(row).total()) + metric.log_det());
      if (n % 16 == 15) progress("judging " + name, n + 1, rows);
    }
    return result;
  };
  std::vector<Candidate> candidates = make_candidates(topology, shape, options, false);
  const auto observe = [&](Metric& metric, const std::string& name) {
    progress("fitting " + name, 0, 1);
    metric.observe({mean, mean, fit});
    metric.refit();
  };
  const auto diagonal = std::ranges::find(candidates, "diagonal", &Candidate::name);
  observe(*diagonal->draws.front(), "diagonal");
  const at::Tensor reference = scores(*diagonal->draws.front(), "diagonal");
  std::vector<Approximation> results;
  for (Candidate& candidate : candidates) {
    // Draws of the control differ less than the approximations do; one is enough beside sampling error.
    Metric& metric = *candidate.draws.front();
    if (candidate.name != "diagonal") observe(metric, candidate.name);
    const at::Tensor difference =
        candidate.name == "diagonal" ? at::zeros_like(reference) : scores(metric, candidate.name) - reference;
    const double middle = difference.mean().item<double>();
    const double error = 1.96 * (difference.std() / std::sqrt(static_cast<double>(rows))).item<double>();
    results.push_back({.name = candidate.name,
                       .parameters = metric.parameter_count(),
                       .divergence = middle,
                       .low = middle - error,
                       .high = middle + error});
  }
  sort_worst_first(results);
  return results;
}

at::Tensor covariance_fractions(const Topology& topology, const Moments& mean, const at::Tensor& vectors) {
  std::vector<double> fractions;
  for (std::int64_t k = 0; k < vectors.size(1); ++k) {
    const Moments change = mean.unflatten(vectors.select(1, k));
    double between = 0;
    for (const EdgeInfo& edge : topology.edges) {
      const std::string &lower = topology.layers[edge.lower].parameters.front(),
                        &upper = topology.layers[edge.upper].parameters.front();
      between += (change[edge.weights] - at::outer(change[lower], mean[upper]) - at::outer(mean[lower], change[upper]))
                     .square()
                     .sum()
                     .item<double>();
    }
    fractions.push_back(between / std::pow(norm(change), 2));
  }
  return at::tensor(fractions, at::kDouble);
}

}  // namespace harmonium
