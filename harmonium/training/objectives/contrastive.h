// The likelihood of a Boltzmann machine, by data moments and model moments.
//
//   gradient = E_data[g] − E_model[g] (+ the pull of a sparsity target)
//
// The first by data_moments() or, where hidden units are joined and that is asked for, by a posterior that is sampled
// (inference/sampled_posterior.h) or enumerated, the second by a negative phase, which may also stand for
// another objective (gradients/objective.h). A machine without hidden layers has the same data moments at every update:
// they are taken over all data once, so that batches add no noise, unless the negative phase belongs to the batch.
// Steps of machines with real-valued units are shortened where they are long (models/step_limit.h).
#pragma once

#include <memory>
#include <optional>

#include "harmonium/core/format.h"
#include "harmonium/gradients/negative_phase.h"
#include "harmonium/inference/sampled_posterior.h"
#include "harmonium/models/boltzmann_machine.h"
#include "harmonium/models/definiteness.h"
#include "harmonium/models/means_form.h"
#include "harmonium/models/step_limit.h"
#include "harmonium/training/completions.h"
#include "harmonium/training/objectives/contrastive_on_device.h"
#include "harmonium/training/sparsity.h"

namespace harmonium {

// Data moments where hidden units are joined to each other.
struct DataInference {
  enum class By { mean_field, sampling, enumeration } by = By::mean_field;
  MeanFieldOptions mean_field = {};
  SampledPosteriorOptions sampling = {};
  std::uint64_t seed = 0;  // of the states that rows start with
};

// What steps are taken in where data are gaussian: biases, weights and precisions, or means and log precisions
// (models/means_form.h).
enum class Coordinates { natural, means };

class Contrastive final : public Objective {
 public:
  // The machine's tensors are shared: its parameters are what is trained.
  Contrastive(BoltzmannMachine machine, std::unique_ptr<NegativePhase> phase, const SparsityOptions& sparsity = {},
              const DataInference& inference = {}, Coordinates coordinates = Coordinates::natural);

  [[nodiscard]] const BoltzmannMachine& machine() const { return machine_; }
  // The chains behind the last update; empty where there are none.
  [[nodiscard]] const State& particles() const;

  [[nodiscard]] Moments& parameters() override { return machine_.parameters(); }
  [[nodiscard]] std::vector<ParameterGroup> groups() const override { return groups_of(machine_.topology()); }
  void begin(const BatchStream& batches, const Optimizer& optimizer, const StepOptions& step) override;
  void learn_from(const BatchStream& batches) override;
  [[nodiscard]] Moments gradient(const std::vector<at::Tensor>& batch, const Step& step) override;
  [[nodiscard]] FusedUpdate* fused() const override { return device_.get(); }
  void after_step() override;
  [[nodiscard]] std::string advice() const override { return format("{}, or use more particles", Objective::advice()); }

  [[nodiscard]] NamedTensors state() const override;
  void restore(const NamedTensors& saved) override;

 private:
  void begin_posterior(const BatchStream& batches);
  [[nodiscard]] Moments moments_of_all_data(const BatchStream& batches) const;
  [[nodiscard]] Moments moments_of(const State& data, const Step& step);

  BoltzmannMachine machine_;
  std::unique_ptr<NegativePhase> phase_;
  Sparsity sparsity_;
  bool sparse_;
  std::unique_ptr<ContrastiveOnDevice> device_;  // null where the general way is taken
  KnownStrength strength_;                       // no state: what is done does not depend on it
  std::optional<StepLimit> limit_;               // where units are real
  std::optional<MeansForm> means_;               // where steps are taken in means
  DataInference inference_;
  std::optional<SampledPosterior> posterior_;  // from the first batch stream on, where hidden layers are sampled
  Moments all_data_;                           // empty where batches decide
  std::optional<Completions> completions_;     // where values of the data are missing
};

}  // namespace harmonium
