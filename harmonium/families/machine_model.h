// A Boltzmann machine as a model: RBM, classification RBM, Markov random field, semi-restricted, general,
// deep.
#pragma once

#include <memory>
#include <optional>

#include "harmonium/families/machine_density.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/families/model.h"

namespace harmonium {

class MachineModel final : public Model, private Generator, private Classifier, private Encoder {
 public:
  explicit MachineModel(TrainedMachine trained);

  [[nodiscard]] std::string title() const override;
  [[nodiscard]] std::string subtitle() const override;
  [[nodiscard]] const Unit& visible() const override { return trained_.machine.unit(0); }
  [[nodiscard]] Moments parameters() const override { return trained_.machine.parameters(); }
  [[nodiscard]] std::vector<LayerText> layers() const override;
  [[nodiscard]] std::unique_ptr<Model> to(const at::Device& device) const override;
  [[nodiscard]] std::unique_ptr<Model> clone() const override;

  // Lengths of documents are no part of a model of word counts: it neither draws any nor has one log Z for all.
  [[nodiscard]] const Density* density() const override { return of_words() ? nullptr : &density_; }
  [[nodiscard]] const Generator* generator() const override { return of_words() ? nullptr : this; }
  [[nodiscard]] const Classifier* classifier() const override { return label_ ? this : nullptr; }
  [[nodiscard]] const Encoder* encoder() const override;
  [[nodiscard]] const TrainedMachine* machine() const override { return &trained_; }
  [[nodiscard]] std::vector<Exhibit> exhibits(const ExhibitInput& input) const override;
  [[nodiscard]] std::string encode_file() const override;

  // Where chains of training begin, for a machine that knows the data already; no part of a file.
  NamedTensors chains = {};

 private:
  [[nodiscard]] bool of_words() const { return visible().wants_own_state(); }

  // Generator
  [[nodiscard]] at::Tensor draw(const Request& request) const override;
  [[nodiscard]] std::string method() const override { return "Gibbs sampling"; }
  [[nodiscard]] double products(std::int64_t count) const override;
  // Classifier, and classes that a generator can hold.
  [[nodiscard]] std::int64_t classes() const override;
  [[nodiscard]] at::Tensor log_probabilities(const at::Tensor& rows) const override;
  // Encoder: means of hidden units, by mean field where hidden layers are joined.
  [[nodiscard]] std::vector<std::string> code_layers() const override;
  [[nodiscard]] at::Tensor encode(const at::Tensor& rows, std::size_t layer) const override;
  [[nodiscard]] at::Tensor reconstruct(const at::Tensor& rows) const override;
  [[nodiscard]] bool reconstructs() const override;
  // All layers by their means given rows; a label, which is not known, adds nothing.
  [[nodiscard]] State posterior_means(const at::Tensor& rows) const;

  TrainedMachine trained_;
  MachineDensity density_;
  std::optional<std::size_t> label_;  // the layer that holds the class
};

}  // namespace harmonium
