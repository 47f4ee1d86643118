// An update of a binary RBM on a CUDA device in four launches, with the same draws and the same step as the general one
// (training.h): a batch drawn as bits (or gray values), a walk of the persistent chains with the data beside it,
// moments, and a step along a factorized metric. Means of hidden units are of fp16 and fields of fp16 weights, both far
// below the noise of a batch; parameters, their averages and all sums are fp32.
#pragma once

#include <memory>
#include <optional>

#include "harmonium/geometry/factorized_gaussian.h"
#include "harmonium/geometry/metric.h"
#include "harmonium/gradients/pcd.h"
#include "harmonium/kernels/rbm_chains.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/training/batch_stream.h"
#include "harmonium/training/step_rule.h"

namespace harmonium {

namespace cuda {
struct BatchToDraw;
struct DataUnits;
}  // namespace cuda

class DeviceUpdate {
 public:
  // Null where a machine, its data, gradient, metric or step rule want the general way.
  [[nodiscard]] static std::unique_ptr<DeviceUpdate> make(const BoltzmannMachine& machine, const BatchStream& batches,
                                                          NegativePhase& phase, const Metric& metric,
                                                          const StepOptions& step);

  // Draws the batch unless it has been drawn ahead (null), lets the chains walk, adds up moments of both. `key` is that
  // of the update.
  void estimate(const BoltzmannMachine& machine, const std::optional<BatchStream::ByteBatch>& batch, const Key& key);
  [[nodiscard]] bool estimated() const { return products_.defined(); }
  // Of the last estimate, until the next.
  [[nodiscard]] Moments data_moments() const { return moments(0); }
  [[nodiscard]] Moments model_moments() const { return moments(1); }
  // Of the units alone, of data (0) or chains (1).
  [[nodiscard]] Moments unary_moments(int side) const;
  // The step: parameters and their average are written to. The next batch is drawn beside it, where one is given.
  void learn(Moments& parameters, Moments& average, const Metric& metric, const StepRule::Rates& rates,
             double average_weight, const std::optional<BatchStream::ByteBatch>& next);

  // A table of the chains' units as RbmStatistics wants it, good until the next call.
  [[nodiscard]] const at::Tensor& units(const BoltzmannMachine& machine);

  // Whether the batch with this key has been drawn ahead.
  [[nodiscard]] bool has_drawn(const Key& key) const { return drawn_ && *drawn_ == key; }

  // Gives the chains back to the negative phase, where everybody else looks for them; they stay here too.
  void give_back();
  // Parameters or chains were changed by others: those here are old, and not to be given back.
  void forget() {
    begun_ = false;
    given_back_ = true;
    drawn_.reset();
  }

 private:
  DeviceUpdate(const BoltzmannMachine& machine, Pcd& phase, std::int64_t batch, bool bits);
  void begin(const BoltzmannMachine& machine, const Key& key);
  [[nodiscard]] cuda::BatchToDraw to_draw(const BatchStream::ByteBatch& batch);
  [[nodiscard]] cuda::DataUnits data() const;  // where the batch is
  [[nodiscard]] double share(int side) const;  // 1 / rows
  [[nodiscard]] Moments moments(int side) const;

  Pcd& phase_;
  std::string visible_, hidden_, weights_;  // names of parameters
  std::int64_t visible_width_, hidden_width_, batch_, particles_ = 0;
  bool bits_;  // data are bits, not gray values
  std::unique_ptr<RbmChains> chains_;
  RbmChains::Learning learning_;
  at::Tensor products_, hidden_sums_, visible_sums_, unary_gradient_, row_sums_, column_sums_;
  at::Tensor units_, half_weights_;
  at::Tensor factor_, inverse_;  // of the units' covariance: the factor of the metric, and what a step multiplies by
  at::Tensor rows_;              // of the batch that is drawn
  std::optional<Key> drawn_;     // the batch that has been drawn ahead
  bool begun_ = false, given_back_ = true;
};

}  // namespace harmonium
