#include "harmonium/samplers/wang_landau.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/samplers/unit_flips.h"

namespace harmonium {

namespace {

// Groups of rows whose estimates of log Z give its standard error.
constexpr std::int64_t row_groups = 10;

// Bins of log f by number, ⌊log f / width⌋; there is room for those between the lowest and the highest proposed so far.
class Histogram {
 public:
  explicit Histogram(double width) : width_(width) {}

  [[nodiscard]] at::Tensor numbers(const at::Tensor& log_f) const { return (log_f / width_).floor().to(at::kLong); }

  // Makes room for these bins; true when one of them turns up for the first time.
  bool admit(const at::Tensor& numbers) {
    const auto low = numbers.min().item<std::int64_t>(), high = numbers.max().item<std::int64_t>();
    if (!log_states_.defined()) {
      first_ = low;
      log_states_ = at::zeros({1}, at::kDouble);
      known_ = at::zeros({1}, at::kBool);
      visits = at::zeros({row_groups, 1}, at::kDouble);
      excess = at::zeros({row_groups, 1}, at::kDouble);
    }
    const std::int64_t below = std::max<std::int64_t>(first_ - low, 0),
                       above = std::max<std::int64_t>(high - first_ - size() + 1, 0);
    if (below > 0 || above > 0) {
      for (at::Tensor* one : {&log_states_, &known_, &visits, &excess})
        *one = at::constant_pad_nd(*one, {below, above});
      first_ -= below;
    }
    if (known_.index_select(0, places(numbers)).all().item<bool>()) return false;
    // A new bin starts as the rarest one known, so that a chain may enter it at once but is not held there.
    const at::Tensor before = known_.clone();
    known_.index_fill_(0, places(numbers), true);
    if (before.any().item<bool>())
      log_states_ = at::where(before, log_states_, log_states_.masked_select(before).min());
    return true;
  }

  [[nodiscard]] std::int64_t size() const { return log_states_.size(0); }
  // Where these bins stand in the tensors below.
  [[nodiscard]] at::Tensor places(const at::Tensor& numbers) const { return numbers - first_; }
  [[nodiscard]] at::Tensor centers(const at::Tensor& numbers) const { return (numbers.to(at::kDouble) + 0.5) * width_; }
  [[nodiscard]] at::Tensor centers() const { return centers(at::arange(first_, first_ + size(), at::kLong)); }
  [[nodiscard]] at::Tensor counts(const at::Tensor& numbers) const { return at::bincount(places(numbers), {}, size()); }
  [[nodiscard]] const at::Tensor& log_states() const { return log_states_; }
  [[nodiscard]] at::Tensor log_states(const at::Tensor& numbers) const {
    return log_states_.index_select(0, places(numbers));
  }
  [[nodiscard]] const at::Tensor& known() const { return known_; }
  void raise(const at::Tensor& counts, double amount) { log_states_.add_(counts, amount); }

  at::Tensor visits, excess;  // groups × bins: visits, and e^{log f − centre} summed over them

 private:
  double width_;
  std::int64_t first_ = 0;
  at::Tensor log_states_, known_;  // log n up to a constant; whether a bin has ever been proposed
};

class WangLandau {
 public:
  WangLandau(UnitFlips flips, const Key& key, const WangLandauOptions& options)
      : flips_(std::move(flips)),
        key_(key.fold_in(1)),
        options_(options),
        chains_(flips_.start(key.fold_in(0), options.rows)),
        histogram_(options.bin_width),
        group_(at::remainder(at::arange(options.rows, at::kLong), row_groups)) {
    bins_ = histogram_.numbers(chains_.log_f);
    (void)histogram_.admit(bins_);
  }

  DensityOfStates run() {
    DensityOfStates result;
    result.flat = learn();
    chains_ = flips_.refreshed(chains_.values);
    for (std::int64_t step = 0; step < options_.last_steps; ++step) {
      (void)move();
      count();
    }
    result.steps = steps_;
    const at::Tensor seen = histogram_.visits.sum(0).gt(0);
    const auto [log_states, log_mean, log_z] = estimate(histogram_.visits.sum(0), histogram_.excess.sum(0));
    result.level = histogram_.centers().masked_select(seen);
    result.log_states = log_states.masked_select(seen);
    result.log_mean = log_mean.masked_select(seen);
    result.log_z = log_z;
    result.standard_error = jackknife();
    return result;
  }

 private:
  // One change offered to every row; true when bins turned up that nobody had seen.
  bool move() {
    if (options_.progress && steps_ % options_.check_every == 0)
      options_.progress(steps_, options_.most_steps + options_.last_steps);
    const at::Tensor chances =
        uniform(key_.fold_in(static_cast<std::uint64_t>(steps_++)), {3, options_.rows}, at::kDouble);
    const UnitFlips::Proposal proposal = flips_.propose(chains_, chances);
    const at::Tensor bins = histogram_.numbers(proposal.log_f);
    const bool grown = histogram_.admit(bins);
    const at::Tensor accepted = chances[2].log() < histogram_.log_states(bins_) - histogram_.log_states(bins);
    UnitFlips::accept(chains_, proposal, accepted);
    bins_ = at::where(accepted, bins, bins_);
    return grown;
  }

  bool learn() {
    double update = options_.first_update;
    while (update >= options_.last_update) {
      at::Tensor visits = at::zeros({histogram_.size()}, at::kLong);
      for (bool flat = false; !flat;) {
        for (std::int64_t i = 0; i < options_.check_every; ++i) {
          if (steps_ >= options_.most_steps) return false;
          const bool grown = move();
          const at::Tensor counts = histogram_.counts(bins_);
          histogram_.raise(counts, update / static_cast<double>(options_.rows));
          // A new bin has been visited less than those that were always there: all begin again.
          visits = grown ? counts : visits + counts;
        }
        chains_ = flips_.refreshed(chains_.values);
        const at::Tensor known = visits.masked_select(histogram_.known()).to(at::kDouble);
        flat = known.min().item<double>() >= options_.flatness * known.mean().item<double>();
      }
      update /= 2;
    }
    return true;
  }

  void count() {
    const at::Tensor place = group_ * histogram_.size() + histogram_.places(bins_);
    const at::Tensor over = (chains_.log_f - histogram_.centers(bins_)).exp();
    const std::int64_t places = row_groups * histogram_.size();
    histogram_.visits += at::bincount(place, {}, places).view({row_groups, -1});
    histogram_.excess += at::bincount(place, over, places).view({row_groups, -1});
  }

  struct Result {
    at::Tensor log_states, log_mean;
    double log_z;
  };
  [[nodiscard]] Result estimate(const at::Tensor& visits, const at::Tensor& excess) const {
    // Bins without a visit get log 0 = −∞ and drop out.
    const at::Tensor relative = histogram_.log_states() + visits.log();
    const at::Tensor log_states = relative - at::logsumexp(relative, 0) + flips_.log_state_count();
    const at::Tensor log_mean = histogram_.centers() + (excess / visits.clamp_min(1)).log();
    const at::Tensor share = log_states.masked_select(visits.gt(0)) + log_mean.masked_select(visits.gt(0));
    return {log_states, log_mean, at::logsumexp(share, 0).item<double>()};
  }

  [[nodiscard]] double jackknife() const {
    std::vector<double> left_out;
    for (std::int64_t group = 0; group < row_groups; ++group)
      left_out.push_back(estimate(histogram_.visits.sum(0) - histogram_.visits[group],
                                  histogram_.excess.sum(0) - histogram_.excess[group])
                             .log_z);
    const at::Tensor values = at::tensor(left_out, at::kDouble);
    return std::sqrt((values - values.mean()).square().sum().item<double>() * (row_groups - 1) / row_groups);
  }

  UnitFlips flips_;
  Key key_;
  WangLandauOptions options_;
  UnitFlips::Chains chains_;
  Histogram histogram_;
  at::Tensor group_, bins_;
  std::int64_t steps_ = 0;
};

}  // namespace

DensityOfStates wang_landau(const BoltzmannMachine& machine, const Key& key, const WangLandauOptions& options) {
  require(options.rows >= 2 * row_groups, "Wang–Landau needs at least {} rows for its standard error, not {}",
          2 * row_groups, options.rows);
  require(options.bin_width > 0 && options.last_update > 0 && options.first_update >= options.last_update,
          "Wang–Landau needs a positive width of bins and updates that fall, not {} and {} … {}", options.bin_width,
          options.first_update, options.last_update);
  require(options.flatness > 0 && options.flatness < 1, "Wang–Landau: a flatness lies between 0 and 1, not {}",
          options.flatness);
  require(options.check_every >= 1 && options.most_steps >= 1 && options.last_steps >= 1,
          "Wang–Landau needs at least one step of each kind");
  const std::vector<LayerSet>& blocks = machine.blocks();
  for (const EdgeInfo& edge : machine.topology().edges)
    require(!edge.inner(), "Wang–Landau cannot handle edges inside a layer ({}); estimate log Z by ais instead",
            edge.weights);
  require(blocks.size() == 2, "Wang–Landau needs a machine whose layers fall into two blocks; this one has {}",
          blocks.size());
  const auto discrete = [&](const LayerSet& block) {
    return std::ranges::all_of(block, [&](std::size_t layer) { return machine.unit(layer).state_count().has_value(); });
  };
  const std::size_t kept = discrete(blocks[0]) ? 0 : 1;
  require(discrete(blocks[kept]), "Wang–Landau counts states, but both blocks of this machine have continuous layers");
  return WangLandau({machine.precise_on_cpu(), blocks[kept], blocks[1 - kept]}, key, options).run();
}

}  // namespace harmonium
