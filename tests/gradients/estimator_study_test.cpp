// The laboratory against sums over all tuples, tuple by tuple, and its two ways against each other.
#include "harmonium/gradients/objectives/estimator_study.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/gradients/objectives/bound_quadrature.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "tests/support/sigmoid_belief_net.h"
#include "tests/support/statistics.h"

namespace harmonium {
namespace {

using support::expect_close;
using support::small_sbn;

const EstimatorProgress silent = [](const std::string&, std::int64_t, std::int64_t) {};

const EstimatorFinding& found(const EstimatorStudy& study, const std::string& name) {
  for (const EstimatorFinding& each : study.findings)
    if (each.name == name) return each;
  throw std::logic_error("no estimator " + name);
}

const at::Tensor two_rows = at::tensor({1.0, 0.0, 1.0, 0.0, 1.0, 1.0}, at::kDouble).reshape({2, 3});

// All ordered tuples of a row: log q of each, and log w, tuples × K.
struct OrderedTuples {
  at::Tensor log_q, log_w;
};
OrderedTuples ordered(const SigmoidBeliefNet& net, const at::Tensor& row, std::int64_t draws) {
  const Trace trace = support::enumerated(net, net.parameters(), row, support::all_tuples(net, draws));
  return {.log_q = at::stack(trace.log_q).sum(0), .log_w = trace.log_weights()};
}

TEST(BoundByQuadrature, IsTheSumOverAllTuples) {
  const SigmoidBeliefNet net = small_sbn({2, 1}, {}, 3);
  for (const at::Tensor& row : {two_rows[0], two_rows[1]}) {
    const EnumeratedLatents states = enumerate_latents(studied(net), row);
    const at::Tensor log_q = states.log_posterior(), log_w = states.log_joint() - log_q;
    for (std::int64_t draws = 1; draws <= 4; ++draws) {
      const OrderedTuples all = ordered(net, row, draws);
      const at::Tensor weight = all.log_q.sum(1).exp();
      const at::Tensor bound = (weight * (at::logsumexp(all.log_w, 1) - std::log(double(draws)))).sum();
      EXPECT_NEAR(bound_by_quadrature(log_w, log_q, draws).item<double>(), bound.item<double>(), 1e-13) << draws;
      // The first draw's state is number modulo 8, and any draw's share has the same mean.
      const at::Tensor share = weight * at::softmax(all.log_w, 1).select(1, 0) * double(draws);
      expect_close(mean_shares(log_w, log_q, draws), share.view({-1, 8}).sum(0), 1e-13);
    }
  }
}

// Weights over hundreds of nats, thousands of draws: the bound stays below log p, rises, and its end is log p.
TEST(BoundByQuadrature, HoldsForFarApartWeightsAndManyDraws) {
  const at::Tensor log_q = at::log_softmax(at::tensor({0.0, -3.0, -12.0, 1.0}, at::kDouble), 0);
  const at::Tensor log_w = at::tensor({-400.0, -90.0, -85.0, -700.0}, at::kDouble);
  const double log_p = at::logsumexp(log_q + log_w, 0).item<double>();
  EXPECT_NEAR(bound_by_quadrature(log_w, log_q, 1).item<double>(), (log_q.exp() * log_w).sum().item<double>(), 1e-10);
  double below = -1e9;
  for (const std::int64_t draws : {1, 2, 10, 100, 10'000, 1'000'000}) {
    const double bound = bound_by_quadrature(log_w, log_q, draws).item<double>();
    EXPECT_GT(bound, below) << draws;
    EXPECT_LT(bound, log_p) << draws;
    EXPECT_NEAR(mean_shares(log_w, log_q, draws).sum().item<double>(), 1, 1e-12) << draws;
    below = bound;
  }
  EXPECT_NEAR(bound_by_quadrature(log_w, log_q, 100'000'000).item<double>(), log_p, 1e-2);
}

// What theory says of every estimator, on a net with weights of N(0, 1).
TEST(EstimatorStudy, FindsExactlyTheBiasThatTheoryKnows) {
  for (const SigmoidBeliefNet& net : {small_sbn({3}, {}, 5), small_sbn({2, 1}, {}, 6), small_sbn({2}, {2}, 7)}) {
    const EstimatorStudy study =
        study_by_enumeration(studied(net), two_rows, {.draws = {1, 2, 4}, .repetitions = 2}, silent);
    ASSERT_EQ(study.findings.size(), 20);
    for (const EstimatorFinding& each : study.findings) {
      if (each.name == "straight_through" || each.name == "concrete:1" || each.name == "sleep") continue;  // drawn
      EXPECT_TRUE(each.generation.exact && each.recognition.exact_noise) << each.name;
      EXPECT_LT(each.generation.bias, 1e-11) << each.name;
      const bool biased = each.name.starts_with("rws") || each.name.starts_with("bihm");
      if (biased)
        EXPECT_GT(each.recognition.bias, 1e-3) << each.name;
      else
        EXPECT_LT(each.recognition.bias, 1e-11) << each.name;
    }
    for (const char* name : {"rws", "bihm"}) {
      const std::string wake = std::string(name) == "rws" ? ", wake" : "";
      EXPECT_LT(found(study, name + std::string(":4") + wake).recognition.bias,
                found(study, name + std::string(":2") + wake).recognition.bias);
    }
    EXPECT_LT(found(study, "vimco:4").off_log_p, found(study, "vimco:2").off_log_p);
    EXPECT_LT(found(study, "vimco:2").off_log_p, found(study, "elbo:1, baseline none").off_log_p);
  }
}

// Draws of autoregressive layers are not relaxed; all else is as for factorial ones.
TEST(EstimatorStudy, LeavesOutWhatNeedsFactorialLayersAndFindsTheSameBiases) {
  constexpr LayerKind earlier = LayerKind::autoregressive, nade = LayerKind::nade;
  for (const SigmoidBeliefNet& net : {support::small_sbn_of(earlier, earlier, earlier, {2, 1}, {}, 5),
                                      support::small_sbn_of(nade, nade, nade, {3})}) {
    const EstimatorStudy study =
        study_by_enumeration(studied(net), two_rows, {.draws = {1, 2}, .repetitions = 2}, silent);
    std::vector<std::string> names;
    for (const EstimatorFinding& each : study.findings) {
      names.push_back(each.name);
      EXPECT_NE(each.name, "straight_through");
      EXPECT_NE(each.name, "concrete:1");
      if (each.name == "sleep") continue;
      EXPECT_LT(each.generation.bias, 1e-11) << each.name;
      const bool biased = each.name.starts_with("rws") || each.name.starts_with("bihm");
      if (!biased) {
        EXPECT_LT(each.recognition.bias, 1e-11) << each.name;
      }
    }
    EXPECT_NE(std::ranges::find(names, "vimco:2"), names.end());
  }
}

// Gradients of one tuple at a time, as training would find them, weighed with its probability.
TEST(EstimatorStudy, HasTheMeansAndVariancesOfGradientsTupleByTuple) {
  const SigmoidBeliefNet net = small_sbn({2, 1}, {}, 8);
  const StudiedNet lab = studied(net);
  const Moments leaves =
      net.parameters().map([](const at::Tensor& value) { return value.detach().clone().requires_grad_(); });
  const EstimatorStudy study = study_by_enumeration(lab, two_rows, {.draws = {2}, .repetitions = 2}, silent);
  for (const char* spec : {"elbo:2", "vimco:2", "bihm:2"})
    for (const bool recognition : {false, true}) {
      const LatentObjective objective(spec, net.widths_below());
      double variance = 0;
      at::Tensor mean;
      for (std::int64_t r = 0; r < 2; ++r) {
        const std::vector<at::Tensor> tuples = support::all_tuples(net, 2);
        const at::Tensor weight = ordered(net, two_rows[r], 2).log_q.sum(1).exp();
        at::Tensor first = at::zeros({1}, at::kDouble), square = at::zeros({1}, at::kDouble);
        for (std::int64_t t = 0; t < weight.size(0); ++t) {
          std::vector<at::Tensor> one;
          for (const at::Tensor& layer : tuples) one.push_back(layer.narrow(0, t, 1));
          const at::Tensor row = two_rows.narrow(0, r, 1);
          const at::Tensor gradient = flat_gradient(
              lab, leaves, objective.of_trace(leaves, row, net.score(leaves, row, one)).climbed.sum(), recognition);
          first = first + weight[t] * gradient;
          square = square + weight[t] * gradient.square();
        }
        variance += 0.5 * (square - first.square()).sum().item<double>();
        mean = mean.defined() ? mean + 0.5 * first : 0.5 * first;
      }
      const EstimatorFinding& each = found(study, spec);
      const EstimatorPart& part = recognition ? each.recognition : each.generation;
      EXPECT_NEAR(part.variance, variance, 1e-10 * (1 + variance)) << spec;
      EXPECT_NEAR(part.signal_to_noise, mean.norm().item<double>() / std::sqrt(variance), 1e-10) << spec;
    }
}

TEST(EstimatorStudy, OrdersBaselinesByTheirVariance) {
  const SigmoidBeliefNet net = small_sbn({3, 2}, {}, 9);
  const EstimatorStudy study = study_by_enumeration(studied(net), two_rows, {.draws = {2}, .repetitions = 2}, silent);
  const auto variance = [&](const std::string& baseline) {
    return found(study, "elbo:1, baseline " + baseline).recognition.variance;
  };
  EXPECT_LE(variance("optimal"), variance("mean"));
  EXPECT_LE(variance("mean"), variance("none"));
  EXPECT_LE(variance("net"), variance("none"));
  EXPECT_GT(variance("optimal"), 0);
}

// Tuples that are drawn, in place of all; false alarms as in support/statistics.h.
TEST(EstimatorStudy, DrawsTuplesWhereThereAreTooManyAndSaysSo) {
  const SigmoidBeliefNet net = small_sbn({4}, {}, 10);
  const EstimatorStudy study =
      study_by_enumeration(studied(net), two_rows, {.draws = {6}, .tuples = 4000, .repetitions = 2, .seed = 1}, silent);
  for (const char* name : {"vimco:6", "elbo:6", "iwae:6"}) {
    const EstimatorFinding& each = found(study, name);
    EXPECT_FALSE(each.recognition.exact) << name;
    EXPECT_GT(each.recognition.bias_error, 0) << name;
    EXPECT_LT(each.recognition.worst, support::allowed_deviations) << name;
    EXPECT_LT(each.generation.worst, support::allowed_deviations) << name;
  }
  EXPECT_TRUE(found(study, "rws:6, wake").recognition.exact) << "its mean has a closed form";
  EXPECT_FALSE(found(study, "rws:6, wake").recognition.exact_noise);
}

TEST(EstimatorStudy, FindsTheSameByDraws) {
  const SigmoidBeliefNet net = small_sbn({2, 1}, {}, 11);
  const EstimatorStudy exact = study_by_enumeration(studied(net), two_rows, {.draws = {2}, .repetitions = 2}, silent),
                       drawn = study_by_draws(studied(net), two_rows, {.draws = {2}, .repetitions = 800, .seed = 2},
                                              silent);
  EXPECT_FALSE(drawn.enumerated);
  for (const char* name : {"elbo:1, baseline none", "elbo:2", "vimco:2"}) {
    const EstimatorFinding &sum = found(exact, name), &draws = found(drawn, name);
    EXPECT_LT(draws.recognition.worst, support::allowed_deviations) << name;
    EXPECT_LT(draws.generation.worst, support::allowed_deviations) << name;
    // With a kurtosis of ten the standard error of a variance from 800 numbers is a tenth of it.
    EXPECT_NEAR(draws.recognition.variance / sum.recognition.variance, 1, 0.4) << name;
    EXPECT_NEAR(draws.generation.variance / sum.generation.variance, 1, 0.4) << name;
  }
}

}  // namespace
}  // namespace harmonium
