// A trained free-energy model (models/free_energy_model.h) as a family's model: its parameters, and the map that
// whitens the data before it sees them. A family adds its layers, its filters and the numbers of its structure.
//
// Densities are in the units of the data: log p(x) = log f(v) − log Z + log|det T| with v = (x − mean)T.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harmonium/data/whitening.h"
#include "harmonium/families/model.h"
#include "harmonium/models/free_energy_model.h"

namespace harmonium {

class EnergyFamilyModel : public Model, private Density, private Generator, private Encoder {
 public:
  [[nodiscard]] const std::shared_ptr<const FreeEnergyModel>& energy() const { return energy_; }
  [[nodiscard]] const Whitening& whitening() const { return whitening_; }
  // The same with other numbers.
  [[nodiscard]] virtual std::unique_ptr<EnergyFamilyModel> with_parameters(Moments theta) const = 0;

  [[nodiscard]] std::string title() const final;
  [[nodiscard]] const Unit& visible() const final { return *visible_; }
  [[nodiscard]] Moments parameters() const final { return theta_; }
  [[nodiscard]] std::vector<LayerText> layers() const final;
  [[nodiscard]] std::unique_ptr<Model> clone() const final { return with_parameters(theta_); }
  [[nodiscard]] const Density* density() const final { return this; }
  [[nodiscard]] const Generator* generator() const final { return this; }
  [[nodiscard]] const Encoder* encoder() const final { return this; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const final;
  [[nodiscard]] std::pair<double, double> shown_range() const final;
  [[nodiscard]] std::string remark() const final;
  [[nodiscard]] std::string encode_file() const final;

 protected:
  EnergyFamilyModel(ModelInfo info, std::shared_ptr<const FreeEnergyModel> energy, Moments theta, Whitening whitening);

  // What a file says beside the parameters, under a key of the family's own: {"covariance_model": {…}}.
  [[nodiscard]] virtual nlohmann::json structure() const = 0;
  // Above the visible units, in the order of the model's features.
  [[nodiscard]] virtual std::vector<LayerText> hidden_layers() const = 0;
  // Groups of filters of v, inputs × filters, which are shown on one scale.
  struct Filters {
    const char *id, *title;
    std::string of;  // "filters of the mean units"
    at::Tensor columns;
  };
  [[nodiscard]] virtual std::vector<Filters> filters() const = 0;
  // "all on one scale": what a caption says of how filters compare.
  [[nodiscard]] virtual std::string scale_of_filters() const { return "all on one scale"; }
  // Whether samples are drawn by the model's Gibbs sweeps, where it has them.
  [[nodiscard]] virtual bool prefers_gibbs() const { return false; }
  // Pictures of its own, between filters and samples.
  [[nodiscard]] virtual std::vector<Exhibit> own_exhibits(const ExhibitInput&) const { return {}; }

 private:
  // Density
  void check(const EstimationOptions& options) const final;
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const final;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const final;
  [[nodiscard]] bool enumerates(const EstimationOptions& options) const final;
  [[nodiscard]] double products(const EstimationOptions& options, bool with_data) const final;
  [[nodiscard]] Evaluation evaluate(const TestData* test, const Findings& findings, double gap) const;
  // Generator: exact draws where hidden states can be enumerated, else Gibbs sweeps or HMC.
  [[nodiscard]] at::Tensor draw(const Request& request) const final;
  [[nodiscard]] std::string method() const final;
  [[nodiscard]] bool markov() const final { return !draws_exactly(); }
  [[nodiscard]] double products(std::int64_t count) const final;
  [[nodiscard]] bool draws_exactly() const;
  // Encoder: means of the hidden units given a row, of one layer.
  [[nodiscard]] std::vector<std::string> code_layers() const final;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const final;
  [[nodiscard]] bool reconstructs() const final { return false; }

  std::shared_ptr<const FreeEnergyModel> energy_;
  Moments theta_;
  Whitening whitening_;
  std::shared_ptr<const Unit> visible_;
};

}  // namespace harmonium
