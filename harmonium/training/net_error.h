// How wrong a feed-forward net is about some rows, looked at in pieces.
#pragma once

#include <optional>

#include "harmonium/data/dataset.h"
#include "harmonium/training/net_loss.h"

namespace harmonium {

// Rows as they are shown to a net: gray values as they are, thresholded where training knew nothing else.
[[nodiscard]] at::Tensor shown_values(const Dataset& piece, Binarization binarization);

struct NetErrors {
  double loss = 0;                      // mean over rows
  std::optional<double> misclassified;  // share of rows; with the loss cross_entropy only
  std::optional<double> squared;        // mean squared error of a row; with losses of reconstructions only
  std::optional<double> perplexity;     // exp of the mean loss of a word; with the loss multinomial only
};
// Needs labels for the loss cross_entropy, and rows in any case.
[[nodiscard]] NetErrors net_errors(const FeedForward& net, const Dataset& data, Binarization binarization, Loss loss);

}  // namespace harmonium
