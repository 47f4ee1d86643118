#include "harmonium/training/training.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/training/objectives/fused_update.h"

namespace harmonium {

namespace {

// Updates between looks at every parameter, which cost a few per cent of a small update; on a device also all the
// updates that could have been under way meanwhile.
constexpr std::int64_t check_every = 10, check_every_on_device = 1000;
constexpr double exploded = 1e4;  // natural parameters beyond this are certainties that nothing can move again

}  // namespace

Training::Training(std::unique_ptr<Objective> objective, std::unique_ptr<Optimizer> optimizer, BatchStream batches,
                   const StepOptions& step, const TrainingOptions& options)
    : objective_(std::move(objective)),
      optimizer_(std::move(optimizer)),
      batches_(std::move(batches)),
      groups_(objective_->groups()),
      rule_(step, options.updates),
      averaging_(objective_->parameters(), options.averaging),
      options_(options),
      key_(options.seed) {
  require(options.updates >= 1, "the number of updates must be at least 1, not {}", options.updates);
  objective_->begin(batches_, *optimizer_, step);
}

void Training::step() {
  Step step{.update = update_,
            .fraction = static_cast<double>(update_) / static_cast<double>(options_.updates),
            .key = key_.fold_in(static_cast<std::uint64_t>(update_)),
            .observer = optimizer_->observes_at(update_) ? optimizer_.get() : nullptr};
  if (FusedUpdate* fused = objective_->fused()) {
    fused->step(step, batches_, *optimizer_, rule_, averaging_, update_ + 1 >= options_.updates);
  } else {
    Moments& parameters = objective_->parameters();
    gradient_ = {};  // before as much is taken again
    step.rows = batches_.rows_of(update_);
    gradient_ = objective_->gradient(batches_.batch(update_), step);
    rule_.penalize_(gradient_, parameters, groups_);
    rule_.apply_(parameters, optimizer_->direction(gradient_, update_), update_);
    objective_->after_step();
    averaging_.observe(parameters, update_);
  }
  ++update_;
  if (update_ % (device().is_cpu() ? check_every : check_every_on_device) == 0 || finished()) check();
}

bool Training::finished() const {
  return update_ >= options_.updates ||
         (options_.patience > 0 && !best_.empty() && update_ - best_.update() >= options_.patience);
}

void Training::learn_from(BatchStream batches) {
  objective_->learn_from(batches);
  batches_ = std::move(batches);
}

at::Device Training::device() const { return parameters().entries().front().second.device(); }

void Training::wait() const { wait_for_device(parameters().entries().front().second); }

void Training::check() const {
  // Without a copy of magnitudes, which would be the largest tensor of a step. NaN anywhere makes both ends NaN. They
  // come from a device all at once: each coming is a wait.
  std::vector<at::Tensor> ends;
  for (const auto& [name, value] : parameters().entries()) {
    const auto [least, greatest] = at::aminmax(value);
    ends.push_back(least);
    ends.push_back(greatest);
  }
  const at::Tensor found = on_cpu(at::stack(ends)).abs();
  for (std::int64_t i = 0; const auto& [name, value] : parameters().entries()) {
    const double largest = std::max(found[i].item<double>(), found[i + 1].item<double>());
    i += 2;
    if (std::isfinite(largest) && largest < exploded) continue;
    throw Diverged(format("training diverged at update {}: the largest magnitude in '{}' is {:.3g}. {}", update_, name,
                          largest, objective_->advice()));
  }
}

double Training::gradient_norm() const {
  if (const FusedUpdate* fused = objective_->fused()) return fused->gradient_norm();
  return gradient_.empty() ? 0 : norm(gradient_);
}

std::map<std::string, double> Training::take_measurements() {
  std::map<std::string, double> found = objective_->take_measurements();
  if (update_ > 0) found["gradient_norm"] = gradient_norm();
  found["epoch"] = epoch();
  found.merge(optimizer_->measurements());
  return found;
}

Training::Kept Training::kept() const {
  if (best_.empty()) return {.parameters = averaging_.average(), .update = update_};
  return {.parameters = best_.parameters(), .update = best_.update()};
}

NamedTensors Training::state() const {
  NamedTensors all;
  const auto add = [&](const NamedTensors& tensors) { all.insert(all.end(), tensors.begin(), tensors.end()); };
  add(with_prefix("parameters/", parameters().entries()));
  add(with_prefix("average/", averaging_.average().entries()));
  add(with_prefix("velocity/", rule_.state()));
  add(objective_->state());
  add(with_prefix(optimizer_->state_name() + "/", optimizer_->state()));
  add(best_.state());
  return all;
}

void Training::restore(std::int64_t update, const NamedTensors& saved) {
  NamedTensors tensors;  // a checkpoint of one device goes on another
  for (const auto& [name, value] : saved) tensors.emplace_back(name, value.to(device()));
  copy_moments(objective_->parameters(), under_prefix("parameters/", tensors), "parameters");
  copy_moments(averaging_.average(), under_prefix("average/", tensors), "average");
  rule_.restore(under_prefix("velocity/", tensors), parameters());
  objective_->restore(tensors);
  optimizer_->restore(under_prefix(optimizer_->state_name() + "/", tensors));
  best_.restore(tensors, parameters());
  gradient_ = {};
  update_ = update;
}

}  // namespace harmonium
