// An objective whose gradient automatic differentiation finds from a surrogate: a number whose derivative is the
// gradient, or an unbiased estimate of it, while what is shown may be another.
//
// Log-likelihoods of nets are their own surrogates; score functions and importance weights are not
// (gradients/objectives/estimators.h). Parameters that the surrogate does not depend on at an update are left alone.
// Products on a device are in TF32 unless `--precision exact` asks for float32.
#pragma once

#include <functional>

#include "harmonium/training/objectives/objective.h"
#include "harmonium/training/objectives/running_mean.h"

namespace harmonium {

class SurrogateAscent final : public Objective {
 public:
  struct Value {
    at::Tensor climbed, shown;  // of the batch, one number each, where the parameters are
  };
  // `leaves` stand for the parameters.
  using Function = std::function<Value(const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step)>;
  // What the function keeps from update to update, such as running means; both may be empty.
  struct Kept {
    std::function<NamedTensors()> state;
    std::function<void(const NamedTensors&)> restore;
  };

  // Parameters are those that were given, changed in place. `name` is how metrics call what is shown:
  // "log_likelihood".
  SurrogateAscent(Moments parameters, std::vector<ParameterGroup> groups, std::string name, Function function,
                  Kept kept = {});

  [[nodiscard]] Moments& parameters() override { return parameters_; }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return groups_; }
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override;
  // The mean of what is shown over the batches since the last call; nothing where there were none.
  [[nodiscard]] std::map<std::string, double> take_measurements() override { return mean_.take(); }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& saved) override;

 private:
  Moments parameters_;
  std::vector<ParameterGroup> groups_;
  Function function_;
  Kept kept_;
  RunningMean mean_;
};

}  // namespace harmonium
