#include "harmonium/gradients/objectives/latent_objective.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/gradients/objectives/draws_of_spec.h"
#include "harmonium/kernels/random.h"

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

// Of K signals, the mean of the others.
at::Tensor mean_of_others(const at::Tensor& signals) {
  return (signals.sum(1, /*keepdim=*/true) - signals) / static_cast<double>(signals.size(1) - 1);
}

// What layer l + 1 is drawn from, rows × K × width or rows × 1 × width.
at::Tensor values_below(const at::Tensor& rows, const Trace& trace, std::size_t layer) {
  return layer == 0 ? rows.unsqueeze(1) : trace.latents[layer - 1];
}

}  // namespace

std::vector<at::Tensor> layer_signals(const Trace& trace) {
  const std::size_t layers = trace.log_q.size();
  std::vector<at::Tensor> result(layers);
  at::Tensor after = trace.log_p[layers].detach();
  for (std::size_t l = layers; l-- > 0;) {
    after = after + (trace.log_p[l] - trace.log_q[l]).detach();
    result[l] = after;
  }
  return result;
}

LatentObjective::LatentObjective(const std::string& spec, const std::vector<std::int64_t>& widths,
                                 const SignalOptions& options) {
  const LatentObjectiveType& type = find_named(latent_objectives(), name_of_spec(spec), "objective");
  name_ = type.name;
  require(type.chooses_draws || name_ == spec, "@objective {}: {} has no number of draws; write {}", spec, name_,
          type.form);
  draws_ = draws_of_spec(spec, type.least, type.usual);
  const bool scores = name_ == "elbo" || name_ == "nvil";
  require(scores || (options.baseline == "auto" && options.normalize == "auto"),
          "@objective {}: @baseline and @normalize apply to elbo:K and nvil", name_);
  if (scores) {
    baseline_ = options.baseline != "auto" ? find_named(signal_baselines(), options.baseline, "baseline").name
                : name_ == "nvil"          ? "net"
                                           : "leave_one_out";
    require(options.normalize == "auto" || options.normalize == "yes" || options.normalize == "no",
            "@normalize {}: there are auto, yes and no", options.normalize);
    normalizes_ = options.normalize == "yes" || (options.normalize == "auto" && name_ == "nvil");
    require(baseline_ != "leave_one_out" || draws_ >= 2,
            "@objective {}: one draw has no others; choose @baseline none, mean, net or optimal", spec);
  }
  if (baseline_ == "optimal") {
    require(options.recognition.size() == widths.size(),
            "@baseline optimal needs affine and factorial inference; leave out the layers between, or choose mean or "
            "net");
    optimal_.emplace(options.recognition);
  }
  if (baseline_ == "net")
    for (std::size_t l = 0; l < widths.size(); ++l)
      nets_.emplace_back(format("baseline{}.", l + 1), std::vector<std::int64_t>{widths[l], baseline_units, 1},
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
  for (std::size_t l = 0; l < nets_.size(); ++l) {
    Moments fresh;
    nets_[l].declare(fresh, c10::typeMetaToScalarType(options.dtype()));
    nets_[l].initialize(fresh, key.fold_in(l));
    for (const auto& [name, value] : fresh.entries()) parameters.insert(name, value.to(options));
  }
}

at::Tensor LatentObjective::baseline(const Moments& leaves, const at::Tensor& rows, const Trace& trace,
                                     std::size_t layer) const {
  return nets_[layer].forward(leaves, values_below(rows, trace, layer)).squeeze(-1).to(at::kDouble);
}

bool LatentObjective::remembers() const {
  return name_ == "iwae" || normalizes_ || (by_layers() && baseline_ != "none" && baseline_ != "leave_one_out");
}

LatentObjective::Surrogate LatentObjective::of_trace(const Moments& leaves, const at::Tensor& rows, const Trace& trace,
                                                     const std::vector<at::Tensor>& guesses) const {
  const at::Tensor log_p = sum_of_layers(trace.log_p), log_q = sum_of_layers(trace.log_q);  // rows × K
  const at::Tensor live = log_p - log_q, log_w = live.detach();
  require(log_w.size(1) == draws_, "the objective {} is about {} draws of each row, and {} were given", spec(), draws_,
          log_w.size(1));
  const at::Tensor share = shares(log_w);
  if (name_ == "vimco" || name_ == "iwae") {
    const at::Tensor bound = log_mean_weight(log_w);
    const at::Tensor signal = name_ == "vimco" ? vimco_signals(log_w) : iwae_signals(bound, guesses);
    return {.climbed = (signal * log_q).sum(1) + (share * live).sum(1), .shown = bound};
  }
  if (name_ == "rws") return {.climbed = (share * (log_p + 0.5 * log_q)).sum(1), .shown = log_mean_weight(log_w)};
  if (name_ == "wake_sleep") return {.climbed = log_p.mean(1), .shown = log_w.mean(1)};
  if (relaxes()) return {.climbed = log_mean_weight(live), .shown = log_mean_weight(log_w)};
  if (name_ == "bihm") {
    const at::Tensor roots = 0.5 * log_w;
    return {.climbed = (share * (log_p + log_q)).sum(1) - log_q.mean(1), .shown = 2 * log_mean_weight(roots)};
  }
  return {.climbed = by_score(leaves, rows, trace, guesses), .shown = log_w.mean(1)};
}

at::Tensor LatentObjective::shares(const at::Tensor& log_weights) const {
  if (by_layers() || name_ == "wake_sleep" || name_ == "straight_through")
    return at::full_like(log_weights, 1 / static_cast<double>(log_weights.size(1)));
  return at::softmax(name_ == "bihm" ? 0.5 * log_weights : log_weights, 1);
}

at::Tensor LatentObjective::chosen_tops(const Trace& trace, const Key& key) const {
  const c10::NoGradGuard without_gradient;
  const at::Tensor upto = shares(trace.log_weights()).cumsum(1), &tops = trace.latents.back();
  const at::Tensor u = uniform(key, {upto.size(0), 1}, upto.options()) * upto.narrow(1, upto.size(1) - 1, 1);
  const at::Tensor draw = (upto <= u).sum(1).clamp_max(upto.size(1) - 1).view({-1, 1, 1});
  return tops.detach().gather(1, draw.expand({-1, 1, tops.size(2)})).squeeze(1);
}

// Without a running mean a signal is mostly its mean, hundreds of nats of noise: the first batch teaches p alone.
double LatentObjective::trusted(const std::vector<at::Tensor>& guesses) const {
  return seen_ > 0 || !guesses.empty() || !remembers() ? 1 : 0;
}

at::Tensor LatentObjective::iwae_signals(const at::Tensor& bound, const std::vector<at::Tensor>& guesses) const {
  const at::Tensor guess = guesses.empty() ? means_[0].to(bound.device()) : guesses.front();
  return trusted(guesses) * (bound - guess).unsqueeze(1);
}

at::Tensor LatentObjective::by_score(const Moments& leaves, const at::Tensor& rows, const Trace& trace,
                                     const std::vector<at::Tensor>& guesses) const {
  at::Tensor climbed = sum_of_layers(trace.log_p);
  const std::vector<at::Tensor> all = layer_signals(trace);
  const double known = trusted(guesses);
  for (std::size_t l = 0; l < all.size(); ++l) {
    const at::Tensor& f = all[l];
    const auto at_l = static_cast<std::int64_t>(l);
    const at::Tensor scale =
        normalizes_ ? variances_[at_l].to(f.device()).sqrt().clamp_min(1) : at::ones({}, f.options());
    if (!guesses.empty()) {
      climbed = climbed + (f - guesses[l]) / scale * trace.log_q[l];
    } else if (baseline_ == "net") {
      const at::Tensor guess = baseline(leaves, rows, trace, l), centred = f - means_[at_l].to(f.device());
      // The last term teaches the baseline and nothing else: its guess is the only thing there that has a gradient.
      climbed =
          climbed + known * (centred - guess.detach()) / scale * trace.log_q[l] - known * (centred - guess).square();
    } else {
      climbed = climbed + known * left_of(f, l) / scale * trace.log_q[l];
      if (optimal_)
        climbed = climbed - known / scale * optimal_->term(leaves, values_below(rows, trace, l), trace.latents[l], l);
    }
  }
  return climbed.mean(1);
}

at::Tensor LatentObjective::left_of(const at::Tensor& signal, std::size_t layer) const {
  if (baseline_ == "mean") return signal - means_[static_cast<std::int64_t>(layer)].to(signal.device());
  if (baseline_ == "leave_one_out") return signal - mean_of_others(signal);
  return signal;
}

at::Tensor LatentObjective::of_dream(const Trace& trace) const {
  return sum_of_layers(trace.log_q).mean(1) * (name_ == "rws" ? 0.5 : 1.0);
}

at::Tensor LatentObjective::of_dreams(const LatentModel& model, const Moments& leaves, std::int64_t count,
                                      const Key& key, const at::Tensor& tops) const {
  const Dream made = tops.defined() ? model.dream_below(leaves, tops, key) : model.dream(leaves, count, key);
  std::vector<at::Tensor> latents;
  for (const at::Tensor& layer : made.latents) latents.push_back(layer.unsqueeze(1));
  return of_dream(model.score(leaves, made.visible, latents));
}

Trace LatentObjective::infer(const LatentModel& model, const Moments& leaves, const at::Tensor& rows,
                             const Key& key) const {
  if (relaxes()) return model.relax(leaves, rows, draws_, key, {.straight_through = name_ == "straight_through"});
  return model.infer(leaves, rows, draws_, key);
}

void LatentObjective::observe(const Moments& leaves, const at::Tensor& rows, const Trace& trace) {
  if (!remembers()) return;
  const c10::NoGradGuard without_gradient;
  const std::vector<at::Tensor> all = layer_signals(trace);
  const double keep = seen_ == 0 ? 0 : signal_memory;
  std::vector<at::Tensor> means, variances;
  for (std::size_t l = 0; l < all.size(); ++l) {
    if (name_ == "iwae") {
      means.push_back(log_mean_weight(trace.log_weights().detach()).mean());
      variances.push_back(at::zeros_like(means.back()));
      continue;
    }
    if (optimal_) optimal_->observe(leaves, values_below(rows, trace, l), trace.latents[l], all[l], l, keep);
    // What the running mean is of.
    const at::Tensor left = baseline_ == "net"             ? all[l] - baseline(leaves, rows, trace, l)
                            : baseline_ == "leave_one_out" ? all[l] - mean_of_others(all[l])
                                                           : all[l];
    means.push_back(left.mean());
    const bool centred = baseline_ == "net" || baseline_ == "mean" || baseline_ == "optimal";
    const at::Tensor centre =
        centred ? means_[static_cast<std::int64_t>(l)].to(left.device()) : at::zeros_like(left.mean());
    variances.push_back((left - centre).square().mean());
  }
  // The first batch is all that is known; its signals have no mean yet, and their spread is that of the batch.
  const at::Tensor now = at::stack(means), spread = at::stack(variances);
  means_ = keep * means_.to(now.device()) + (1 - keep) * now;
  variances_ = seen_ == 0 ? at::zeros_like(spread) : keep * variances_.to(now.device()) + (1 - keep) * spread;
  ++seen_;
}

LatentObjective::Surrogate LatentObjective::estimate(const LatentModel& model, const Moments& leaves,
                                                     const at::Tensor& rows, const Key& key, const at::Tensor& tops,
                                                     Trace* seen) {
  const Trace trace = infer(model, leaves, rows, key.fold_in(0));
  const Surrogate found = of_trace(leaves, rows, trace);
  observe(leaves, rows, trace);
  if (seen != nullptr) *seen = trace;
  Surrogate result{.climbed = found.climbed.mean(), .shown = found.shown.mean().detach()};
  if (!dreams()) return result;
  result.climbed = result.climbed + of_dreams(model, leaves, rows.size(0), key.fold_in(1), tops).mean();
  return result;
}

NamedTensors LatentObjective::state() const {
  NamedTensors all = {
      {"signal.means", means_}, {"signal.variances", variances_}, {"signal.seen", at::full({1}, seen_, at::kLong)}};
  if (optimal_)
    for (const auto& each : optimal_->state()) all.push_back(each);
  return all;
}

void LatentObjective::restore(const NamedTensors& saved) {
  means_ = find_tensor(saved, "signal.means", "a checkpoint").to(at::kDouble).clone();
  variances_ = find_tensor(saved, "signal.variances", "a checkpoint").to(at::kDouble).clone();
  seen_ = find_tensor(saved, "signal.seen", "a checkpoint").item<std::int64_t>();
  if (optimal_) optimal_->restore(saved);
}

}  // namespace harmonium
