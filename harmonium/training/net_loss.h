// Losses of feed-forward nets: means over rows of
//
//   cross_entropy  −log p(class | x), for a softmax and one-hot targets
//   bernoulli      −Σ_i [x_i log y_i + (1−x_i) log(1−y_i)] of a reconstruction y in (0, 1): nats per row
//   squared        Σ_i (x_i − y_i)²
//   multinomial    −Σ_k x_k log y_k of numbers of words x and a distribution y over words: nats per document
#pragma once

#include <string>

#include "harmonium/models/feed_forward.h"
#include "harmonium/training/loss_gradient.h"

namespace harmonium {

enum class Loss { cross_entropy, bernoulli, squared, multinomial };

[[nodiscard]] std::string to_string(Loss loss);
[[nodiscard]] Loss parse_loss(const std::string& name);

// Fails where the loss is not made for the net's output.
void require_fitting(const FeedForward& net, Loss loss);

// Shares of units that are left out of an update at random; those that stay count for the lost ones, so that nothing
// changes on average (Srivastava et al. 2014).
struct Dropout {
  double inputs = 0, hidden = 0;
};

// The loss of each row (float64), rows.
[[nodiscard]] at::Tensor row_losses(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets,
                                    Loss loss);
// The same where the net's last layer before its activation is known.
[[nodiscard]] at::Tensor row_losses_of_logits(const FeedForward& net, const at::Tensor& logits,
                                              const at::Tensor& targets, Loss loss);

// Mean over rows in the net's own precision: one number. `key` decides which units are dropped.
[[nodiscard]] at::Tensor mean_loss(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets,
                                   Loss loss, const Dropout& dropout = {}, const Key& key = Key(0));
// Half of that loss and half of the one of the same rows made harder: every value is moved by `step` in the direction
// in which the loss grows, x + step · sign(∂loss/∂x) (adversarial examples; Goodfellow, Shlens & Szegedy 2015). Rows
// that are harder are data like others: no gradient flows through the way they are made. Costs 7/3 of the plain loss.
[[nodiscard]] at::Tensor adversarial_loss(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets,
                                          Loss loss, const Dropout& dropout, double step, const Key& key);
// The mean loss and its gradient, shaped like the parameters.
[[nodiscard]] LossGradient loss_gradient(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets,
                                         Loss loss, const Dropout& dropout = {}, const Key& key = Key(0));

}  // namespace harmonium
