// Training a feed-forward net by gradient descent: one update is a batch, a loss, its gradient by automatic
// differentiation (the one place that uses it), a step, and the average of iterates.
//
//   cross_entropy  −log p(class | x), for a softmax and one-hot targets
//   bernoulli      −Σ_i [x_i log y_i + (1−x_i) log(1−y_i)] of a reconstruction y in (0, 1): nats per row
//   squared        Σ_i (x_i − y_i)²
//   multinomial    −Σ_k x_k log y_k of numbers of words x and a distribution y over words: nats per document
//
// Losses are means over rows. As in Trainer, everything random is a function of (seed, update): batches by
// BatchStream, dropped units by the update's key; so a run restored at update u goes on as one that was never stopped.
// A net on a device is trained there, with products in TF32 unless `--precision exact` asks for float32.
#pragma once

#include <memory>
#include <optional>

#include "harmonium/core/device.h"
#include "harmonium/models/feed_forward.h"
#include "harmonium/training/averaging.h"
#include "harmonium/training/batch_stream.h"
#include "harmonium/training/step_rule.h"

namespace harmonium {

enum class Loss { cross_entropy, bernoulli, squared, multinomial };

[[nodiscard]] std::string to_string(Loss loss);
[[nodiscard]] Loss parse_loss(const std::string& name);

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

struct LossGradient {
  at::Tensor loss;   // mean over rows: one number, where the net is, so that nobody waits for a device
  Moments gradient;  // of that, shaped like the parameters
};
// `key` decides which units are dropped.
[[nodiscard]] LossGradient loss_gradient(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets,
                                         Loss loss, const Dropout& dropout = {}, const Key& key = Key(0));

struct FineTuningOptions {
  Loss loss = Loss::cross_entropy;
  bool adam = false;      // else the gradient itself
  StepOptions step = {};  // rates, schedule, momentum, penalties
  Dropout dropout = {};
  std::int64_t updates = 5000;
  double averaging = 100;  // time-scale in updates; at most 1 switches it off
  std::uint64_t seed = 0;
};

class FineTuning {
 public:
  // Targets are the labels of batches where those carry any, else the inputs themselves.
  FineTuning(FeedForward net, BatchStream batches, const FineTuningOptions& options);

  // One update. Throws RunFailure, naming update and tensor, when parameters have diverged.
  void step();
  void check() const;
  // Returns when a device has done all that was begun.
  void wait() const { wait_for_device(net_.bias(0)); }

  [[nodiscard]] std::int64_t update() const { return update_; }  // updates done
  [[nodiscard]] bool finished() const { return update_ >= options_.updates; }
  [[nodiscard]] double epoch() const { return batches_.epoch(update_); }
  [[nodiscard]] double gradient_norm() const { return gradient_.empty() ? 0 : norm(gradient_); }
  // Mean loss of the batches since the last call; nothing where there were none.
  [[nodiscard]] std::optional<double> take_loss();
  [[nodiscard]] const FeedForward& net() const { return net_; }
  // The net with averaged parameters (shared: they move on with the next step).
  [[nodiscard]] FeedForward averaged() const { return net_.with_parameters(averaging_.average()); }

  [[nodiscard]] NamedTensors state() const;
  void restore(std::int64_t update, const NamedTensors& saved);

 private:
  FeedForward net_;
  BatchStream batches_;
  FineTuningOptions options_;
  std::vector<ParameterGroup> groups_;
  StepRule rule_;
  std::unique_ptr<Optimizer> optimizer_;
  Averaging averaging_;
  Key key_;
  std::int64_t update_ = 0;
  Moments gradient_;
  at::Tensor loss_sum_;
  std::int64_t loss_count_ = 0;
};

}  // namespace harmonium
