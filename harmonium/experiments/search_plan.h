// A search as it is written down: any option of a run, and
//
//   [search]
//   score = "log_likelihood"   # of the validation data: exact where a side has 25 units or less, else by ais;
//                              # or "error" (of a classification_rbm), or "pseudo_log_likelihood"
//   test = "mnist:test"        # what the chosen settings are judged by (default: the set's own :test part)
//   runs = 30   tests = 10     # with settings drawn; with the best of them and other seeds
//   seconds = 0                # > 0: training time of a run; its number of updates is found by timing a short one
//   chains = 100  betas = 10000          # of ais
//   valid_limit = 0  test_limit = 0      # rows to judge by (0: all)
//   [search.ranges]            # see training/search_space.h
//   rate_weights = { low = 1e-3, high = 1 }               # log-uniform; scale = "linear" for the other
//   gradient = ["pcd", "fpcd"]                            # one of these
//   rate_bias = "rate_weights"                            # the same value as another
#pragma once

#include <string>
#include <vector>

#include "harmonium/experiments/search_space.h"
#include "harmonium/runs/toml_table.h"

namespace harmonium {

struct SearchOptions {
  std::string score = "log_likelihood", test;
  std::int64_t runs = 30, tests = 10;
  double seconds = 0;
  std::int64_t chains = 100, betas = 10'000, valid_limit = 0, test_limit = 0;
};

struct SearchPlan {
  RunConfig config;  // as given: "auto" and zeros may be in it
  SearchSpace space = {};
  SearchOptions options = {};
  std::uint64_t first_test_seed = 0;  // added to the seed of the configuration, and to it the number of the test

  // What trial `number` (from 1) or test `number` of a choice trains, but for the number of updates.
  [[nodiscard]] RunConfig trial_config(const std::vector<Setting>& settings, std::int64_t number) const;
  [[nodiscard]] RunConfig test_config(const std::vector<Setting>& settings, std::int64_t number) const;
};

// One entry of [search]; false where the key is none of them.
[[nodiscard]] bool assign_search_option(SearchOptions& options, std::string_view key, const toml::node& node,
                                        const std::string& where);
// Overwrites options of the space by those of a [ranges] table; fails naming file, line and key.
void assign_ranges(SearchSpace& space, const toml::table& table, const std::string& source);

// Fails where ranges, options and configuration contradict each other. `where` begins messages.
void check_plan(const SearchPlan& plan, const std::string& where);

[[nodiscard]] SearchPlan read_search_plan(const std::string& path);

// The plan as a file that reads back as it, runs and tests left out: what must not change between two sittings.
[[nodiscard]] std::string to_toml(const SearchPlan& plan);

}  // namespace harmonium
