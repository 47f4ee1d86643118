// What models share whose rows have a log-likelihood of their own, exact or bounded, without any log Z: nade, made,
// fvbn, neural_autoregressive, orderless_nade, rnade, mixture, factor_analyzers, vae, ladder, sbn, s3c. A family adds
// its mathematics, its pictures and the numbers that describe its structure.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harmonium/families/model.h"

namespace harmonium {

struct ModelHeader;
struct TensorFile;

class NormalizedModel : public Model, protected Density, protected Generator {
 public:
  [[nodiscard]] const Unit& visible() const final { return *visible_; }
  [[nodiscard]] const Density* density() const final { return this; }
  [[nodiscard]] const Generator* generator() const final { return this; }
  [[nodiscard]] std::string encode_file() const final;

 protected:
  // `visible`: a unit type with the values of a row.
  NormalizedModel(ModelInfo info, const std::string& visible) : Model(std::move(info)), visible_(make_unit(visible)) {}

  // What a file says beside the parameters, under a key of the family's own: {"nade": {…}}.
  [[nodiscard]] virtual nlohmann::json structure() const = 0;

  // Generator: independent draws.
  [[nodiscard]] bool markov() const override { return false; }
  [[nodiscard]] double products(std::int64_t count) const final;
  // Density
  [[nodiscard]] double products(const EstimationOptions&, bool) const final { return products(1000); }
  // Fails where there is nothing to judge by.
  void require_tests(const std::vector<const TestData*>& tests) const;

 private:
  std::shared_ptr<const Unit> visible_;
};

// A normalized model whose log-likelihood is exact.
class ExactModel : public NormalizedModel {
 protected:
  using NormalizedModel::NormalizedModel;
  // log p of every row, by so many orders as the options ask for where the model has any order.
  [[nodiscard]] virtual at::Tensor log_probabilities_of(const at::Tensor& rows, const EstimationOptions& options,
                                                        Watcher& watcher) const = 0;
  // How it is found: "exact: the sum over components".
  [[nodiscard]] virtual std::string exact_method(const EstimationOptions& options) const = 0;
  [[nodiscard]] virtual bool takes_orders() const { return false; }
  // Called before every judgement. Fails where the model is not what it claims to be.
  virtual void verify() const {}

 private:
  void check(const EstimationOptions& options) const final;
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const final;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const final;
};

// Reads what encode_file() has written: null where the header's structure has no such key, else what `build` makes of
// it. Damaged descriptions are refused.
[[nodiscard]] std::unique_ptr<Model> read_structure(
    const ModelHeader& header, const char* key, const std::string& where,
    const std::function<std::unique_ptr<Model>(const nlohmann::json& shape)>& build);
// A model as the bytes of a file: its parameters as float32, and what `structure` says beside them.
[[nodiscard]] std::string encode_model(const ModelInfo& info, const Moments& parameters,
                                       const nlohmann::json& structure);
// Copies all parameters from a file; fails where one is missing or does not fit.
void read_parameters(const Moments& parameters, const TensorFile& file, const std::string& where);
// Notes of a file for a model of so many visible units.
[[nodiscard]] ModelInfo info_of(const ModelHeader& header, std::int64_t width);

}  // namespace harmonium
