// Searches at work: trials and tests as child processes, each a run folder of its own that is trained and judged.
//
// In the folder of a search:  search.toml (what is searched), trial-07/ and test-07-03/ (run folders; the third test of
// the settings of trial 7), and in jobs/ for each of them  NAME.toml (what it was to train), NAME.log (what it said),
// then NAME.score.json or NAME.failed.json. What is done is found again by these files.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/experiments/repeated_runs.h"
#include "harmonium/experiments/search_plan.h"
#include "harmonium/experiments/side_by_side.h"

namespace harmonium {

// With which `trial` tells that training diverged.
constexpr int diverged_code = 3;

struct SearchedRun {
  std::string name;
  std::vector<Setting> settings = {};
  RunConfig config = {};
  std::optional<double> score = std::nullopt;
  nlohmann::ordered_json judged = nullptr;  // data, rows, kind and method of the score
  double seconds = 0;                       // of training
  std::string failure = {};                 // why its settings will never have a score
  std::string trouble = {};                 // why the machine could not run it this time: no outcome

  [[nodiscard]] bool done() const { return score.has_value() || !failure.empty(); }
};

// What the two files of a run say of it, one of them at most being there. Damaged files say nothing: the work is then
// done again.
void read_outcome(SearchedRun& run, const std::filesystem::path& failed, const std::filesystem::path& score);

struct Search {
  std::string title;  // "PCD, 32 s", for people; empty for a search alone
  SearchPlan plan;
  std::filesystem::path folder;
  std::string speed_name;  // runs that share it and their whole-number and text settings are equally fast
  std::string valid;       // what trials are judged by; tests are judged by plan.options.test
  std::vector<SearchedRun> trials = {}, tests = {};
  std::optional<std::size_t> chosen = std::nullopt;  // among the trials

  [[nodiscard]] bool trials_done() const;
  [[nodiscard]] bool done() const;  // tests as well
  // Of the tests that have a score; nothing where there is none.
  [[nodiscard]] std::optional<RunsSummary> summary() const;
};

// Finds what the plan leaves open (validation and test data) and everything that can be wrong before the first run.
// Returns the validation data.
std::string resolve_plan(SearchPlan& plan, const std::string& where);

// Trials with what is known of them so far. Claims the folder.
void open_search(Search& search);

// Updates per second of a run among as many as run at once, measured once and kept in a file.
class SpeedBook {
 public:
  explicit SpeedBook(std::filesystem::path path);
  [[nodiscard]] std::optional<double> find(const std::string& name) const;
  void keep(const std::string& name, double updates_per_second);

 private:
  std::filesystem::path path_;
  std::map<std::string, double> speeds_;
};

// Gives every trial of searches with a training time its number of updates; false where it was interrupted.
[[nodiscard]] bool find_updates(std::vector<Search>& searches, SpeedBook& book, SideBySide& children,
                                const std::filesystem::path& scratch);

// Runs what is not done: trials, then the tests of each search whose trials are done; false where it was interrupted.
// A configuration that a run refuses ends everything (Error). A run that diverges counts as failed, for good. One that
// the machine has failed (a full disk, no memory, killed) says nothing of its settings: the others go on, nothing is
// chosen without it, and at the end that is a RunFailure; the next call runs it again.
[[nodiscard]] bool run_searches(std::vector<Search>& searches, SideBySide& children);

[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<Setting>& settings);
// Everything about a search that has ended.
[[nodiscard]] nlohmann::ordered_json to_json(const Search& search);

}  // namespace harmonium
