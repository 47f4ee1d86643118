#include "harmonium/likelihood/mean_field_bound.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/geometry/adam.h"

namespace harmonium {

namespace {

// An affine map from a latent layer to the log-odds of the layer below it.
struct Generation {
  at::Tensor weights, bias;  // latents × units below
};

// log E e^{ta} of units below (rows × units) for powers t of the same shape; `mean`: log-odds of the latents.
at::Tensor log_moment(const Generation& down, const at::Tensor& mean, const at::Tensor& t) {
  const at::Tensor each = at::logaddexp(
      at::log_sigmoid(-mean).unsqueeze(2),
      at::log_sigmoid(mean).unsqueeze(2) + t.unsqueeze(1) * down.weights.unsqueeze(0));  // rows × latents × units
  return t * down.bias + each.sum(1);
}

std::string mean_name(std::size_t layer) { return format("mean{}", layer + 1); }
std::string power_name(std::size_t layer) { return format("power{}", layer + 1); }

// The bound of some rows, one number each. `free`: log-odds of μ and of ξ.
at::Tensor bound_of(const std::vector<Generation>& downs, const at::Tensor& prior, const at::Tensor& rows,
                    const Moments& free) {
  at::Tensor bound = at::zeros({rows.size(0)}, rows.options());
  at::Tensor below = rows;
  for (std::size_t l = 0; l < downs.size(); ++l) {
    const at::Tensor log_odds = free[mean_name(l)], mean = log_odds.sigmoid(), xi = free[power_name(l)].sigmoid();
    const at::Tensor input = mean.matmul(downs[l].weights) + downs[l].bias;
    const at::Tensor softplus =
        xi * input + at::logaddexp(log_moment(downs[l], log_odds, -xi), log_moment(downs[l], log_odds, 1 - xi));
    const at::Tensor entropy = mean * at::softplus(-log_odds) + (1 - mean) * at::softplus(log_odds);
    bound = bound + (below * input - softplus).sum(1) + entropy.sum(1);
    below = mean;
  }
  return bound + (below * prior - at::softplus(prior)).sum(1);
}

MeanFieldBound climb(const std::vector<Generation>& downs, const at::Tensor& prior, const at::Tensor& rows,
                     Moments free, const MeanFieldBoundOptions& options) {
  std::vector<std::string> names;
  for (const auto& [name, value] : free.entries()) names.push_back(name);
  Adam adam({{.names = names}}, free);
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const Moments leaves = free.map([](const at::Tensor& value) { return value.detach().requires_grad_(); });
    {
      const at::AutoGradMode with_gradient(true);
      bound_of(downs, prior, rows, leaves).sum().backward();
    }
    const Moments gradient = leaves.map([](const at::Tensor& leaf) { return leaf.grad(); });
    const double left = 1 - static_cast<double>(step) / static_cast<double>(options.steps);
    free.add_(adam.direction(gradient, step).pairwise, options.rate * left);
  }
  MeanFieldBound found{.log_p = bound_of(downs, prior, rows, free), .means = {}};
  for (std::size_t l = 0; l < downs.size(); ++l) found.means.push_back(free[mean_name(l)].sigmoid());
  return found;
}

// Where the climb of some rows begins.
Moments beginning(const SigmoidBeliefNet& net, const std::vector<Generation>& downs, const at::Tensor& rows) {
  constexpr double edge = 1e-4;  // log-odds without end would never move
  Moments free;
  for (std::size_t l = 0; l < downs.size(); ++l) {
    const at::Tensor mean = net.encode(rows, l).to(at::kDouble).clamp(edge, 1 - edge);
    free.insert(mean_name(l), mean.logit());
    free.insert(power_name(l), mean.matmul(downs[l].weights) + downs[l].bias);
  }
  return free;
}

}  // namespace

std::string mean_field_complaint(const SigmoidBeliefNet& net) {
  if (!net.visible().spec().starts_with("bernoulli"))
    return format("the mean-field bound of a belief net is for binary data, not {}", net.visible().spec());
  if (!net.structure().between.empty() || net.rbm_prior() != nullptr)
    return "the mean-field bound of a belief net needs layers that follow each other directly and a factorial prior";
  if (!net.structure().generates_factorially())
    return "the mean-field bound of a belief net is for factorial layers, and those of this net are autoregressive";
  return {};
}

MeanFieldBound mean_field_bound(const SigmoidBeliefNet& net, const at::Tensor& rows,
                                const MeanFieldBoundOptions& options) {
  const std::string complaint = mean_field_complaint(net);
  require(complaint.empty(), "{}", complaint);
  require(options.steps >= 1, "the mean-field bound climbs in at least one step, not {}", options.steps);
  const c10::NoGradGuard without_gradient;
  const Moments& parameters = net.parameters();
  std::vector<Generation> downs;
  std::int64_t largest = 1;
  for (std::size_t l = 0; l < net.structure().latent.size(); ++l) {
    downs.push_back({.weights = parameters[format("down{}.layer1.weights", l + 1)].to(at::kDouble),
                     .bias = parameters[format("down{}.layer1.bias", l + 1)].to(at::kDouble)});
    largest = std::max(largest, downs.back().weights.numel());
  }
  const at::Tensor prior = parameters[SigmoidBeliefNet::prior_name()].to(at::kDouble);
  constexpr std::int64_t numbers_at_once = 1 << 22;
  const std::int64_t rows_at_once = std::max<std::int64_t>(1, numbers_at_once / largest);
  std::vector<at::Tensor> log_p;
  std::vector<std::vector<at::Tensor>> means(downs.size());
  for (std::int64_t first = 0; first < rows.size(0); first += rows_at_once) {
    const at::Tensor piece = rows.narrow(0, first, std::min(rows_at_once, rows.size(0) - first));
    MeanFieldBound found = climb(downs, prior, piece.to(at::kDouble), beginning(net, downs, piece), options);
    log_p.push_back(std::move(found.log_p));
    for (std::size_t l = 0; l < downs.size(); ++l) means[l].push_back(std::move(found.means[l]));
    if (options.progress) options.progress(first + piece.size(0), rows.size(0));
  }
  MeanFieldBound all{.log_p = at::cat(log_p), .means = {}};
  for (const std::vector<at::Tensor>& pieces : means) all.means.push_back(at::cat(pieces));
  return all;
}

}  // namespace harmonium
