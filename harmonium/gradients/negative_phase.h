// s_model: an estimate of the model's expected statistics, the half of the gradient that is hard.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harmonium/core/named_tensors.h"
#include "harmonium/models/boltzmann_machine.h"

namespace harmonium {

class NegativePhase {
 public:
  virtual ~NegativePhase() = default;

  [[nodiscard]] virtual std::string name() const = 0;
  // `data` is the batch, with observed layers defined. The key belongs to this update alone.
  [[nodiscard]] virtual Moments model_moments(const BoltzmannMachine& machine, const State& data, const Key& key) = 0;
  // gradient − model moments, in place, for those who need the two moments no more.
  virtual void subtract_model_moments(Moments& gradient, const BoltzmannMachine& machine, const State& data,
                                      const Key& key) {
    gradient.add_(model_moments(machine, data, key), -1);
  }
  // How much of the training is done, 0 … 1; told before every update, for what changes on the way.
  virtual void at_fraction(double) {}
  // data moments − model moments, as the update uses them; told after every estimate.
  virtual void observe_gradient(const Moments&) {}
  // Whether the estimate belongs to the batch, so that noise of the batch cancels in the gradient. Others may be
  // combined with the moments of all data where those are known.
  [[nodiscard]] virtual bool paired_with_batch() const { return false; }
  // The chains behind the last estimate, for geometry and pictures; empty where there are none.
  [[nodiscard]] virtual const State& particles() const = 0;

  [[nodiscard]] virtual bool has_particles() const { return true; }
  // Empty where it can estimate the moments of this machine; else why not, a clause that follows its name.
  [[nodiscard]] virtual std::string complaint(const BoltzmannMachine&) const { return {}; }

  // What the next update needs beyond the parameters.
  [[nodiscard]] virtual NamedTensors state() const { return {}; }
  virtual void restore(const NamedTensors&) {}
  // Whether restore() takes plain chains, layer by layer ("particles.0", …), to go on with.
  [[nodiscard]] virtual bool takes_chains() const { return false; }
};

struct NegativePhaseOptions {
  std::int64_t sweeps = 1;            // Gibbs sweeps per update (k of CD-k and PCD-k)
  std::int64_t sweeps_final = 0;      // at the end of training, reached geometrically; 0: constant
  std::int64_t mean_field_steps = 0;  // pcd, fpcd: from where the chains are, before moments are taken
  std::int64_t particles = 100;       // persistent chains (pcd, fpcd, tempered; pt: on each rung)
  std::int64_t rungs = 10;            // inverse temperatures from base to model (pt, tempered)
  double fast_rate = 0.01;            // fpcd: learning rate of the overlay, constant
  double fast_decay = 0.95;           // fpcd: what is left of the overlay after an update

  [[nodiscard]] std::int64_t sweeps_at(double fraction) const;
};

struct NegativePhaseType {
  std::string name, help;
  std::function<std::unique_ptr<NegativePhase>(const NegativePhaseOptions&)> make;
  std::vector<std::string> own_options = {};  // those of NegativePhaseOptions that not all of them have
  [[nodiscard]] bool has(const std::string& option) const;
};

// All there are: make_negative_phase(), help texts and messages read this table.
[[nodiscard]] const std::vector<NegativePhaseType>& negative_phases();
// Fails where there is none of that name.
[[nodiscard]] std::unique_ptr<NegativePhase> make_negative_phase(const std::string& name,
                                                                 const NegativePhaseOptions& options);
// Names of those that have no complaint about a machine: "pcd, fpcd, cd".
[[nodiscard]] std::string negative_phases_for(const BoltzmannMachine& machine);

// Complaints that several of them have; empty where the machine gives no reason.
// Rows are drawn by the model, which does not know how long a document is.
[[nodiscard]] std::string complaint_about_lengths(const BoltzmannMachine& machine);
// Draws only imitate the units they stand for (Unit::stands_for), so that chains have no model they belong to.
[[nodiscard]] std::string complaint_about_imitations(const BoltzmannMachine& machine);
// The hidden layers have no closed form given the data.
[[nodiscard]] std::string complaint_about_joined_layers(const BoltzmannMachine& machine);
// Units of one layer are not independent of each other given the other layers.
[[nodiscard]] std::string complaint_about_inner_edges(const BoltzmannMachine& machine);

}  // namespace harmonium
