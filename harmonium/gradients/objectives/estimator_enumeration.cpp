#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "harmonium/core/error.h"
#include "harmonium/gradients/objectives/bound_quadrature.h"
#include "harmonium/gradients/objectives/estimator_study.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr double most_tuples = 1 << 20;

// K draws of a row: numbers of states, tuples × K, and the probability of each tuple.
struct Tuples {
  at::Tensor numbers, weights;
  std::int64_t drawn = 0;  // 0: all there are
};

// Draws are exchangeable: tuples in rising order, each with the probability of all its orders.
Tuples all_tuples(const EnumeratedLatents& row, std::int64_t draws) {
  const at::Tensor numbers = at::combinations(at::arange(row.states(), at::kLong), draws, /*with_replacement=*/true);
  at::Tensor log_weight = row.log_posterior().index_select(0, numbers.reshape({-1})).view(numbers.sizes()).sum(1);
  at::Tensor run = at::ones({numbers.size(0)}, at::kDouble);
  for (std::int64_t k = 1; k < draws; ++k) {
    const at::Tensor same = numbers.select(1, k).eq(numbers.select(1, k - 1));
    run = at::where(same, run + 1, at::ones_like(run));
    log_weight = log_weight - run.log();
  }
  return {.numbers = numbers, .weights = at::exp(log_weight + std::lgamma(static_cast<double>(draws) + 1))};
}

Tuples drawn_tuples(const EnumeratedLatents& row, std::int64_t draws, std::int64_t count, const Key& key) {
  const at::Tensor cumulative = row.log_posterior().exp().cumsum(0);
  const at::Tensor numbers =
      at::searchsorted(cumulative, uniform(key, {count, draws}, at::kDouble), false, true).clamp_max(row.states() - 1);
  return {
      .numbers = numbers, .weights = at::full({count}, 1.0 / static_cast<double>(count), at::kDouble), .drawn = count};
}

// First and second moments of an estimate's coefficients.
struct Coefficients {
  at::Tensor first, second;
  void add(const at::Tensor& weights, const at::Tensor& each) {
    const at::Tensor mean = weights.matmul(each), square = each.t().matmul(each * weights.unsqueeze(1));
    first = first.defined() ? first + mean : mean;
    second = second.defined() ? second + square : square;
  }
};

// tuples × states: what each state is multiplied by, from a number for every draw.
at::Tensor by_state(const at::Tensor& numbers, const at::Tensor& each, std::int64_t states) {
  return at::zeros({numbers.size(0), states}, at::kDouble).scatter_add(1, numbers, each);
}

at::Tensor derivative(const at::Tensor& leaf) { return leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf); }

// An estimator and what it is meant for.
struct Studied {
  std::string name, objective;
  SignalOptions signals = {};
  enum Aim { one_draw, many_draws, wake, helmholtz } aim = one_draw;
  double recognition_scale = 1;  // of the estimate for q
  double passes = 1;
};

std::vector<Studied> estimators(const std::vector<std::int64_t>& draws) {
  std::vector<Studied> all;
  for (const char* baseline : {"none", "mean", "net", "optimal"})
    all.push_back({.name = format("elbo:1, baseline {}", baseline),
                   .objective = "elbo:1",
                   .signals = {.baseline = baseline, .normalize = "no", .recognition = {}}});
  all.push_back({.name = "nvil", .objective = "nvil"});
  for (const std::int64_t k : draws) {
    const auto passes = static_cast<double>(k);
    if (k >= 2) all.push_back({.name = format("elbo:{}", k), .objective = format("elbo:{}", k), .passes = passes});
    all.push_back({.name = format("iwae:{}", k),
                   .objective = format("iwae:{}", k),
                   .aim = Studied::many_draws,
                   .passes = passes});
    if (k >= 2)
      all.push_back({.name = format("vimco:{}", k),
                     .objective = format("vimco:{}", k),
                     .aim = Studied::many_draws,
                     .passes = passes});
    all.push_back({.name = format("rws:{}, wake", k),
                   .objective = format("rws:{}", k),
                   .aim = Studied::wake,
                   .recognition_scale = 2,
                   .passes = passes});
    if (k >= 2)
      all.push_back({.name = format("bihm:{}", k),
                     .objective = format("bihm:{}", k),
                     .aim = Studied::helmholtz,
                     .passes = passes});
  }
  return all;
}

// What signals and their deviations are on all rows.
struct Settled {
  std::vector<at::Tensor> means, spread_about_means, spread_about_nets;  // layers: scalars
  std::vector<at::Tensor> optimal;                                       // layers: a number for every parameter of q
};

at::Tensor layer_scores(const EnumeratedLatents& row, std::size_t layer) {
  return row.scores_q.narrow(0, static_cast<std::int64_t>(layer) * row.states(), row.states());
}

std::vector<at::Tensor> signals_of(const EnumeratedLatents& row) {
  return layer_signals({.latents = {}, .log_p = row.log_p, .log_q = row.log_q});
}

Settled settle(const std::vector<EnumeratedLatents>& rows) {
  const std::size_t layers = rows.front().log_q.size();
  const auto average = [&](const auto& of_row) {
    at::Tensor sum;
    for (const EnumeratedLatents& row : rows) sum = sum.defined() ? sum + of_row(row) : of_row(row);
    return sum / static_cast<double>(rows.size());
  };
  Settled result;
  for (std::size_t l = 0; l < layers; ++l) {
    const auto q = [](const EnumeratedLatents& row) { return row.log_posterior().exp(); };
    result.means.push_back(average([&](const auto& row) { return (q(row) * signals_of(row)[l]).sum(); }));
    result.spread_about_means.push_back(
        average([&](const auto& row) { return (q(row) * (signals_of(row)[l] - result.means[l]).square()).sum(); }));
    result.spread_about_nets.push_back(average([&](const auto& row) {
      const at::Tensor f = signals_of(row)[l];
      return (q(row) * (f - row.given_layer(f, l)).square()).sum();
    }));
    const at::Tensor with_signal =
        average([&](const auto& row) { return (q(row) * signals_of(row)[l]).matmul(layer_scores(row, l).square()); });
    const at::Tensor alone = average([&](const auto& row) { return q(row).matmul(layer_scores(row, l).square()); });
    result.optimal.push_back(at::where(alone > 0, with_signal / alone.clamp_min(1e-300), at::zeros_like(alone)));
  }
  return result;
}

// Gradients that estimates are meant for, of one row; layers of q may be divided by `scales`.
struct Targets {
  at::Tensor generation, recognition;
};

Targets gradient_of(const EnumeratedLatents& row,
                    const std::function<at::Tensor(const at::Tensor& log_joint, const at::Tensor& log_q)>& value,
                    const std::vector<double>& scales = {}) {
  const c10::AutoGradMode with_gradient(true);
  const at::Tensor joint = row.log_joint().requires_grad_(), posterior = row.log_posterior().requires_grad_();
  value(joint, posterior).backward();
  std::vector<at::Tensor> layers;
  for (std::size_t l = 0; l < row.log_q.size(); ++l)
    layers.push_back(derivative(posterior) / (scales.empty() ? 1 : scales[l]));
  return {.generation = derivative(joint).matmul(row.scores_p), .recognition = at::cat(layers).matmul(row.scores_q)};
}

Targets bound_gradient(const EnumeratedLatents& row, std::int64_t draws, const std::vector<double>& scales = {}) {
  return gradient_of(
      row,
      [&](const at::Tensor& log_joint, const at::Tensor& log_q) {
        return bound_by_quadrature(log_joint - log_q, log_q, draws);
      },
      scales);
}

Targets target_of(const EnumeratedLatents& row, const Studied& one, std::int64_t draws,
                  const std::vector<double>& scales) {
  if (one.aim == Studied::one_draw)
    return bound_gradient(row, 1, one.objective == "nvil" ? scales : std::vector<double>{});
  if (one.aim == Studied::many_draws) return bound_gradient(row, draws);
  if (one.aim == Studied::wake) {
    const auto layers = static_cast<std::int64_t>(row.log_q.size());
    const at::Tensor truth = at::softmax(row.log_joint(), 0);
    return {.generation = bound_gradient(row, draws).generation,
            .recognition = truth.repeat({layers}).matmul(row.scores_q)};
  }
  const Targets bound = gradient_of(row, [&](const at::Tensor& log_joint, const at::Tensor& log_q) {
    return 2 * bound_by_quadrature(0.5 * (log_joint - log_q), log_q, draws);
  });
  const Targets whole = gradient_of(row, [](const at::Tensor& log_joint, const at::Tensor& log_q) {
    return 2 * at::logsumexp(0.5 * (log_joint + log_q), 0);
  });
  return {.generation = bound.generation, .recognition = whole.recognition};
}

std::pair<std::string, std::string> target_names(const Studied& one, std::int64_t draws) {
  switch (one.aim) {
    case Studied::one_draw:
      return {"∇L_1", one.objective == "nvil" ? "∇L_1, layers scaled" : "∇L_1"};
    case Studied::many_draws:
      return {format("∇L_{}", draws), format("∇L_{}", draws)};
    case Studied::wake:
      return {format("∇L_{}", draws), "−∇KL(p(h|x)‖q)"};
    case Studied::helmholtz:
      return {format("∇B_{}", draws), "∇log p̃(x)"};
  }
  return {};
}

// Sums over rows of moments; averages at the end.
struct RowAverage {
  GradientMoments sum;
  std::int64_t rows = 0;
  void add(const GradientMoments& one) {
    if (rows++ == 0) {
      sum = one;
      return;
    }
    sum.mean = sum.mean + one.mean;
    sum.error = sum.error + one.error;
    sum.variance += one.variance;
  }
  [[nodiscard]] GradientMoments average() const {
    const auto n = static_cast<double>(rows);
    GradientMoments result = sum;
    result.mean = sum.mean / n;
    result.error = sum.error / (n * n);
    result.variance = sum.variance / n;
    return result;
  }
};

// Both halves of an estimator's moments for one row.
class RowMoments {
 public:
  RowMoments(const Studied& one, const EnumeratedLatents& row, const Settled& settled, double mean_bound)
      : one_(one),
        row_(row),
        settled_(settled),
        mean_bound_(mean_bound),
        objective_(one.objective, std::vector<std::int64_t>(row.log_q.size(), 1), unit_signals(one)) {
    if (one.objective != "nvil") return;
    NamedTensors state = objective_.state();
    for (auto& [name, value] : state)
      if (name == "signal.variances") value = at::stack(settled.spread_about_nets);
    objective_.restore(state);
  }

  void add(const Tuples& tuples) {
    constexpr std::int64_t at_once = 20'000;
    for (std::int64_t first = 0; first < tuples.numbers.size(0); first += at_once) {
      const std::int64_t count = std::min(at_once, tuples.numbers.size(0) - first);
      add_some(tuples.numbers.narrow(0, first, count), tuples.weights.narrow(0, first, count));
    }
    drawn_ = tuples.drawn;
  }
  [[nodiscard]] GradientMoments generation() const {
    return moments_of_coefficients(p_.first, p_.second, row_.scores_p, drawn_);
  }
  [[nodiscard]] GradientMoments recognition() const {
    at::Tensor scores = row_.scores_q;
    if (optimal()) {
      std::vector<at::Tensor> parts = {scores};
      for (std::size_t l = 0; l < settled_.optimal.size(); ++l)
        parts.push_back(layer_scores(row_, l) * settled_.optimal[l]);
      scores = at::cat(parts);
    }
    return moments_of_coefficients(q_.first, q_.second, scores, drawn_);
  }

 private:
  [[nodiscard]] bool optimal() const { return one_.signals.baseline == "optimal"; }
  // The laboratory takes the optimal baseline off itself, for any net; what is left of it here is the plain signal.
  static SignalOptions unit_signals(const Studied& one) {
    SignalOptions signals = one.signals;
    if (signals.baseline == "optimal") signals.baseline = "none";
    return signals;
  }

  [[nodiscard]] std::vector<at::Tensor> guesses(const at::Tensor& numbers) const {
    if (one_.aim == Studied::many_draws) return {at::full({}, mean_bound_, at::kDouble)};
    const std::string baseline = one_.objective == "nvil" ? "net" : one_.signals.baseline;
    if (baseline == "mean") return settled_.means;
    if (baseline != "net") return {};
    const std::vector<at::Tensor> signals = signals_of(row_);
    std::vector<at::Tensor> best;
    for (std::size_t l = 0; l < signals.size(); ++l)
      best.push_back(row_.given_layer(signals[l], l).index_select(0, numbers.reshape({-1})).view(numbers.sizes()));
    return best;
  }

  void add_some(const at::Tensor& numbers, const at::Tensor& weights) {
    const c10::AutoGradMode with_gradient(true);
    const Trace trace = row_.draw(numbers);
    objective_.of_trace({}, {}, trace, guesses(numbers)).climbed.sum().backward();
    const c10::NoGradGuard without_gradient;
    const std::int64_t states = row_.states();
    p_.add(weights, by_state(numbers, derivative(trace.log_p.front()), states));
    std::vector<at::Tensor> parts;
    for (const at::Tensor& each : trace.log_q)
      parts.push_back(one_.recognition_scale * by_state(numbers, derivative(each), states));
    if (optimal())
      for (std::size_t l = 0; l < trace.log_q.size(); ++l)
        parts.push_back(by_state(numbers, at::full(numbers.sizes(), -1.0, at::kDouble), states));
    q_.add(weights, at::cat(parts, 1));
  }

  const Studied& one_;
  const EnumeratedLatents& row_;
  const Settled& settled_;
  double mean_bound_;
  LatentObjective objective_;
  Coefficients p_, q_;
  std::int64_t drawn_ = 0;
};

}  // namespace

EstimatorStudy study_by_enumeration(const StudiedNet& net, const at::Tensor& rows, const EstimatorStudyOptions& options,
                                    const EstimatorProgress& progress) {
  const c10::NoGradGuard without_gradient;
  std::vector<EnumeratedLatents> all;
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    progress("enumerating", i, rows.size(0));
    all.push_back(enumerate_latents(net, rows[i]));
  }
  const Settled settled = settle(all);
  std::vector<double> scales;  // by which nvil divides its signals
  for (const at::Tensor& each : settled.spread_about_nets)
    scales.push_back(std::max(1.0, std::sqrt(each.item<double>())));
  at::Tensor likelihood;
  for (const EnumeratedLatents& row : all) {
    const at::Tensor one = at::softmax(row.log_joint(), 0).matmul(row.scores_p);
    likelihood = likelihood.defined() ? likelihood + one : one;
  }
  likelihood = likelihood / static_cast<double>(all.size());

  EstimatorStudy study{.enumerated = true, .states = all.front().states(), .rows = rows.size(0), .findings = {}};
  const std::vector<Studied> list = estimators(options.draws);
  for (std::size_t number = 0; number < list.size(); ++number) {
    const Studied& one = list[number];
    progress(one.name, static_cast<std::int64_t>(number), static_cast<std::int64_t>(list.size()));
    const std::int64_t draws =
        LatentObjective(one.objective, {1},
                        one.objective == "elbo:1" ? SignalOptions{.baseline = "none"} : SignalOptions{})
            .draws();
    double mean_bound = 0;
    for (const EnumeratedLatents& row : all)
      mean_bound +=
          bound_by_quadrature(row.log_joint() - row.log_posterior(), row.log_posterior(), draws).item<double>();
    mean_bound /= static_cast<double>(all.size());
    RowAverage generation, recognition;
    at::Tensor wanted_p, wanted_q;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const EnumeratedLatents& row = all[i];
      const bool every = std::pow(static_cast<double>(row.states()), static_cast<double>(draws)) <= most_tuples;
      const Key key = Key(options.seed).fold_in(static_cast<std::uint64_t>(draws)).fold_in(i);
      RowMoments moments(one, row, settled, mean_bound);
      moments.add(every ? all_tuples(row, draws) : drawn_tuples(row, draws, options.tuples, key));
      const Targets target = target_of(row, one, draws, scales);
      generation.add(moments.generation());
      GradientMoments q = moments.recognition();
      if (one.aim == Studied::wake && !every) {
        // Its mean has a closed form for any number of draws.
        const at::Tensor shares = mean_shares(row.log_joint() - row.log_posterior(), row.log_posterior(), draws);
        q.mean = shares.repeat({static_cast<std::int64_t>(row.log_q.size())}).matmul(row.scores_q);
        q.error = at::zeros_like(q.error);
        q.exact = true;
      }
      recognition.add(q);
      wanted_p = i == 0 ? target.generation : wanted_p + target.generation;
      wanted_q = i == 0 ? target.recognition : wanted_q + target.recognition;
    }
    const auto count = static_cast<double>(all.size());
    const auto [name_p, name_q] = target_names(one, draws);
    const GradientMoments p = generation.average();
    study.findings.push_back({.name = one.name,
                              .draws = draws,
                              .generation = compare_with(p, name_p, wanted_p / count),
                              .recognition = compare_with(recognition.average(), name_q, wanted_q / count),
                              .off_log_p = ((p.mean - likelihood).norm() / likelihood.norm()).item<double>(),
                              .passes = one.passes});
  }
  return study;
}

EstimatorStudy study_estimators(const StudiedNet& net, const at::Tensor& rows, const EstimatorStudyOptions& options,
                                const EstimatorProgress& progress) {
  require(rows.dim() == 2 && rows.size(0) >= 1, "estimators are studied on at least one row");
  for (const std::int64_t k : options.draws) require(k >= 1, "@draws {}: give numbers of draws, 1 or more", k);
  require(options.tuples >= 2, "@tuples must be at least 2, not {}", options.tuples);
  require(options.repetitions >= 2, "@repetitions must be at least 2, not {}", options.repetitions);
  constexpr std::int64_t most = 10;
  require(options.most_bits >= 0 && options.most_bits <= most,
          "@most_bits {}: at most {} latent bits can be enumerated; 0 draws instead", options.most_bits, most);
  return net.binary && net.bits() <= options.most_bits ? study_by_enumeration(net, rows, options, progress)
                                                       : study_by_draws(net, rows, options, progress);
}

}  // namespace harmonium
