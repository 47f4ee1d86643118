// Annealing of decoders against quadrature over the latent variables.
#include "harmonium/likelihood/decoder_annealing.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"
#include "tests/support/linear_vae.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vae.h"

namespace harmonium {
namespace {

using support::all_rows;
using support::expect_close;

constexpr std::array both_bases = {DecoderBase::prior, DecoderBase::encoder};

struct DecoderCase {
  std::string name;
  Vae vae;
  at::Tensor log_p;                // of all 16 rows
  std::vector<DecoderPath> paths;  // from either base: pilot runs are what costs time here
  [[nodiscard]] const DecoderPath& path(DecoderBase base) const { return paths[base == DecoderBase::prior ? 0 : 1]; }
};

const std::vector<DecoderCase>& decoder_cases() {
  static const std::vector<DecoderCase> cases = [] {
    const at::Tensor rows = all_rows(4);
    std::vector<DecoderCase> all;
    all.reserve(3);  // paths refer to the model beside them
    const auto add = [&](const char* name, const Vae& vae, const at::Tensor& log_p) {
      DecoderCase& one = all.emplace_back(DecoderCase{name, vae, log_p, {}});
      for (const DecoderBase base : both_bases) one.paths.emplace_back(one.vae, one.vae.parameters(), base, Key(1));
    };
    const Vae one = support::small_vae(1), two = support::small_vae(2), deep = support::small_deep_vae();
    add("one latent", one, support::quadrature_log_p(one, rows));
    add("two latents", two, support::quadrature_log_p(two, rows));
    add("two layers", deep, support::deep_quadrature_log_p(deep, rows));
    return all;
  }();
  return cases;
}

// Four standard errors for each of 16 rows: false alarms 1e-3 for a case and base, with seeds that do not change.
void expect_unbiased(const at::Tensor& log_ratio, const std::string& what) {
  const at::Tensor ratio = log_ratio.exp();
  const at::Tensor error = ratio.std(1) / std::sqrt(static_cast<double>(ratio.size(1)));
  EXPECT_LT(((ratio.mean(1) - 1).abs() / error).max().item<double>(), 4) << what;
  EXPECT_GT(error.min().item<double>(), 1e-5) << what << ": no noise, nothing was tested";
}

TEST(DecoderAnnealing, HasWeightsWithTheProbabilityOfARowAsTheirMean) {
  for (const DecoderCase& each : decoder_cases())
    for (const DecoderBase base : both_bases) {
      const std::string what = each.name + ", " + annealing_method(base);
      const DecoderPath& path = each.path(base);
      const AnnealedDecoder up = anneal_decoder(path, all_rows(4), Key(2), {.chains = 500, .betas = 5});
      expect_unbiased(up.log_weights - each.log_p.unsqueeze(1), what);
      expect_close(up.log_p, at::logsumexp(up.log_weights, 1) - std::log(500.0), 1e-12);
      EXPECT_EQ(up.mean.kind, EstimateKind::lower_bound);
      EXPECT_NEAR(up.mean.value, each.log_p.mean().item<double>(), 3 * (up.mean.high - up.mean.low));
    }
}

// A row that the model draws and the noise that made it: over both, E[p(x)/w] = 1 whatever the row.
TEST(DecoderAnnealing, HasTheOtherMeanDownwardsFromWhatMadeARow) {
  for (const DecoderCase& each : decoder_cases())
    for (const DecoderBase base : both_bases) {
      const std::string what = each.name + ", " + annealing_method(base);
      const DecoderPath& path = each.path(base);
      const Dream made = each.vae.sample(Key(3), 2000);
      const AnnealedDecoder down =
          anneal_decoder_down(path, made.visible, made.latents, Key(4), {.chains = 2, .betas = 6});
      const at::Tensor codes = (made.visible.to(at::kLong) * at::pow(2, at::arange(4, at::kLong))).sum(1);
      const at::Tensor ratio = (each.log_p.index_select(0, codes).unsqueeze(1) - down.log_weights).exp().mean(1);
      const double error = ratio.std().item<double>() / std::sqrt(2000.0);
      EXPECT_NEAR(ratio.mean().item<double>(), 1, 4 * error) << what;  // false alarms 6·10⁻⁵
      EXPECT_EQ(down.mean.kind, EstimateKind::upper_bound);
      // Pilot runs look for steps of which 0.65 are accepted, by 100 chains at 11 places, for rows that the model
      // draws.
      EXPECT_NEAR(down.accepted, 0.65, 0.15) << what;
    }
}

TEST(DecoderAnnealing, IsLowUpwardsAndHighDownwardsAndClosesWithTheNumberOfSteps) {
  for (const DecoderCase& each : decoder_cases())
    for (const DecoderBase base : both_bases) {
      const DecoderPath& path = each.path(base);
      const double truth = (each.log_p.exp() * each.log_p).sum().item<double>();
      double before = 0;
      for (const std::int64_t betas : {2, 20}) {
        SCOPED_TRACE(format("{}, {}, {} β", each.name, annealing_method(base), betas));
        const OwnDrawBounds own = own_draw_annealing(path, 800, Key(5), {.chains = 2, .betas = betas});
        const auto error = [](const at::Tensor& x) { return std::sqrt(x.var().item<double>() / 800); };
        // Four standard errors: false alarms 3·10⁻⁵.
        EXPECT_LT(own.lower_bound.value, truth + 4 * error(own.lower));
        EXPECT_GT(own.upper_bound.value, truth - 4 * error(own.upper));
        EXPECT_GT(own.gap(), 0);
        // With ten times the steps the gap falls to a tenth, or less far where it is small already.
        if (before > 0) {
          EXPECT_LT(own.gap(), before / 2);
        }
        before = own.gap();
        EXPECT_EQ(own.lower_bound.method,
                  format("{}, 2 chains × {} β, 800 rows of its own", annealing_method(base), betas));
      }
    }
}

// Exact draws of p(ε | x) by the distribution function on a grid of 1701 points, before and after 20 trajectories whose
// step is far too long to be accepted always.
TEST(DecoderAnnealing, LeavesThePosteriorAsItIs) {
  const Vae& vae = decoder_cases()[0].vae;
  const at::Tensor row = all_rows(4).narrow(0, 5, 1), nodes = support::grid(1).points.select(1, 0);
  const at::Tensor mass = at::softmax(support::log_joint(vae, row, nodes.unsqueeze(1))[0], 0);
  constexpr std::int64_t chains = 5000, cells = 12;
  const double step = (nodes[1] - nodes[0]).item<double>();
  const at::Tensor cell = at::searchsorted(mass.cumsum(0), uniform(Key(1), {chains}, at::kDouble)).clamp_max(1700);
  at::Tensor noise = (nodes.index_select(0, cell) + step * (uniform(Key(2), {chains}, at::kDouble) - 0.5)).unsqueeze(1);
  // Edges between nodes, where the cells of the trapezoid rule end.
  const at::Tensor edge_of =
      at::searchsorted(mass.cumsum(0), at::linspace(0, 1, cells + 1, at::kDouble).slice(0, 1, cells));
  const at::Tensor edges = nodes.index_select(0, edge_of) + step / 2;
  const at::Tensor inner = mass.cumsum(0).index_select(0, edge_of);
  const at::Tensor probabilities = at::diff(at::cat({at::zeros({1}, at::kDouble), inner, at::ones({1}, at::kDouble)}));
  const auto expect_law = [&] {
    const at::Tensor counts = at::bincount(at::searchsorted(edges, noise.select(1, 0)), {}, cells);
    support::expect_frequencies(support::numbers(counts), support::numbers(probabilities));
  };
  expect_law();
  const HmcTarget target = decoder_cases()[0].path(DecoderBase::prior).target(row, chains, 1);
  const at::Tensor start = noise.clone();
  double accepted = 0;
  for (std::uint64_t i = 0; i < 20; ++i)
    accepted += hmc(target, noise, 1.4, DecoderPath::leapfrog, Key(3).fold_in(i)).accepted / 20;
  EXPECT_LT(accepted, 0.95);
  EXPECT_GT((noise - start).abs().mean().item<double>(), 0.3) << "chains that stay are no test";
  expect_law();
}

TEST(DecoderAnnealing, EndsAtTheTwoDensitiesThatItsHeaderNames) {
  for (const DecoderCase& each : decoder_cases()) {
    const at::Tensor rows = all_rows(4),
                     noise = normal(Key(1), {16, 3, each.vae.decoder()->noise_width()}, at::kDouble);
    const std::vector<at::Tensor> latents = each.vae.decoder()->latents(each.vae.parameters(), noise);
    const Trace trace = each.vae.score(each.vae.parameters(), rows, latents);
    const DecoderPath &prior = each.path(DecoderBase::prior), &encoder = each.path(DecoderBase::encoder);
    const at::Tensor standard = support::log_standard_normal(noise);
    expect_close(prior.ends(rows, noise).first, standard, 1e-12);
    expect_close(prior.ends(rows, noise).last, standard + trace.log_p[0], 1e-12);
    expect_close(encoder.ends(rows, noise).last, standard + trace.log_p[0], 1e-12);
    // The whole way is the weight of importance sampling.
    const DecoderPath::Ends ends = encoder.ends(rows, noise);
    expect_close(ends.last - ends.first, trace.log_weights(), 1e-11);
    // Scores are the derivatives of log f_β.
    const HmcTarget target = encoder.target(rows, 3, 0.3);
    const at::Tensor flat = noise.reshape({48, -1}), scores = target.score(flat);
    for (std::int64_t j = 0; j < flat.size(1); ++j) {
      at::Tensor up = flat.clone(), down = flat.clone();
      up.select(1, j) += 1e-5;
      down.select(1, j) -= 1e-5;
      expect_close(scores.select(1, j), (target.log_f(up) - target.log_f(down)) / 2e-5, 1e-7);
    }
  }
  EXPECT_EQ(DecoderPath::beta(0), 0);
  EXPECT_EQ(DecoderPath::beta(1), 1);
  EXPECT_NEAR(DecoderPath::beta(0.5), 0.5, 1e-15);
  EXPECT_NEAR(DecoderPath::beta(0.25), (1 / (1 + std::exp(2.0)) - 1 / (1 + std::exp(4.0))) / std::tanh(2.0), 1e-14);
}

TEST(DecoderAnnealing, IsExactWhereTheEncoderIsThePosterior) {
  for (const support::LinearVae& linear : {support::linear_vae(true), support::deep_linear_vae()}) {
    const at::Tensor rows = normal(Key(6), {5, 3}, at::kDouble);
    const DecoderPath path(linear.vae, linear.vae.parameters(), DecoderBase::encoder, Key(1));
    const AnnealedDecoder up = anneal_decoder(path, rows, Key(2), {.chains = 3, .betas = 4});
    expect_close(up.log_weights, linear.log_p(rows).unsqueeze(1).expand({5, 3}), 1e-10);
    expect_close(up.effective_chains, at::full({5}, 3.0, at::kDouble), 1e-8);
  }
}

TEST(DecoderAnnealing, DoesNotDependOnHowRowsAreTakenTogether) {
  const DecoderCase& two = decoder_cases()[1];
  const at::Tensor rows = all_rows(4).repeat({10, 1}).narrow(0, 0, 130);
  for (const DecoderBase base : both_bases) {
    const DecoderPath& path = two.path(base);
    const auto found = [&](std::int64_t at_once) {
      return anneal_decoder(path, rows, Key(2), {.chains = 3, .betas = 10, .rows_at_once = at_once}).log_weights;
    };
    const at::Tensor whole = found(1000);
    expect_close(found(50), whole, 1e-9);
    expect_close(found(100), whole, 1e-9);
    EXPECT_FALSE(at::equal(whole[0], whole[16])) << "the same row twice: draws of its own";
    EXPECT_FALSE(at::equal(whole[0], whole[64])) << "and in another block";
    const Dream made = two.vae.sample(Key(3), 130);
    const auto down = [&](std::int64_t at_once) {
      return anneal_decoder_down(path, made.visible, made.latents, Key(2),
                                 {.chains = 3, .betas = 10, .rows_at_once = at_once})
          .log_weights;
    };
    expect_close(down(50), down(1000), 1e-9);
  }
}

TEST(DecoderAnnealing, GoesOnFromItsJournal) {
  class Kept final : public Journal {
   public:
    std::map<std::string, NamedTensors> kept;
    [[nodiscard]] std::optional<NamedTensors> find(const std::string& name) override {
      const auto found = kept.find(name);
      return found == kept.end() ? std::nullopt : std::optional(found->second);
    }
    void keep(const std::string& name, const NamedTensors& tensors) override { kept[name] = tensors; }
    [[nodiscard]] bool due() override { return false; }
  } journal;
  const at::Tensor rows = all_rows(4).repeat({5, 1});
  const DecoderPath& path = decoder_cases()[1].path(DecoderBase::encoder);
  DecoderAnnealingOptions options{.chains = 2, .betas = 10, .rows_at_once = 50};
  const AnnealedDecoder whole = anneal_decoder(path, rows, Key(2), options);
  int steps = 0;
  options.journal = &journal;
  options.progress = [&](std::int64_t done, std::int64_t total) {
    EXPECT_EQ(total, 20);
    ++steps;
    if (done == 14) throw RunFailure("stopped");
  };
  EXPECT_THROW((void)anneal_decoder(path, rows, Key(2), options), RunFailure);
  EXPECT_EQ(journal.kept.size(), 2U);
  const AnnealedDecoder rest = anneal_decoder(path, rows, Key(2), [&] {
    DecoderAnnealingOptions again = options;
    again.progress = [&](std::int64_t, std::int64_t) { ++steps; };
    return again;
  }());
  EXPECT_TRUE(at::equal(rest.log_weights, whole.log_weights));
  EXPECT_NEAR(rest.accepted, whole.accepted, 1e-12);
  EXPECT_EQ(steps, 20) << "nothing was done twice";
}

TEST(DecoderAnnealing, SaysWhatDoesNotFit) {
  using support::expect_mentions;
  using support::message_of;
  const DecoderPath& path = decoder_cases()[0].path(DecoderBase::prior);
  expect_mentions(message_of([&] { (void)anneal_decoder(path, all_rows(4), Key(1), {.chains = 1}); }), {"two chains"});
  expect_mentions(message_of([&] { (void)anneal_decoder(path, all_rows(4).narrow(0, 0, 0), Key(1)); }), {"rows"});
  expect_mentions(message_of([&] { (void)own_draw_annealing(path, 1, Key(1)); }), {"two rows", "1"});
  const SigmoidBeliefNet net({.visible = "bernoulli:4", .latent = {2}}, at::kDouble);
  expect_mentions(message_of([&] { (void)DecoderPath(net, net.parameters(), DecoderBase::prior, Key(1)); }),
                  {"discrete"});
}

}  // namespace
}  // namespace harmonium
