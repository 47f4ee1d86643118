// A loss that automatic differentiation can take the gradient of: feed-forward nets, and whatever else has one.
//
//   gradient = −∂/∂θ mean loss of the batch
//
// The loss is a function of parameters, batch and key, and keeps nothing. Parameters that it does not depend on at an
// update are left alone. Products on a device are in TF32 unless `--precision exact` asks for float32.
#pragma once

#include <functional>

#include "harmonium/training/objectives/objective.h"
#include "harmonium/training/objectives/running_mean.h"

namespace harmonium {

class Criterion final : public Objective {
 public:
  // The mean loss of a batch (one number), where `leaves` stand for the parameters.
  using MeanLoss =
      std::function<at::Tensor(const Moments& leaves, const std::vector<at::Tensor>& batch, const Key& key)>;

  Criterion(Moments parameters, std::vector<ParameterGroup> groups, MeanLoss loss);

  [[nodiscard]] Moments& parameters() override { return parameters_; }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return groups_; }
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override;
  // "loss": the mean over the batches since the last call; nothing where there were none.
  [[nodiscard]] std::map<std::string, double> take_measurements() override { return mean_.take(); }
  // The mean loss since the last line of metrics is part of the next line.
  [[nodiscard]] NamedTensors state() const override { return {{"loss", mean_.state()}}; }
  void restore(const NamedTensors& saved) override;

 private:
  Moments parameters_;
  std::vector<ParameterGroup> groups_;
  MeanLoss loss_;
  RunningMean mean_;
};

}  // namespace harmonium
