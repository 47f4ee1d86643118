#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/gradients/objectives/bound_quadrature.h"
#include "harmonium/gradients/objectives/estimator_draws.h"
#include "harmonium/gradients/objectives/estimator_study.h"
#include "harmonium/gradients/objectives/estimator_targets.h"
#include "harmonium/gradients/objectives/latent_objective.h"

namespace harmonium {

namespace {

constexpr double most_tuples = 1 << 20;

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

ParameterGradients target_of(const EnumeratedLatents& row, const Studied& one, std::int64_t draws,
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
  const ParameterGradients bound = gradient_of(row, [&](const at::Tensor& log_joint, const at::Tensor& log_q) {
    return 2 * bound_by_quadrature(0.5 * (log_joint - log_q), log_q, draws);
  });
  const ParameterGradients whole = gradient_of(row, [](const at::Tensor& log_joint, const at::Tensor& log_q) {
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
      return {format("∇B_{}", draws), "∇B_∞"};
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
  RowMoments(const Studied& one, const EnumeratedLatents& row, const SettledSignals& settled, double mean_bound)
      : one_(one),
        row_(row),
        settled_(settled),
        mean_bound_(mean_bound),
        objective_(one.objective, std::vector<std::int64_t>(row.log_q.size(), 1), unit_signals(one)) {
    if (one.objective != "nvil") return;
    NamedTensors state = objective_.state();
    for (auto& [name, value] : state)
      if (name == "signal.variances") value = at::tensor(settled.deviations, at::kDouble).square();
    objective_.restore(state);
  }

  void add(const LatentTuples& tuples) {
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
  const SettledSignals& settled_;
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
  const SettledSignals settled = settle_signals(all);
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
      const ParameterGradients target = target_of(row, one, draws, settled.deviations);
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
    study.findings.push_back({.name = one.name,
                              .draws = draws,
                              .generation = compare_with(generation.average(), name_p, wanted_p / count),
                              .recognition = compare_with(recognition.average(), name_q, wanted_q / count),
                              .off_log_p = ((wanted_p / count - likelihood).norm() / likelihood.norm()).item<double>(),
                              .passes = one.passes});
  }
  at::Tensor wanted_p, wanted_q;
  for (const EnumeratedLatents& row : all) {
    const ParameterGradients one = bound_gradient(row, 1);
    wanted_p = wanted_p.defined() ? wanted_p + one.generation : one.generation;
    wanted_q = wanted_q.defined() ? wanted_q + one.recognition : one.recognition;
  }
  const auto count = static_cast<double>(all.size());
  add_drawn_findings(study, net, rows, {.generation = wanted_p / count, .recognition = wanted_q / count}, likelihood,
                     options);
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
  return net.binary && net.units() <= options.most_bits ? study_by_enumeration(net, rows, options, progress)
                                                        : study_by_draws(net, rows, options, progress);
}

}  // namespace harmonium
