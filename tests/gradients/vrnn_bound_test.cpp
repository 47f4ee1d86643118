#include "harmonium/gradients/objectives/vrnn_bound.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/differences.h"
#include "tests/support/machines.h"
#include "tests/support/statistics.h"
#include "tests/support/vrnn.h"

namespace harmonium {
namespace {

using support::small_vrnn;

// E_q log p(x, z)/q(z | x) of packed sequences of two frames, by quadrature over both latent variables.
at::Tensor exact_vrnn_bound(const Vrnn& net, const at::Tensor& values) {
  const support::Grid nodes = support::grid(2);
  const std::int64_t points = nodes.points.size(0), sequences = values.size(0) / 2;
  const Moments& parameters = net.parameters();
  std::vector<at::Tensor> all;
  for (std::int64_t s = 0; s < sequences; ++s) {
    at::Tensor r = net.begin(parameters, points), log_p = at::zeros({points}, at::kDouble), log_q = log_p;
    for (std::int64_t t = 0; t < 2; ++t) {
      const at::Tensor x = values[t * sequences + s].expand({points, 2}), z = nodes.points.narrow(1, t, 1);
      log_p = log_p + net.latent().log_prob(z, net.prior(parameters, r)) +
              net.visible().log_prob(x, net.output(parameters, z, r));
      log_q = log_q + net.latent().log_prob(z, net.posterior(parameters, x, r));
      r = net.next(parameters, x, z, r);
    }
    all.push_back(((log_q + nodes.log_volume).exp() * (log_p - log_q)).sum());
  }
  return at::stack(all);
}

// 4000 draws for each of 16 sequences; a false alarm in 10⁶ runs.
TEST(VrnnBound, HasTheMeanOfQuadratureWithEveryKlInClosedForm) {
  const Vrnn net = small_vrnn();
  const at::Tensor pairs = support::all_pairs_of_frames(), exact = exact_vrnn_bound(net, pairs);
  constexpr std::int64_t draws = 4000;
  const VrnnTerms terms =
      vrnn_terms(net, net.parameters(), pairs.repeat_interleave(draws, 0), {16 * draws, 16 * draws}, Key(1));
  support::expect_mean(terms.bound().view({2, 16, draws}).sum(0).t(), exact);
  const at::Tensor missed = support::vrnn_quadrature(net, pairs) - exact;
  EXPECT_GT(missed.min().item<double>(), 1e-3) << "q is the posterior: nothing was tested";
}

TEST(VrnnBound, WeighsTheKlOnlyWhereItIsTold) {
  const Vrnn net = small_vrnn(2);
  const VrnnTerms terms = vrnn_terms(net, net.parameters(), support::all_pairs_of_frames(), {16, 16}, Key(2));
  EXPECT_GT(terms.kl.min().item<double>(), 0);
  support::expect_close(terms.bound(0), terms.log_likelihood, 0);
  support::expect_close(terms.bound(), terms.log_likelihood - terms.kl.sum(1), 1e-14);
}

TEST(VrnnBound, HasTheGradientOfDifferences) {
  for (const char* visible : {"bernoulli:2", "shared_gaussian:2:0.1"}) {
    const Vrnn net = small_vrnn(2, visible);
    const at::Tensor values = uniform(Key(3), {7, 2}, at::kDouble).gt(0.5).to(at::kDouble);
    const std::vector<std::int64_t> alive = {3, 2, 2};
    support::expect_gradient_of_differences(
        net.parameters(),
        [&](const Moments& parameters) { return vrnn_terms(net, parameters, values, alive, Key(4)).bound(0.7).sum(); },
        1e-6);
  }
}

}  // namespace
}  // namespace harmonium
