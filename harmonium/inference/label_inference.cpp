#include "harmonium/inference/label_inference.h"

#include <algorithm>

#include "harmonium/models/classification.h"

namespace harmonium {

at::Tensor infer_labels(const BoltzmannMachine& machine, const at::Tensor& visible, const MeanFieldOptions& options) {
  if (!machine.hidden_joined()) return log_label_probabilities(machine, visible);
  constexpr std::int64_t pairs_at_once = 4000;  // of a row and a class
  const std::int64_t classes = machine.unit(label_layer(machine)).width(), all = visible.size(0);
  const std::int64_t at_once = std::max<std::int64_t>(1, pairs_at_once / classes);
  const at::Tensor every_class = at::eye(classes, visible.options());
  std::vector<at::Tensor> parts;
  for (std::int64_t first = 0; first < all; first += at_once) {
    const at::Tensor rows = visible.narrow(0, first, std::min(at_once, all - first));
    const State pairs = machine.observe({rows.repeat_interleave(classes, 0), every_class.repeat({rows.size(0), 1})});
    const at::Tensor bounds = variational_bound(machine, infer(machine, pairs, options));
    parts.push_back(at::log_softmax(bounds.reshape({rows.size(0), classes}), 1));
  }
  return at::cat(parts);
}

}  // namespace harmonium
