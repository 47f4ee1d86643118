#include "harmonium/training/up_down.h"

#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::int64_t look_at_nets_every = 10;  // updates between looks at every parameter
constexpr double out_of_bounds = 1e4;

}  // namespace

UpDown::UpDown(const BeliefNet& net, BatchStream batches, std::unique_ptr<NegativePhase> top_phase,
               const UpDownOptions& options)
    : net_(untied(net)),
      parameters_(parameters_of(net_)),
      batches_(std::move(batches)),
      top_phase_(std::move(top_phase)),
      options_(options),
      groups_(groups_of(net_)),
      rule_(options.step, options.updates),
      optimizer_(make_optimizer(options.adam ? "adam" : "sgd", groups_, parameters_)),
      averaging_(parameters_, options.averaging),
      key_(options.seed) {
  require(net_.down.size() >= 2,
          "up–down trains ways up and down between hidden layers, and a belief net of one machine has none; it is "
          "trained as an RBM");
  require(batches_.data().columns() == net_.down.front().unit(0).width(), "{} has {} columns, the belief net has {}",
          batches_.data().name, batches_.data().columns(), net_.down.front().unit(0).width());
  require(options.updates >= 1, "the number of updates must be at least 1, not {}", options.updates);
  require(top_phase_->has_particles(),
          "up–down dreams from chains of the top machine, and --gradient {} has none; use cd or pcd",
          top_phase_->name());
}

void UpDown::step() {
  const std::vector<at::Tensor> batch = batches_.batch(update_);
  top_phase_->at_fraction(static_cast<double>(update_) / static_cast<double>(options_.updates));
  WakeSleepGradient found = wake_sleep_gradient(net_, *top_phase_, batch[0], batch.size() > 1 ? batch[1] : at::Tensor(),
                                                key_.fold_in(static_cast<std::uint64_t>(update_)));
  gradient_ = std::move(found.gradient);
  drawn_ = std::move(found.states);
  rule_.penalize_(gradient_, parameters_, groups_);
  rule_.apply_(parameters_, optimizer_->direction(gradient_, update_), update_);
  for (MachineStack* stack : {&net_.down, &net_.up})
    for (BoltzmannMachine& machine : *stack) machine.constrain_();
  averaging_.observe(parameters_, update_);
  ++update_;
  if (update_ % look_at_nets_every == 0) check();
}

void UpDown::check() const {
  for (const auto& [name, value] : parameters_.entries()) {
    const double largest = value.abs().max().item<double>();
    if (std::isfinite(largest) && largest < out_of_bounds) continue;
    throw RunFailure(
        format("training diverged at update {}: the largest magnitude in '{}' is {:.3g}. Lower --rate-weights and "
               "--rate-bias (halve them)",
               update_, name, largest));
  }
}

NamedTensors UpDown::state() const {
  NamedTensors all = with_prefix("parameters/", parameters_.entries());
  const auto add = [&](const std::string& prefix, const NamedTensors& tensors) {
    for (auto& entry : with_prefix(prefix, tensors)) all.push_back(std::move(entry));
  };
  add("average/", averaging_.average().entries());
  add("velocity/", rule_.state());
  add("adam/", optimizer_->state());
  add("top_phase/", top_phase_->state());
  return all;
}

void UpDown::restore(std::int64_t update, const NamedTensors& saved) {
  copy_moments(parameters_, under_prefix("parameters/", saved), "parameters");
  copy_moments(averaging_.average(), under_prefix("average/", saved), "average");
  rule_.restore(under_prefix("velocity/", saved), parameters_);
  if (options_.adam) optimizer_->restore(under_prefix("adam/", saved));
  top_phase_->restore(under_prefix("top_phase/", saved));
  gradient_ = {};
  drawn_ = {};
  update_ = update;
}

}  // namespace harmonium
