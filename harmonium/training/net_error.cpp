#include "harmonium/training/net_error.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"

namespace harmonium {

at::Tensor shown_values(const Dataset& piece, Binarization binarization) {
  // The middle of the noise.
  if (binarization == Binarization::dequantized) return piece.to_float().add_(0.5 * piece.scale);
  return binarize(piece.to_float(), binarization == Binarization::threshold ? binarization : Binarization::none,
                  Key(0));
}

NetErrors net_errors(const FeedForward& net, const Dataset& data, Binarization binarization, Loss loss) {
  const bool classes = loss == Loss::cross_entropy;
  require(data.rows() > 0, "{}: there are no rows to measure the net on", data.name);
  require(!classes || data.labels.defined(), "{}: the classification error needs labels, and the data have none",
          data.name);
  constexpr std::int64_t rows_at_once = 1000;
  const at::Device device = net.bias(0).device();
  double total = 0, squared = 0, words = 0;
  std::int64_t wrong = 0;
  for (std::int64_t first = 0; first < data.rows(); first += rows_at_once) {
    const Dataset piece = data.slice(first, std::min(first + rows_at_once, data.rows()));
    const at::Tensor values = shown_values(piece, binarization).to(device);
    const at::Tensor labels = classes ? piece.labels.to(device) : at::Tensor();
    const at::Tensor logits = net.logits(values);
    const at::Tensor targets = classes ? at::one_hot(labels, net.outputs()).to(values.scalar_type()) : values;
    total += row_losses_of_logits(net, logits, targets, loss).sum().item<double>();
    if (classes)
      wrong += logits.argmax(1).ne(labels).sum().item<std::int64_t>();
    else if (loss == Loss::multinomial)
      words += values.sum().item<double>();
    else
      squared += row_losses_of_logits(net, logits, targets, Loss::squared).sum().item<double>();
  }
  const auto rows = static_cast<double>(data.rows());
  NetErrors errors{
      .loss = total / rows, .misclassified = std::nullopt, .squared = std::nullopt, .perplexity = std::nullopt};
  if (classes)
    errors.misclassified = static_cast<double>(wrong) / rows;
  else if (loss == Loss::multinomial)
    errors.perplexity = std::exp(total / std::max(1.0, words));
  else
    errors.squared = squared / rows;
  return errors;
}

}  // namespace harmonium
