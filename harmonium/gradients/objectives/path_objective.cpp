#include "harmonium/gradients/objectives/path_objective.h"

#include <ATen/ATen.h>

#include <cmath>

#include "harmonium/core/named_table.h"
#include "harmonium/gradients/objectives/draws_of_spec.h"

namespace harmonium {

const std::vector<PathObjectiveType>& path_objectives() {
  static const std::vector<PathObjectiveType> types = {
      {.name = "path", .form = "path:K", .help = "the one-draw bound, without any closed form"},
      {.name = "stick",
       .form = "stick:K",
       .help = "the one-draw bound by the path alone, which has no noise where inference is exact",
       .stops = true},
      {.name = "iwae",
       .form = "iwae:K",
       .help = "the K-draw bound, doubly reparametrized",
       .usual = 10,
       .many = true,
       .stops = true},
      {.name = "plain_iwae",
       .form = "plain_iwae:K",
       .help = "the K-draw bound by its plain derivative, noisier for larger K",
       .usual = 10,
       .many = true},
  };
  return types;
}

PathObjective::PathObjective(const std::string& spec)
    : type_(find_named(path_objectives(), name_of_spec(spec), "objective")),
      draws_(draws_of_spec(spec, 1, type_.usual)) {}

std::string PathObjective::spec() const { return format("{}:{}", type_.name, draws_); }

PathObjective::Surrogate PathObjective::estimate(const LatentModel& model, const Moments& leaves,
                                                 const at::Tensor& rows, const Key& key) const {
  const Trace trace = model.infer(leaves, rows, draws_, key);
  const at::Tensor live = trace.log_weights(), log_w = live.detach();
  const double log_draws = std::log(static_cast<double>(draws_));
  const at::Tensor shown = type_.many ? (at::logsumexp(log_w, 1) - log_draws).mean() : log_w.mean();
  if (!type_.stops)
    return {.climbed = type_.many ? (at::logsumexp(live, 1) - log_draws).mean() : live.mean(), .shown = shown};
  std::vector<at::Tensor> held;
  for (const at::Tensor& layer : trace.latents) held.push_back(layer.detach());
  const Moments constants = leaves.map([](const at::Tensor& leaf) { return leaf.detach(); });
  at::Tensor log_p;  // of θ alone
  for (const at::Tensor& each : model.score(leaves, rows, held).log_p) log_p = log_p.defined() ? log_p + each : each;
  const at::Tensor through = model.score(constants, rows, trace.latents).log_weights();  // of the draws alone
  if (!type_.many) return {.climbed = (log_p + through).mean(), .shown = shown};
  const at::Tensor share = at::softmax(log_w, 1);
  return {.climbed = (share * log_p + share.square() * through).sum(1).mean(), .shown = shown};
}

}  // namespace harmonium
