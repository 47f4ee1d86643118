// An objective that knows its own gradient, such as the exact log-likelihood of an autoregressive model.
#pragma once

#include <functional>

#include "harmonium/training/objectives/objective.h"
#include "harmonium/training/objectives/running_mean.h"

namespace harmonium {

class Ascent final : public Objective {
 public:
  struct Climb {
    at::Tensor value;  // of the batch (one number), where the parameters are, so that nobody waits for a device
    Moments gradient;  // upwards
  };
  // Parameters are those that were given, changed in place.
  using Function = std::function<Climb(const std::vector<at::Tensor>& batch, const Key& key)>;

  // `name` is how metrics call the value: "log_likelihood".
  Ascent(Moments parameters, std::vector<ParameterGroup> groups, std::string name, Function function);

  [[nodiscard]] Moments& parameters() override { return parameters_; }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return groups_; }
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override;
  // The mean value of the batches since the last call; nothing where there were none.
  [[nodiscard]] std::map<std::string, double> take_measurements() override { return mean_.take(); }
  // The mean since the last line of metrics is part of the next line.
  [[nodiscard]] NamedTensors state() const override { return {{"objective", mean_.state()}}; }
  void restore(const NamedTensors& saved) override;

 private:
  Moments parameters_;
  std::vector<ParameterGroup> groups_;
  Function function_;
  RunningMean mean_;
};

}  // namespace harmonium
