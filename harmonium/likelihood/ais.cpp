#include "harmonium/likelihood/ais.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/likelihood/bootstrap.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium {

namespace {

// The machine at both ends of the path, and everything at a β between them.
class Path {
 public:
  Path(const BoltzmannMachine& target, const Moments& base) : target_(target), base_(target.with_parameters(base)) {
    for (const EdgeInfo& edge : target.topology().edges)
      require(base[edge.weights].count_nonzero().item<std::int64_t>() == 0,
              "ais: the base machine must have no weights, but {} is not zero", edge.weights);
    require(target.blocks().size() == 2, "ais needs a machine whose layers fall into two blocks; this one has {}",
            target.blocks().size());
  }

  [[nodiscard]] const LayerSet& kept() const { return target_.blocks()[0]; }
  [[nodiscard]] const LayerSet& summed() const { return target_.blocks()[1]; }
  [[nodiscard]] const BoltzmannMachine& base() const { return base_; }

  [[nodiscard]] Unit::Parameters parameters(std::size_t layer, double beta) const {
    Unit::Parameters at_zero = base_.layer_parameters(layer), result;
    for (std::size_t i = 0; const at::Tensor& at_one : target_.layer_parameters(layer))
      result.push_back(at::lerp(at_zero[i++], at_one, beta));
    return result;
  }
  // bias_β + β·input: the weights of the base are zero, so the neighbours' share scales with β.
  [[nodiscard]] at::Tensor field(const at::Tensor& input, const Unit::Parameters& theta, double beta) const {
    return at::add(theta[0], input, beta);
  }
  // d/dβ of the kept layers' own part of log f_β, which is linear in β.
  [[nodiscard]] at::Tensor kept_slope(const State& state) const {
    at::Tensor total;
    for (const std::size_t layer : kept()) {
      const at::Tensor slope = target_.unit(layer).log_potential(state.layers[layer], target_.layer_parameters(layer)) -
                               target_.unit(layer).log_potential(state.layers[layer], base_.layer_parameters(layer));
      total = total.defined() ? total + slope : slope;
    }
    return total;
  }
  [[nodiscard]] double log_z_base() const {
    double total = 0;
    for (std::size_t layer = 0; layer < target_.layers().size(); ++layer) {
      const Unit::Parameters theta = base_.to(at::kDouble).layer_parameters(layer);
      total += target_.unit(layer).log_partition(theta[0].unsqueeze(0), theta).item<double>();
    }
    return total;
  }
  [[nodiscard]] const BoltzmannMachine& target() const { return target_; }

 private:
  BoltzmannMachine target_, base_;
};

// log w of `chains` chains, without log Z_0.
at::Tensor run_chains(const Path& path, const std::vector<double>& betas, std::int64_t chains, const Key& key,
                      const std::function<void()>& tick) {
  const BoltzmannMachine& machine = path.target();
  State state = path.base().independent_sample(key.fold_in(0), chains);
  at::Tensor log_weights = at::zeros({chains}, at::kDouble);
  for (std::size_t k = 1; k < betas.size(); ++k) {
    const double before = betas[k - 1], beta = betas[k];
    const Key step_key = key.fold_in(k);
    log_weights.add_(path.kept_slope(state), beta - before);
    for (const std::size_t layer : path.summed()) {
      const at::Tensor input = machine.input(layer, state);
      const Unit::Parameters theta_before = path.parameters(layer, before), theta = path.parameters(layer, beta);
      const at::Tensor field = path.field(input, theta, beta);
      log_weights.add_(machine.unit(layer).log_partition(field, theta));
      log_weights.sub_(machine.unit(layer).log_partition(path.field(input, theta_before, before), theta_before));
      state.layers[layer] = machine.unit(layer).sample(step_key.fold_in(layer), field, theta);
    }
    for (const std::size_t layer : path.kept()) {
      const Unit::Parameters theta = path.parameters(layer, beta);
      state.layers[layer] = machine.unit(layer).sample(step_key.fold_in(layer),
                                                       path.field(machine.input(layer, state), theta, beta), theta);
    }
    tick();
  }
  return log_weights;
}

std::vector<double> schedule_of(const AisOptions& options) {
  if (options.schedule.empty()) {
    require(options.betas >= 1, "ais: needs at least one β step, not {}", options.betas);
    std::vector<double> betas;
    for (std::int64_t k = 0; k <= options.betas; ++k)
      betas.push_back(static_cast<double>(k) / static_cast<double>(options.betas));
    return betas;
  }
  const auto& betas = options.schedule;
  require(betas.size() >= 2 && betas.front() == 0 && betas.back() == 1, "ais: a β schedule starts at 0 and ends at 1");
  // Asking for every pair to be in order, and not for none to be out of it, refuses NaN as well.
  require(std::ranges::adjacent_find(betas, [](double a, double b) { return !(a <= b); }) == betas.end(),
          "ais: a β schedule must increase");
  return betas;
}

}  // namespace

Moments base_rate_parameters(const BoltzmannMachine& machine,
                             const std::vector<std::vector<at::Tensor>>& observed_moments, double smoothing) {
  Moments base = machine.parameters().zeros_like();
  const LayerSet observed = machine.observed();
  require(observed_moments.size() == observed.size(), "base rates for {} layers, but {} are observed",
          observed_moments.size(), observed.size());
  for (std::size_t layer = 0; layer < machine.layers().size(); ++layer) {
    const auto place = std::ranges::find(observed, layer);
    const Unit::Parameters theta =
        place == observed.end() ? machine.unit(layer).neutral_parameters(machine.scalar_type())
                                : machine.unit(layer).parameters_of(
                                      observed_moments[static_cast<std::size_t>(place - observed.begin())], smoothing);
    for (std::size_t i = 0; const std::string& name : machine.topology().layers[layer].parameters)
      base[name].copy_(theta[i++]);
  }
  return base;
}

Moments base_rate_parameters(const BoltzmannMachine& machine, const Key& key) {
  constexpr std::int64_t rows = 200, sweeps = 100;
  State state = machine.independent_sample(key.fold_in(0), rows);
  (void)gibbs(machine, state, key.fold_in(1), sweeps);
  std::vector<std::vector<at::Tensor>> moments;
  for (const std::size_t layer : machine.observed())
    moments.push_back(machine.unit(layer).moments(state.layers[layer], {}));
  // Few and dependent samples: smooth by as much as one of them could be wrong.
  return base_rate_parameters(machine, moments, 1.0 / rows);
}

AisResult ais(const BoltzmannMachine& machine, const Moments& base, const AisOptions& options,
              const Progress& progress) {
  require(options.chains >= 1, "ais: needs at least one chain, not {}", options.chains);
  require(options.chains_at_once >= 1, "ais: needs at least one chain at once, not {}", options.chains_at_once);
  const std::vector<double> betas = schedule_of(options);
  const Path path(machine, base);
  const Key key = Key(options.seed).fold_in(0xA15);
  const auto steps = static_cast<std::int64_t>(betas.size()) - 1;
  const std::int64_t groups = (options.chains + options.chains_at_once - 1) / options.chains_at_once;
  std::int64_t done = 0;
  const auto tick = [&] {
    ++done;
    if (progress) progress(done, steps * groups);
  };
  std::vector<at::Tensor> weights;
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int64_t count = std::min(options.chains_at_once, options.chains - group * options.chains_at_once);
    weights.push_back(run_chains(path, betas, count, key.fold_in(static_cast<std::uint64_t>(group)), tick));
  }
  AisResult result;
  result.log_weights = at::cat(weights) + path.log_z_base();
  const Interval interval = bootstrap_log_mean_exp(result.log_weights, key.fold_in(0xB007));
  result.log_z = {.value = log_mean_exp(result.log_weights),
                  .low = interval.low,
                  .high = interval.high,
                  .kind = EstimateKind::unbiased_estimate,
                  .method = "ais",
                  .chains = options.chains,
                  .betas = steps,
                  .effective_samples = effective_sample_size(result.log_weights)};
  return result;
}

}  // namespace harmonium
