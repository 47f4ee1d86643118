#include "harmonium/models/directed/vrnn.h"

#include <ATen/ATen.h>

#include <numeric>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

constexpr const char* vrnn_shared_columns = "visible.shared";

std::vector<std::int64_t> widths_through(std::int64_t inputs, const std::vector<std::int64_t>& layers,
                                         std::int64_t outputs) {
  std::vector<std::int64_t> widths = {inputs};
  widths.insert(widths.end(), layers.begin(), layers.end());
  widths.push_back(outputs);
  return widths;
}

VrnnStructure checked_vrnn(VrnnStructure structure) {
  const auto visible = make_distribution(structure.visible);
  require(visible->complaint_as_output().empty(), "the visible layer of a VRNN: {}", visible->complaint_as_output());
  return structure;
}

// Fails where frames do not fall into these steps.
void check_alive(std::int64_t frames, const std::vector<std::int64_t>& alive) {
  require(!alive.empty() && alive.back() >= 1 && std::ranges::is_sorted(alive, std::ranges::greater{}) &&
              std::accumulate(alive.begin(), alive.end(), std::int64_t{0}) == frames,
          "{} frames do not fall into {} steps of sequences that stand longest first", frames, alive.size());
}

}  // namespace

Vrnn::Vrnn(VrnnStructure structure, at::ScalarType type)
    : structure_(checked_vrnn(std::move(structure))),
      visible_(make_distribution(structure_.visible)),
      latent_(structure_.latent),
      memory_("memory.", visible_->width() + structure_.latent, structure_.units),
      prior_("prior.", widths_through(structure_.units, structure_.layers, 2 * structure_.latent),
             structure_.activation),
      posterior_("posterior.",
                 widths_through(visible_->width() + structure_.units, structure_.layers, 2 * structure_.latent),
                 structure_.activation),
      output_("output.",
              widths_through(structure_.latent + structure_.units, structure_.layers,
                             visible_->raw_width() - visible_->shared_width()),
              structure_.activation) {
  memory_.declare(parameters_, type);
  for (const Dense* net : {&prior_, &posterior_, &output_}) net->declare(parameters_, type);
  if (visible_->shared_width() > 0)
    parameters_.insert(vrnn_shared_columns, at::zeros({visible_->shared_width()}, type));
}

Vrnn Vrnn::with_parameters(Moments parameters) const {
  Vrnn other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

Vrnn Vrnn::to(const at::TensorOptions& options) const { return with_parameters(parameters_.to(options).clone()); }

at::Tensor Vrnn::begin(const Moments& parameters, std::int64_t rows) const { return memory_.begin(parameters, rows); }

at::Tensor Vrnn::prior(const Moments& parameters, const at::Tensor& r) const { return prior_.forward(parameters, r); }

at::Tensor Vrnn::posterior(const Moments& parameters, const at::Tensor& x, const at::Tensor& r) const {
  return posterior_.forward(parameters, at::cat({x, r}, 1));
}

at::Tensor Vrnn::output(const Moments& parameters, const at::Tensor& z, const at::Tensor& r) const {
  at::Tensor raw = output_.forward(parameters, at::cat({z, r}, 1));
  if (visible_->shared_width() == 0) return raw;
  return at::cat({raw, parameters[vrnn_shared_columns].expand({raw.size(0), visible_->shared_width()})}, 1);
}

at::Tensor Vrnn::next(const Moments& parameters, const at::Tensor& x, const at::Tensor& z, const at::Tensor& r) const {
  return memory_.step(parameters, at::cat({x, z}, 1), r);
}

VrnnWalk Vrnn::walk(const Moments& parameters, const at::Tensor& values, const std::vector<std::int64_t>& alive,
                    const ChooseLatent& choose) const {
  require(values.dim() == 2 && values.size(1) == visible_->width(), "a VRNN of {} takes frames of {} values, not of {}",
          visible_->spec(), visible_->width(), values.dim() == 2 ? values.size(1) : -1);
  check_alive(values.size(0), alive);
  std::vector<at::Tensor> states, posteriors, latents;
  at::Tensor r = begin(parameters, alive.front());
  std::int64_t first = 0;
  for (std::size_t step = 0; step < alive.size(); ++step) {
    const at::Tensor x = values.narrow(0, first, alive[step]);
    first += alive[step];
    states.push_back(r.narrow(0, 0, alive[step]));
    posteriors.push_back(posterior(parameters, x, states.back()));
    latents.push_back(choose(static_cast<std::int64_t>(step), posteriors.back()));
    if (step + 1 < alive.size()) r = next(parameters, x, latents.back(), states.back());
  }
  return {.states = at::cat(states), .posteriors = at::cat(posteriors), .latents = at::cat(latents)};
}

Vrnn::ChooseLatent Vrnn::posterior_draws(const Key& key) const {
  return [law = latent_, key](std::int64_t step, const at::Tensor& raw) {
    return law.reparametrized(key.fold_in(static_cast<std::uint64_t>(step)), raw);
  };
}

VrnnDream Vrnn::dream(const Moments& parameters, const std::vector<std::int64_t>& alive, const Key& key) const {
  check_alive(std::accumulate(alive.begin(), alive.end(), std::int64_t{0}), alive);
  std::vector<at::Tensor> visible, means, latents;
  at::Tensor r = begin(parameters, alive.front());
  for (std::size_t step = 0; step < alive.size(); ++step) {
    const Key own = key.fold_in(step);
    r = r.narrow(0, 0, alive[step]);
    latents.push_back(latent_.sample(own.fold_in(0), prior(parameters, r)));
    const at::Tensor raw = output(parameters, latents.back(), r);
    visible.push_back(visible_->sample(own.fold_in(1), raw));
    means.push_back(visible_->mean(raw));
    r = next(parameters, visible.back(), latents.back(), r);
  }
  return {.visible = at::cat(visible), .means = at::cat(means), .latents = at::cat(latents)};
}

at::Tensor Vrnn::reconstruct(const Moments& parameters, const at::Tensor& values,
                             const std::vector<std::int64_t>& alive) const {
  const VrnnWalk made =
      walk(parameters, values, alive, [this](std::int64_t, const at::Tensor& raw) { return latent_.mean(raw); });
  return visible_->mean(output(parameters, made.latents, made.states));
}

void initialize(Vrnn& net, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == net.visible().width(),
          "a VRNN of {} begins at the means of {} columns, not of {}", net.visible().spec(), net.visible().width(),
          data_means.dim() == 1 ? data_means.size(0) : -1);
  Moments& parameters = net.parameters();
  net.memory_.initialize(parameters, key.fold_in(0));
  net.prior_.initialize(parameters, key.fold_in(1));
  net.posterior_.initialize(parameters, key.fold_in(2));
  net.output_.initialize(parameters, key.fold_in(3));
  at::Tensor& bias = parameters[net.output_.output_bias()];
  bias.copy_(net.visible().raw_of_means(data_means.to(bias.options())));
  if (parameters.contains(vrnn_shared_columns)) parameters[vrnn_shared_columns].zero_();
}

}  // namespace harmonium
