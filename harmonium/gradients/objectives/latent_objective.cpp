#include "harmonium/gradients/objectives/latent_objective.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"

namespace harmonium {

namespace {

constexpr std::int64_t baseline_units = 100;
constexpr double signal_memory = 0.9;  // of running means, from batch to batch

at::Tensor log_mean_weight(const at::Tensor& log_weights) {
  return at::logsumexp(log_weights, 1) - std::log(static_cast<double>(log_weights.size(1)));
}

// Σ_l of rows × K numbers.
at::Tensor sum_of_layers(const std::vector<at::Tensor>& terms) {
  at::Tensor total = terms.front();
  for (std::size_t l = 1; l < terms.size(); ++l) total = total + terms[l];
  return total;
}

// log p̂ less log p̂ with w^k replaced by the geometric mean of the others, rows × K.
at::Tensor vimco_signals(const at::Tensor& log_weights) {
  const std::int64_t draws = log_weights.size(1);
  const at::Tensor others = (log_weights.sum(1, /*keepdim=*/true) - log_weights) / static_cast<double>(draws - 1);
  // Row k of each square has the weights with number k replaced.
  const at::Tensor itself = at::eye(draws, log_weights.options().dtype(at::kBool));
  const at::Tensor replaced = at::where(itself, others.unsqueeze(2), log_weights.unsqueeze(1));
  return at::logsumexp(log_weights, 1, /*keepdim=*/true) - at::logsumexp(replaced, 2);
}

}  // namespace

const std::vector<LatentObjectiveType>& latent_objectives() {
  static const std::vector<LatentObjectiveType> types = {
      {.name = "vimco",
       .form = "vimco:K",
       .help = "the K-draw bound, with leave-one-out signals",
       .least = 2,
       .usual = 10,
       .chooses_draws = true},
      {.name = "rws", .form = "rws:K", .help = "reweighted wake-sleep", .least = 1, .usual = 10, .chooses_draws = true},
      {.name = "nvil", .form = "nvil", .help = "the one-draw bound, with learned baselines and normalized signals"},
      {.name = "elbo",
       .form = "elbo:K",
       .help = "the one-draw bound from K draws, each with the others as baseline",
       .least = 2,
       .usual = 5,
       .chooses_draws = true},
      {.name = "iwae",
       .form = "iwae:K",
       .help = "the K-draw bound by the plain score function, very noisy",
       .least = 1,
       .usual = 10,
       .chooses_draws = true},
      {.name = "wake_sleep", .form = "wake_sleep", .help = "the wake-sleep algorithm"},
  };
  return types;
}

LatentObjective::LatentObjective(const std::string& spec, const std::vector<std::int64_t>& widths) {
  const std::size_t colon = spec.find(':');
  const LatentObjectiveType& type = find_named(latent_objectives(), spec.substr(0, colon), "objective");
  name_ = type.name;
  draws_ = type.usual;
  if (colon != std::string::npos) {
    require(type.chooses_draws, "@objective {}: {} has no number of draws; write {}", spec, name_, type.form);
    const char *begin = spec.data() + colon + 1, *end = spec.data() + spec.size();
    constexpr std::int64_t most = 1'000'000;
    const auto [stop, error] = std::from_chars(begin, end, draws_);
    require(error == std::errc{} && stop == end && draws_ >= type.least && draws_ <= most,
            "@objective {}: the number of draws after the colon must be a whole number from {} to {}", spec, type.least,
            most);
  }
  if (name_ == "nvil")
    for (std::size_t l = 0; l < widths.size(); ++l)
      baselines_.emplace_back(format("baseline{}.", l + 1), std::vector<std::int64_t>{widths[l], baseline_units, 1},
                              Activation::tanh);
  means_ = at::zeros({static_cast<std::int64_t>(widths.size())}, at::kDouble);
  variances_ = at::zeros_like(means_);
}

std::string LatentObjective::spec() const {
  return find_named(latent_objectives(), name_, "objective").chooses_draws ? format("{}:{}", name_, draws_) : name_;
}

bool LatentObjective::dreams() const { return name_ == "rws" || name_ == "wake_sleep"; }

void LatentObjective::declare(Moments& parameters, const Key& key) const {
  const at::TensorOptions options = parameters.entries().front().second.options();
  for (std::size_t l = 0; l < baselines_.size(); ++l) {
    Moments fresh;
    baselines_[l].declare(fresh, c10::typeMetaToScalarType(options.dtype()));
    baselines_[l].initialize(fresh, key.fold_in(l));
    for (const auto& [name, value] : fresh.entries()) parameters.insert(name, value.to(options));
  }
}

std::vector<at::Tensor> LatentObjective::signals(const Trace& trace) const {
  const std::size_t layers = trace.log_q.size();
  std::vector<at::Tensor> result(layers);
  at::Tensor after = trace.log_p[layers].detach();
  for (std::size_t l = layers; l-- > 0;) {
    after = after + (trace.log_p[l] - trace.log_q[l]).detach();
    result[l] = after;
  }
  return result;
}

at::Tensor LatentObjective::baseline(const Moments& leaves, const at::Tensor& rows, const Trace& trace,
                                     std::size_t layer) const {
  const at::Tensor below = layer == 0 ? rows.unsqueeze(1) : trace.latents[layer - 1];
  return baselines_[layer].forward(leaves, below).squeeze(-1).to(at::kDouble);
}

LatentObjective::Surrogate LatentObjective::of_trace(const Moments& leaves, const at::Tensor& rows,
                                                     const Trace& trace) const {
  const at::Tensor log_p = sum_of_layers(trace.log_p), log_q = sum_of_layers(trace.log_q);  // rows × K
  const at::Tensor live = log_p - log_q, log_w = live.detach();
  require(log_w.size(1) == draws_, "the objective {} is about {} draws of each row, and {} were given", spec(), draws_,
          log_w.size(1));
  const at::Tensor share = at::softmax(log_w, 1);
  // Without a running mean a signal is mostly its mean, hundreds of nats of noise: the first batch teaches p alone.
  const double known = seen_ > 0 ? 1 : 0;
  if (name_ == "vimco" || name_ == "iwae") {
    const at::Tensor bound = log_mean_weight(log_w);
    const at::Tensor signal =
        name_ == "vimco" ? vimco_signals(log_w) : known * (bound - means_[0].to(bound.device())).unsqueeze(1);
    return {.climbed = (signal * log_q).sum(1) + (share * live).sum(1), .shown = bound};
  }
  if (name_ == "rws") return {.climbed = (share * (log_p + 0.5 * log_q)).sum(1), .shown = log_mean_weight(log_w)};
  if (name_ == "wake_sleep") return {.climbed = log_p.mean(1), .shown = log_w.mean(1)};
  // The one-draw bound by the score function, layer by layer.
  at::Tensor climbed = log_p;
  const std::vector<at::Tensor> all = signals(trace);
  for (std::size_t l = 0; l < all.size(); ++l) {
    const at::Tensor& f = all[l];
    if (name_ == "elbo") {
      const at::Tensor others = (f.sum(1, /*keepdim=*/true) - f) / static_cast<double>(draws_ - 1);
      climbed = climbed + (f - others) * trace.log_q[l];
      continue;
    }
    const auto at_l = static_cast<std::int64_t>(l);
    const at::Tensor guess = baseline(leaves, rows, trace, l), centred = f - means_[at_l].to(f.device());
    const at::Tensor scale = variances_[at_l].to(f.device()).sqrt().clamp_min(1);
    // The last term teaches the baseline and nothing else: its guess is the only thing there that has a gradient.
    climbed =
        climbed + known * (centred - guess.detach()) / scale * trace.log_q[l] - known * (centred - guess).square();
  }
  return {.climbed = climbed.mean(1), .shown = log_w.mean(1)};
}

at::Tensor LatentObjective::of_dream(const Trace& trace) const {
  return sum_of_layers(trace.log_q).mean(1) * (name_ == "rws" ? 0.5 : 1.0);
}

void LatentObjective::observe(const Moments& leaves, const at::Tensor& rows, const Trace& trace) {
  if (name_ != "nvil" && name_ != "iwae") return;
  const c10::NoGradGuard without_gradient;
  const std::vector<at::Tensor> all = signals(trace);
  std::vector<at::Tensor> means, variances;
  for (std::size_t l = 0; l < all.size(); ++l) {
    if (name_ == "iwae") {
      means.push_back(log_mean_weight(trace.log_weights().detach()).mean());
      variances.push_back(at::zeros_like(means.back()));
      continue;
    }
    const at::Tensor left = all[l] - baseline(leaves, rows, trace, l);  // what the running mean is of
    means.push_back(left.mean());
    variances.push_back((left - means_[static_cast<std::int64_t>(l)].to(left.device())).square().mean());
  }
  // The first batch is all that is known; its signals have no mean yet, and their spread is that of the batch.
  const at::Tensor now = at::stack(means), spread = at::stack(variances);
  const double keep = seen_ == 0 ? 0 : signal_memory;
  means_ = keep * means_.to(now.device()) + (1 - keep) * now;
  variances_ = seen_ == 0 ? at::zeros_like(spread) : keep * variances_.to(now.device()) + (1 - keep) * spread;
  ++seen_;
}

LatentObjective::Surrogate LatentObjective::estimate(const LatentModel& model, const Moments& leaves,
                                                     const at::Tensor& rows, const Key& key) {
  const Trace trace = model.infer(leaves, rows, draws_, key.fold_in(0));
  const Surrogate found = of_trace(leaves, rows, trace);
  observe(leaves, rows, trace);
  Surrogate result{.climbed = found.climbed.mean(), .shown = found.shown.mean().detach()};
  if (!dreams()) return result;
  const Dream made = model.dream(leaves, rows.size(0), key.fold_in(1));
  std::vector<at::Tensor> latents;
  for (const at::Tensor& layer : made.latents) latents.push_back(layer.unsqueeze(1));
  result.climbed = result.climbed + of_dream(model.score(leaves, made.visible, latents)).mean();
  return result;
}

NamedTensors LatentObjective::state() const {
  return {{"signal.means", means_}, {"signal.variances", variances_}, {"signal.seen", at::full({1}, seen_, at::kLong)}};
}

void LatentObjective::restore(const NamedTensors& saved) {
  means_ = find_tensor(saved, "signal.means", "a checkpoint").to(at::kDouble).clone();
  variances_ = find_tensor(saved, "signal.variances", "a checkpoint").to(at::kDouble).clone();
  seen_ = find_tensor(saved, "signal.seen", "a checkpoint").item<std::int64_t>();
}

}  // namespace harmonium
