#include "harmonium/training/belief_net_monitor.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/data/binarize.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

double belief_net_error(const BeliefNet& net, const Dataset& data, Binarization binarization) {
  constexpr std::int64_t rows_at_once = 2000;
  std::int64_t wrong = 0;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const Dataset piece = data.slice(first, std::min(first + rows_at_once, data.rows()));
    const at::Tensor found = on_cpu(log_label_probabilities(net, shown_values(piece, binarization)).argmax(1));
    wrong += found.ne(piece.labels).sum().item<std::int64_t>();
  }
  return static_cast<double>(wrong) / static_cast<double>(data.rows());
}

BeliefNetMonitor::BeliefNetMonitor(const Dataset& train, const Dataset& valid, Binarization binarization,
                                   std::uint64_t seed, std::int64_t rows)
    : watched_((valid.rows() > 0 ? valid : train).first(rows)), binarization_(binarization), key_(seed) {
  values_ = binarize(watched_.to_float(), binarization, key_.fold_in(0));
}

std::map<std::string, double> BeliefNetMonitor::measure(const BeliefNet& net,
                                                        const std::vector<at::Tensor>& dreams) const {
  std::map<std::string, double> metrics;
  std::vector<at::Tensor> awake = {values_};
  for (const at::Tensor& drawn : up_sample(net.up, values_, key_.fold_in(1))) awake.push_back(drawn);
  double wake = 0, sleep = 0;
  for (std::size_t l = 0; l + 1 < net.down.size(); ++l) {
    wake += log_conditional(net.down[l], 0, joined_state(net.down[l], awake[l], awake[l + 1])).mean().item<double>();
    if (!dreams.empty())
      sleep += log_conditional(net.up[l], net.up[l].hidden().front(), joined_state(net.up[l], dreams[l], dreams[l + 1]))
                   .mean()
                   .item<double>();
  }
  metrics["wake_log_probability"] = wake;
  if (!dreams.empty()) metrics["sleep_log_probability"] = sleep;
  metrics["reconstruction_error"] = (reconstruct(net, values_) - values_).square().sum(1).mean().item<double>();
  if (net.labelled() && watched_.labels.defined())
    metrics["classification_error"] = belief_net_error(net, watched_, binarization_);
  return metrics;
}

}  // namespace harmonium
