#include "harmonium/training/trainer.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/geometry/pair_statistics.h"
#include "harmonium/geometry/particle_statistics.h"
#include "harmonium/gradients/positive_phase.h"
#include "harmonium/training/enumerated_statistics.h"
#include "harmonium/training/rbm_statistics.h"

namespace harmonium {

namespace {

// Updates between looks at every parameter, which cost a few per cent of a small update; on a device also all the
// updates that could have been under way meanwhile.
constexpr std::int64_t check_every = 10, check_every_on_device = 1000;
constexpr double exploded = 1e4;  // natural parameters beyond this are certainties that nothing can move again

}  // namespace

Trainer::Trainer(BoltzmannMachine machine, BatchStream batches, std::unique_ptr<NegativePhase> negative_phase,
                 std::unique_ptr<Metric> metric, const StepOptions& step, const TrainerOptions& options)
    : machine_(std::move(machine)),
      batches_(std::move(batches)),
      negative_phase_(std::move(negative_phase)),
      metric_(std::move(metric)),
      sparsity_(machine_, options.sparsity),
      rule_(step, options.updates),
      averaging_(machine_.parameters(), options.averaging),
      options_(options),
      key_(options.seed) {
  try {
    if (enumerates()) require_enumerable(machine_);
  } catch (const Error& error) {
    fail(
        "--optimizer {} with --gradient {} has no chains to look at and would enumerate the model, which is too large: "
        "{}. Use --optimizer centering, or --gradient pcd",
        metric_->name(), negative_phase_->name(), error.what());
  }
  require(options.updates >= 1, "the number of updates must be at least 1, not {}", options.updates);
  if (options.sparsity.cost == 0)
    device_update_ = DeviceUpdate::make(machine_, batches_, *negative_phase_, *metric_, step);
  if (machine_.hidden().empty() && !negative_phase_->paired_with_batch()) all_data_ = moments_of_all_data();
}

Moments Trainer::moments_of_all_data() const {
  constexpr std::int64_t rows_at_once = 100'000;
  const BoltzmannMachine precise = machine_.to(at::kDouble);
  const std::int64_t rows = batches_.data().rows();
  Moments sum = precise.parameters().zeros_like();
  for (std::int64_t first = 0; first < rows; first += rows_at_once) {
    const std::int64_t end = std::min(first + rows_at_once, rows);
    const at::Tensor values = batches_.expected_values(first, end).to(at::kDouble);
    sum.add_(precise.moments(precise.observe({values})), static_cast<double>(end - first) / static_cast<double>(rows));
  }
  return sum.to(machine_.scalar_type());
}

void Trainer::step() {
  const Key key = key_.fold_in(static_cast<std::uint64_t>(update_));
  negative_phase_->at_fraction(static_cast<double>(update_) / static_cast<double>(options_.updates));
  if (device_update_ != nullptr)
    device_step(key);
  else
    general_step(key);
  ++update_;
  if (update_ % (machine_.device().is_cpu() ? check_every : check_every_on_device) == 0 || finished()) check();
}

void Trainer::learn_from(BatchStream batches) {
  (void)particles();  // wherever they have been
  if (device_update_ != nullptr) device_update_->forget();
  if (batches.of_bytes() != batches_.of_bytes() || batches.bits_of_bytes() != batches_.bits_of_bytes() ||
      batches.options().batch != batches_.options().batch)
    device_update_ = nullptr;  // its kernels are those of the batches it was made for
  batches_ = std::move(batches);
  if (!all_data_.empty()) all_data_ = moments_of_all_data();
}

void Trainer::general_step(const Key& key) {
  std::vector<at::Tensor> values = batches_.batch(update_);
  for (at::Tensor& each : values) each = each.to(machine_.scalar_type());
  const State data = machine_.observe(values);
  gradient_ = {};  // before as much is taken again
  gradient_ = all_data_.empty() ? data_moments(machine_, data) : all_data_.clone();
  sparsity_.observe(gradient_);
  const Cadence cadence = metric_->cadence();
  if (metric_->wants_observations() && update_ % cadence.observe_every == 0) {
    const Moments model = negative_phase_->model_moments(machine_, data, key);
    metric_->observe({gradient_, model, statistics(model)});
    gradient_.add_(model, -1);
  } else {
    negative_phase_->subtract_model_moments(gradient_, machine_, data, key);
  }
  if (update_ % cadence.refit_every == 0) metric_->refit();
  negative_phase_->observe_gradient(gradient_);
  sparsity_.pull_(gradient_);
  rule_.penalize_(gradient_, machine_.parameters(), groups_of(machine_.topology()));
  rule_.apply_(machine_.parameters(), metric_->solve(gradient_), update_);
  machine_.constrain_();
  averaging_.observe(machine_.parameters(), update_);
}

void Trainer::device_step(const Key& key) {
  std::optional<BatchStream::ByteBatch> batch;
  if (!device_update_->has_drawn(batches_.key_of(update_))) batch = batches_.byte_batch(update_);
  device_update_->estimate(machine_, batch, key);
  const Cadence cadence = metric_->cadence();
  if (metric_->wants_observations() && update_ % cadence.observe_every == 0) {
    // Means of units are all that a factorized metric reads in the two moments.
    Moments data, model;
    if (metric_->wants_moments()) {
      data = device_update_->unary_moments(0);
      model = device_update_->unary_moments(1);
    }
    const FastProducts fast(machine_.device());
    metric_->observe({data, model, metric_->wants_statistics() ? device_statistics() : nullptr});
  }
  if (update_ % cadence.refit_every == 0) metric_->refit();
  device_update_->learn(
      machine_.parameters(), averaging_.average(), *metric_, rule_.rates(update_), averaging_.weight(update_),
      update_ + 1 < options_.updates ? std::optional(batches_.byte_batch(update_ + 1)) : std::nullopt);
}

bool Trainer::enumerates() const {
  if (metric_->wants_enumeration()) return true;
  return metric_->wants_statistics() && !negative_phase_->has_particles() &&
         !PairStatistics::serves(machine_.topology());
}

std::shared_ptr<const ModelStatistics> Trainer::statistics(const Moments& model) const {
  const State& particles = negative_phase_->particles();
  if (!enumerates() && particles.layers.empty() && PairStatistics::serves(machine_.topology()))
    return std::make_shared<PairStatistics>(machine_.topology(), model);
  if (metric_->wants_enumeration() || particles.layers.empty()) return std::make_shared<EnumeratedStatistics>(machine_);
  // The widest block stands by its expectation, so that most of the noise goes.
  const auto width = [&](const LayerSet& block) {
    std::int64_t total = 0;
    for (const std::size_t layer : block) total += machine_.unit(layer).width();
    return total;
  };
  const LayerSet block = machine_.without_inner_edges(*std::ranges::max_element(machine_.blocks(), {}, width));
  // Tensors of the state are replaced by the next update and never written to, so this may be kept.
  return std::make_shared<ParticleStatistics>(
      machine_.topology(), machine_.parameters(),
      ParticleSource{
          .drawn = [machine = machine_, particles] { return machine.particles(particles); },
          .expected = [machine = machine_, particles, block] { return machine.particles(particles, block); }});
}

std::shared_ptr<const ModelStatistics> Trainer::device_statistics() {
  // The table has visible units by expectation; where hidden ones are more, it should be those (statistics()).
  if (machine_.unit(0).width() < machine_.unit(1).width()) {
    device_update_->give_back();
    return statistics({});
  }
  // Factorized metrics ask at once and keep nothing, so that chains are made tables only if somebody asks for more.
  return std::make_shared<RbmStatistics>(
      machine_, device_update_->units(machine_),
      ParticleSource{.drawn = [this] { return machine_.particles(particles()); },
                     .expected = [this] { return machine_.particles(particles(), {0}); }});
}

void Trainer::check() const {
  // Without a copy of magnitudes, which would be the largest tensor of a step. NaN anywhere makes both ends NaN. They
  // come from a device all at once: each coming is a wait.
  std::vector<at::Tensor> ends;
  for (const auto& [name, value] : machine_.parameters().entries()) {
    const auto [least, greatest] = at::aminmax(value);
    ends.push_back(least);
    ends.push_back(greatest);
  }
  const at::Tensor found = on_cpu(at::stack(ends)).abs();
  for (std::int64_t i = 0; const auto& [name, value] : machine_.parameters().entries()) {
    const double largest = std::max(found[i].item<double>(), found[i + 1].item<double>());
    i += 2;
    if (std::isfinite(largest) && largest < exploded) continue;
    throw RunFailure(
        format("training diverged at update {}: the largest magnitude in '{}' is {:.3g}. Lower --rate-weights and "
               "--rate-bias (halve them), or use more particles",
               update_, name, largest));
  }
}

double Trainer::gradient_norm() const {
  if (device_update_ != nullptr && device_update_->estimated())
    return norm(device_update_->data_moments().add_(device_update_->model_moments(), -1));
  return gradient_.empty() ? 0 : norm(gradient_);
}

const State& Trainer::particles() const {
  if (device_update_ != nullptr) device_update_->give_back();
  return negative_phase_->particles();
}

NamedTensors Trainer::state() const {
  (void)particles();  // wherever they have been
  NamedTensors all;
  const auto add = [&](const std::string& prefix, const NamedTensors& tensors) {
    for (auto& entry : with_prefix(prefix, tensors)) all.push_back(std::move(entry));
  };
  add("parameters/", machine_.parameters().entries());
  add("average/", averaging_.average().entries());
  add("velocity/", rule_.state());
  add("sparsity/", sparsity_.state());
  add("negative_phase/", negative_phase_->state());
  add("metric/", metric_->state());
  return all;
}

void Trainer::restore(std::int64_t update, const NamedTensors& saved) {
  NamedTensors tensors;  // a checkpoint of one device goes on another
  for (const auto& [name, value] : saved) tensors.emplace_back(name, value.to(machine_.device()));
  copy_moments(machine_.parameters(), under_prefix("parameters/", tensors), "parameters");
  copy_moments(averaging_.average(), under_prefix("average/", tensors), "average");
  rule_.restore(under_prefix("velocity/", tensors), machine_.parameters());
  sparsity_.restore(under_prefix("sparsity/", tensors));
  negative_phase_->restore(under_prefix("negative_phase/", tensors));
  metric_->restore(under_prefix("metric/", tensors));
  if (device_update_ != nullptr) device_update_->forget();
  update_ = update;
}

}  // namespace harmonium
