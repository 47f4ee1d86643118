// Log-likelihoods of a Boltzmann machine: log f of data in closed form, by enumeration or by mean field, and log Z by
// the methods of likelihood/judging.h.
#pragma once

#include "harmonium/families/machine_file.h"
#include "harmonium/families/model.h"

namespace harmonium {

// The observed layers of a machine as the rows of a table set them; fails where a value is impossible, or where the
// machine has a label and the rows have none. `spec` names the rows.
[[nodiscard]] State observed_state(const BoltzmannMachine& machine, const Dataset& rows, const std::string& spec);

// likelihood/judging.h for a model of a file. Opens the model that `base` of the options names. `rows` may be null.
[[nodiscard]] Findings find_log_z(const TrainedMachine& model, const State* rows, const EstimationOptions& options,
                                  Watcher& watcher, Journal* journal);

// Whether log f of rows with missing values is known: one observed layer, of binary units, and hidden ones in closed
// form.
[[nodiscard]] bool sums_out_missing(const BoltzmannMachine& machine);

class MachineDensity final : public Density {
 public:
  // `model` must outlive it.
  explicit MachineDensity(const TrainedMachine& model) : model_(model) {}
  [[nodiscard]] std::vector<Evaluation> judge(const std::vector<const TestData*>& tests,
                                              const EstimationOptions& options, Watcher& watcher,
                                              Journal* journal) const override;
  [[nodiscard]] bool same_way(const Evaluation& old, const EstimationOptions& options) const override;
  [[nodiscard]] bool enumerates(const EstimationOptions& options) const override;
  [[nodiscard]] double products(const EstimationOptions& options, bool with_data) const override;

 private:
  [[nodiscard]] Evaluation evaluate(const TestData* test, const Findings& findings, const EstimationOptions& options,
                                    Watcher& watcher) const;
  [[nodiscard]] bool anneals_rows(const EstimationOptions& options) const;
  const TrainedMachine& model_;
};

}  // namespace harmonium
