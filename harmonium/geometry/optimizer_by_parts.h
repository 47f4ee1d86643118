// Several optimizers side by side, each for the parameters whose names begin in its own way: a metric for the Boltzmann
// machine that is the prior of a net, Adam for the net.
//
// At most one of them may want to observe; what is observed has the names that it knows, without the prefix. Their
// rates are those of the step rule times factors of their own.
#pragma once

#include "harmonium/geometry/optimizer.h"

namespace harmonium {

class OptimizerByParts final : public Optimizer {
 public:
  struct Part {
    std::string prefix;  // taken off the names that the part is shown; "" takes what is left by those before
    std::unique_ptr<Optimizer> optimizer;
    double unary_rate = 1, pairwise_rate = 1;
  };
  explicit OptimizerByParts(std::vector<Part> parts);

  // "fang and adam".
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] Cadence cadence() const override;
  [[nodiscard]] bool wants_observations() const override { return observer_ != nullptr; }
  [[nodiscard]] bool wants_moments() const override { return observer_ != nullptr && observer_->wants_moments(); }
  [[nodiscard]] bool wants_statistics() const override { return observer_ != nullptr && observer_->wants_statistics(); }
  [[nodiscard]] bool wants_enumeration() const override {
    return observer_ != nullptr && observer_->wants_enumeration();
  }
  void observe(const Observation& observation) override;
  [[nodiscard]] Direction direction(const Moments& gradient, std::int64_t update) override;
  [[nodiscard]] std::map<std::string, double> measurements() const override;
  [[nodiscard]] std::string state_name() const override { return "parts"; }
  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& saved) override;

 private:
  // The part that names of this kind belong to.
  [[nodiscard]] std::size_t part_of(const std::string& name) const;
  [[nodiscard]] std::string state_prefix(const Part& part) const;

  std::vector<Part> parts_;
  Optimizer* observer_ = nullptr;  // one of them
};

}  // namespace harmonium
