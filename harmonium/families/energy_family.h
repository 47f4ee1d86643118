// What families of free-energy models (models/free_energy_model.h) share: options, how real values are prepared, and
// training by persistent HMC chains (training/objectives/energy_contrast.h).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "harmonium/families/energy_family_model.h"
#include "harmonium/families/family.h"

namespace harmonium {

// Options of every such family; those of a family derive from them.
struct EnergyOptions {
  std::string whiten = "zca";
  double spread = 0;
  std::string moves = "hmc";
  std::int64_t leapfrog = 10;
  double acceptance = 0.9;
  double fast_rate = 0;
  double fast_decay = 0.95;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor, const char* spread_help) {
    visitor("whiten", self.whiten,
            "what training sees: zca (mean 0, covariance I), columns (each divided by its standard deviation), none; "
            "likelihoods and samples stay in the units of the data");
    visitor("spread", self.spread, spread_help);
    visitor("moves", self.moves,
            "how chains move in an update: hmc (one trajectory of Hamiltonian Monte Carlo), gibbs (one exact sweep)");
    visitor("leapfrog", self.leapfrog, "leapfrog steps of HMC per update");
    visitor("acceptance", self.acceptance, "share of HMC trajectories to accept; the step follows it");
    visitor("fast_rate", self.fast_rate,
            "learning rate of fast weights, which only the chains feel, so that they leave where they are (0: none)");
    visitor("fast_decay", self.fast_decay, "factor by which the fast weights decay at each update");
  }
};

// The options of RunConfig that every such family has.
[[nodiscard]] std::vector<std::string> energy_option_names();
// Fails where options make no sense for real values; `own` are those of `config`. `usual_spread`: of whitened values,
// where none is given.
void resolve_energy(RunConfig& config, const RunData& data, EnergyOptions& own, double usual_spread);

// Before the first update.
using EnergyModelMaker = std::function<std::unique_ptr<Model>(ModelInfo info, Moments theta, Whitening whitening)>;
[[nodiscard]] std::unique_ptr<Model> make_energy_model(const RunConfig& config, const RunData& data,
                                                       const EnergyOptions& own, const FreeEnergyModel& energy,
                                                       const EnergyModelMaker& maker);
[[nodiscard]] std::unique_ptr<Trainee> train_energy_model(const RunConfig& config, const RunData& data,
                                                          const EnergyOptions& own, const EnergyFamilyModel& start);
// "; hmc", "; fast weights, gibbs": how chains move, for a line about a run.
[[nodiscard]] std::string energy_words(const EnergyOptions& own);
// Multiplications in one update of a model with so many weights.
[[nodiscard]] double energy_products(const RunConfig& config, const EnergyOptions& own, double weights);

// The most units of one kind that a file is believed.
void require_energy_sizes(const std::vector<std::int64_t>& counts, const std::string& where);
// The map that a model's file holds.
[[nodiscard]] Whitening read_whitening(const TensorFile& file, std::int64_t inputs, double spread,
                                       const std::string& where);

}  // namespace harmonium
