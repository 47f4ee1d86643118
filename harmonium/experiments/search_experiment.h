// Experiments of kind "search": several ways of training, the settings of each chosen by a search of its own for each
// training time, as in Tieleman's thesis (Toronto 2014, §3.3.1).
//
//   seconds = [2, 8, 32]     training times (left out: the updates of [config])         minutes = 20
//   runs, tests, score, test, chains, betas, valid_limit, test_limit       as in [search] of search_plan.h
//   [config]     any option of a run         [ranges]   as [search.ranges] of search_plan.h
//   [[variant]]  name, options that override [config], and [variant.ranges] that override or add to [ranges]
//   [[expected_order]]    better, than, source, seconds (else: the longest)
//   [[expected]]          variant, value (of the mean of the tests), tolerance, source, seconds
//   [[expected_setting]]  variant, option, value, source, seconds: reported beside the one that was chosen
//   [quick]      any of the above numbers and any option of a run, for --quick; it has the last word
#pragma once

#include "harmonium/experiments/experiment_file.h"
#include "harmonium/experiments/search_plan.h"

namespace harmonium {

struct SearchVariant {
  std::string name;
  SearchPlan plan;
};

struct SearchExpectation {
  std::string variant, than;  // than: of an order
  std::string option;         // of a setting
  double seconds = 0;         // 0: the longest
  double value = 0, tolerance = 0;
  std::string source;
};

struct SearchExperiment {
  SearchOptions options;  // seconds apart
  std::vector<double> seconds;
  double minutes = 0;  // about how long all takes on a common machine; 0: not known
  std::vector<SearchVariant> variants;
  std::vector<SearchExpectation> orders, means, settings;
};

[[nodiscard]] SearchExperiment parse_search_experiment(const ExperimentFile& file, bool quick);

}  // namespace harmonium
