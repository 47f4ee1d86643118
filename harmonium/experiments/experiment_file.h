// Experiments: TOML files that say what to run, what to measure and what is expected, embedded in the tool or given by
// path. `kind` says which part of the program runs it (see reproduce.cpp); what all kinds share is here.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "harmonium/families/run_config.h"
#include "harmonium/runs/toml_table.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct ExperimentFile {
  std::string name;    // file stem
  std::string source;  // what errors call it
  std::string text;
  toml::table table;
  std::string kind = {}, title = {}, question = {};
};

struct ReproduceOptions {
  SessionOptions common;
  std::string name;  // of an embedded experiment, or a path
  bool quick = false;
  std::filesystem::path out;  // never empty once a kind is asked to run
};

// About how long an experiment takes, and on what.
struct ExpectedTime {
  double minutes = 0;  // 0: not known
  std::string machine = "two cores";

  // For people, before it begins.
  void say() const;
};
// True where the key is one of its own.
bool take_time(ExpectedTime& time, std::string_view key, const toml::node& node, const std::string& where);
// Takes such keys out of [quick], which has the last word only with --quick.
void take_quick_time(const ExperimentFile& file, toml::table& quick_table, bool quick, ExpectedTime& time);

struct EmbeddedExperiment {
  std::string_view name, text;
};
[[nodiscard]] const std::vector<EmbeddedExperiment>& embedded_experiments();  // generated, see experiments.cmake

[[nodiscard]] ExperimentFile parse_experiment(const std::string& name, const std::string& source,
                                              const std::string& text);
// By name, or by path where the name looks like one.
[[nodiscard]] ExperimentFile open_experiment(const std::string& name_or_path);

// What kinds read alike: a [table], and the tables of an array [[name]].
[[nodiscard]] const toml::table& as_table(const toml::node& node, const std::string& where);
[[nodiscard]] std::vector<const toml::table*> tables_of(const ExperimentFile& file, const char* name);
// The file of a model: as it is given, or below the folders of the data sets.
[[nodiscard]] std::filesystem::path find_experiment_model(const std::string& given);
// Experiments say how good machines are after so many updates: those that are trained by chains keep their last model
// unless the file says otherwise, whatever `train` does by default.
void keep_last_unless_told(RunConfig& config);
// Says that it was interrupted and which command goes on. Returns the exit code.
int stopped_experiment(const ReproduceOptions& options);

// kind = "training"; see training_experiment.h. Returns the exit code.
int reproduce_training(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "classification"; see reproduce_classification.cpp.
int reproduce_classification(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "reconstruction"; see reproduce_reconstruction.cpp.
int reproduce_reconstruction(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "retrieval"; see reproduce_retrieval.cpp.
int reproduce_retrieval(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "clusters"; see reproduce_clusters.cpp.
int reproduce_clusters(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "fisher"; see reproduce_fisher.cpp.
int reproduce_fisher(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "estimators"; see reproduce_estimators.cpp.
int reproduce_estimators(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "calibration"; see reproduce_calibration.cpp.
int reproduce_calibration(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "annealing"; see annealing_experiment.h.
int reproduce_annealing(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "search"; see search_experiment.h.
int reproduce_search(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "samples"; see samples_experiment.h.
int reproduce_samples(const ExperimentFile& file, const ReproduceOptions& options);
// kind = "class_samples"; see reproduce_class_samples.cpp.
int reproduce_class_samples(const ExperimentFile& file, const ReproduceOptions& options);

}  // namespace harmonium
