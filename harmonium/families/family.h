// A family of models as a plug-in: its name and help, its options, and the functions that make, train and read a model.
// families/registry.cpp lists all of them; nothing outside this room asks for a family by its name.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/families/model.h"
#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/families/trainee.h"

namespace harmonium {

struct ModelHeader;
struct TensorFile;

// Runs of their own before the model's: pretraining, and the machines of a stack.
struct Stages {
  std::size_t count = 0;
  std::function<std::string(std::size_t stage)> place;  // sub-folder of the run: "pretraining/layer-1"
  std::function<RunConfig(std::size_t stage)> config;   // resolved
  // What the model of a stage makes of the data it has learnt: the data of the next.
  std::function<RunData(const Model& model, const RunData& seen)> encode;
  RunData data;              // of the first stage
  std::int64_t updates = 0;  // of each stage
  std::string done = {};     // a sentence for a person when all are trained
};

// Numbers of weights and of units in all layers, roughly: what small layers add may be left out.
struct ModelSize {
  double weights = 0, units = 0;
};
// Layers of these widths, each joined to the next.
[[nodiscard]] ModelSize size_of_chain(const std::vector<double>& widths);

// What a stage or several have left, from the first.
using StageModels = std::vector<std::unique_ptr<Model>>;

// Training that begins from a trained model, of this family or of another: what `finetune` offers.
struct BeginFrom {
  std::string to;    // how it is asked for: "classifier"
  std::string help;  // what becomes of the model's layers
  // Empty where it can begin from this model, which lies at `where`; else why not.
  std::function<std::string(const Model& source, const std::string& where)> complaint;
  // Options that follow from the model, and from its run where that is known (else null).
  std::function<void(RunConfig& config, const Model& source, const RunConfig* run)> configure;
};

struct Family {
  std::string name, title;  // "rbm", "RBM"
  std::string help;         // a line for --model
  std::string example;      // a command line that trains one
  // Options of RunConfig that apply; all others are refused, naming families that have them.
  std::vector<std::string> options;
  OwnOptions own = {};  // and those of its own
  [[nodiscard]] bool has(const std::string& option) const;

  // Replaces every "auto" and zero that is left by what it stands for, and fails where options contradict each other.
  // The data are open, common options are resolved.
  void (*resolve)(RunConfig& config, RunData& data);
  // Before the first update. With stages: after them.
  std::unique_ptr<Model> (*make)(const RunConfig& config, const RunData& data, const StageModels& stages);
  // Null where stages are all there is.
  std::unique_ptr<Trainee> (*train)(const RunConfig& config, const RunData& data, const Model& start);
  // From a file. Null where `structure` of the header is another's.
  std::unique_ptr<Model> (*read)(const ModelHeader& header, const TensorFile& file, const std::string& where);
  // Fails where the configuration asks for something that makes no sense or would take too long, so that a mistake
  // shows before anything is written. May be null: then making and preparing to train is the check.
  void (*check)(const RunConfig& config, const RunData& data) = nullptr;
  // Nothing where there are none for this configuration. May be null.
  std::optional<Stages> (*stages)(const RunConfig& config, const RunData& data) = nullptr;
  // How large the model is; what memory a run needs is estimated from it (memory_estimate.h).
  ModelSize (*size)(const RunConfig& config);
  // Multiplications in one update, roughly: what decides whether threads are worth their while.
  double (*products)(const RunConfig& config);
  // Nothing where a model cannot begin from another. A family that has it has the option start.
  std::optional<BeginFrom> begin_from = std::nullopt;
  // Whether the model before its first update is kept in the run folder, so that a run can be taken up without what it
  // came from. May be null: never.
  bool (*keeps_start)(const RunConfig& config) = nullptr;
  // "bernoulli:64 – 100; pcd": what is trained, in one line. May be null: the options layers or hidden say it.
  std::string (*words)(const RunConfig& config) = nullptr;
  [[nodiscard]] std::string in_words(const RunConfig& config) const;
  bool (*labelled)(const RunConfig& config) = nullptr;  // whether models know classes; null: never
  [[nodiscard]] bool knows_classes(const RunConfig& config) const { return labelled != nullptr && labelled(config); }
  bool word_counts = false;     // takes rows of word counts
  bool missing_values = false;  // learns around values that are missing
  bool standardizes = false;    // takes @scale standardize
  bool dequantizes = false;     // takes @dequantize
  bool gray_levels = false;     // takes @binarize levels
  bool real_values = false;     // visible units are gaussian by default
  bool binarizes = true;        // gray values become bits by default
  bool keeps_best = false;      // by validation data, by default
  // The same by the validation data's log-likelihood as it is estimated on the way, which word counts do not have.
  bool keeps_likeliest = false;
};

// Readers that several families share.
[[nodiscard]] std::unique_ptr<Model> read_machine_model(const ModelHeader& header, const TensorFile& file,
                                                        const std::string& where);
[[nodiscard]] std::unique_ptr<Model> read_belief_net_model(const ModelHeader& header, const TensorFile& file,
                                                           const std::string& where);
[[nodiscard]] std::unique_ptr<Model> read_net_model(const ModelHeader& header, const TensorFile& file,
                                                    const std::string& where);

}  // namespace harmonium
