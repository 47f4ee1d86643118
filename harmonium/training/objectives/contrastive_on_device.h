// Updates of a binary RBM by the kernels of a CUDA device (device_update.h), as the contrastive objective offers them.
#pragma once

#include <memory>

#include "harmonium/training/device_update.h"
#include "harmonium/training/objectives/fused_update.h"

namespace harmonium {

class ContrastiveOnDevice final : public FusedUpdate {
 public:
  // Null where a machine, its data, gradient, optimizer or step rule want the general way. The machine's tensors are
  // shared, and the phase must outlive this.
  [[nodiscard]] static std::unique_ptr<ContrastiveOnDevice> make(const BoltzmannMachine& machine,
                                                                 const BatchStream& batches, NegativePhase& phase,
                                                                 const Optimizer& optimizer, const StepOptions& step);

  void step(const Step& step, BatchStream& batches, Optimizer& optimizer, const StepRule& rule, Averaging& averaging,
            bool last) override;
  [[nodiscard]] double gradient_norm() const override;

  // Whether its kernels, which are those of the batches it was made for, take these too.
  [[nodiscard]] bool serves(const BatchStream& batches) const {
    return batches.of_bytes() && batches.bits_of_bytes() == bits_ && batches.options().batch == batch_;
  }
  // Gives the chains back to the negative phase, where everybody else looks for them.
  void give_back() { update_->give_back(); }
  // Parameters, chains or batches were changed by others.
  void forget() { update_->forget(); }

 private:
  ContrastiveOnDevice(const BoltzmannMachine& machine, const BatchStream& batches, NegativePhase& phase,
                      std::unique_ptr<DeviceUpdate> update);
  [[nodiscard]] std::shared_ptr<const ModelStatistics> statistics(const Metric& metric);
  [[nodiscard]] const State& particles();

  BoltzmannMachine machine_;
  NegativePhase& phase_;
  std::unique_ptr<DeviceUpdate> update_;
  bool bits_;
  std::int64_t batch_;
};

}  // namespace harmonium
