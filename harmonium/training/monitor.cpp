#include "harmonium/training/monitor.h"

#include "harmonium/data/binarize.h"
#include "harmonium/inference/mean_field.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/log_likelihood.h"

namespace harmonium {

namespace {

std::vector<at::Tensor> sample_rows(const Dataset& data, Binarization binarization, std::int64_t classes,
                                    std::int64_t rows, const Key& key) {
  if (data.rows() == 0) return {};
  if (data.missing > 0) return sample_rows(complete_rows(data), binarization, classes, rows, key);
  const at::Tensor chosen = permutation(key.fold_in(0), data.rows()).narrow(0, 0, std::min(rows, data.rows()));
  std::vector<at::Tensor> result = {binarize(data.gather(chosen), binarization, key.fold_in(1), data.step())};
  if (classes > 0) result.push_back(at::one_hot(data.labels.index_select(0, chosen), classes).to(at::kFloat));
  return result;
}

double pseudo_log_likelihood(const BoltzmannMachine& machine, const State& data, std::size_t layer, const Key& key) {
  // log p(v_i | v_−i) = −log(1 + f(v with bit i flipped) / f(v)) for one random i a row, times the number of units.
  const at::Tensor& v = data.layers[layer];
  const at::Tensor chosen =
      (uniform(key, {v.size(0), 1}, v.options().dtype(at::kFloat)) * static_cast<double>(v.size(1)))
          .to(at::kLong)
          .clamp_max_(v.size(1) - 1);
  State flipped = data;
  flipped.layers[layer] = v.scatter(1, chosen, 1 - v.gather(1, chosen));
  const at::Tensor gain = log_unnormalized(machine, flipped) - log_unnormalized(machine, data);
  return -static_cast<double>(v.size(1)) * at::softplus(gain).mean().item<double>();
}

// Hidden layers that hear from hidden ones only.
LayerSet upper_layers(const BoltzmannMachine& machine) {
  LayerSet result = machine.hidden();
  const auto observed = [&](std::size_t layer) { return machine.layers()[layer].observed; };
  for (const EdgeInfo& edge : machine.topology().edges)
    std::erase_if(result, [&](std::size_t layer) {
      return (layer == edge.lower && observed(edge.upper)) || (layer == edge.upper && observed(edge.lower));
    });
  return result;
}

double awake_share(const State& means, const LayerSet& layers) {
  constexpr double awake = 0.05;
  std::int64_t units = 0, telling = 0;
  for (const std::size_t layer : layers) {
    units += means.layers[layer].size(1);
    telling += means.layers[layer].std(0, /*unbiased=*/false).ge(awake).sum().item<std::int64_t>();
  }
  return static_cast<double>(telling) / static_cast<double>(units);
}

}  // namespace

Monitor::Monitor(const Dataset& train, const Dataset& valid, Binarization binarization, std::int64_t classes,
                 std::uint64_t seed, std::int64_t rows)
    : train_(sample_rows(train, binarization, classes, rows, Key(seed).fold_in(0))),
      valid_(sample_rows(valid, binarization, classes, rows, Key(seed).fold_in(1))),
      key_(Key(seed).fold_in(2)) {
  if (classes == 0) return;
  const Dataset& judge = valid.rows() > 0 ? valid : train;
  const Key key = Key(seed).fold_in(valid.rows() > 0 ? 1 : 0).fold_in(0);  // the rows of sample_rows()
  classification_.emplace(judge.select(permutation(key, judge.rows()).narrow(0, 0, std::min(rows, judge.rows()))),
                          binarization);
}

std::map<std::string, double> Monitor::measure(const BoltzmannMachine& machine) const {
  std::map<std::string, double> metrics;
  const State train = machine.observe(train_);
  const State judged = valid_.empty() ? train : machine.observe(valid_);
  const std::size_t visible = machine.observed().front();

  if (machine.unit(visible).support() == Unit::Support::bits)
    metrics["pseudo_log_likelihood"] = pseudo_log_likelihood(machine, judged, visible, key_);
  // What Z is depends on a document's length.
  if (!valid_.empty() && !machine.unit(visible).wants_own_state())
    metrics["free_energy_gap"] =
        (log_unnormalized(machine, train).mean() - log_unnormalized(machine, judged).mean()).item<double>();

  if (classification_) metrics["classification_error"] = classification_->measure(machine);

  const State means = infer(machine, judged).means;
  const at::Tensor rebuilt =
      machine.unit(visible).mean(machine.field(visible, means), machine.layer_parameters(visible));
  metrics["reconstruction_error"] = (rebuilt - judged.layers[visible]).square().sum(1).mean().item<double>();
  if (const LayerSet upper = upper_layers(machine); !upper.empty()) metrics["awake_units"] = awake_share(means, upper);
  return metrics;
}

}  // namespace harmonium
