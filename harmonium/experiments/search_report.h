// A random search as a page: the score against each searched option, every trial, the choice and its tests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonium/experiments/repeated_runs.h"
#include "harmonium/experiments/search_space.h"
#include "harmonium/report/report.h"

namespace harmonium {

// What runs are chosen by and how it is written.
struct ScoreScale {
  std::string name;  // "log-likelihood"
  bool lower_is_better = false;
  bool percent = false;  // a fraction, shown in %; else nats

  [[nodiscard]] std::string text(double score) const;        // "−98.314", "3.12 %"
  [[nodiscard]] std::string with_unit(double score) const;   // "−98.314 nats", "3.12 %"
  [[nodiscard]] std::string difference(double score) const;  // "4.21 nats", "0.31 percentage points"
  [[nodiscard]] std::string axis() const;                    // "nats per row", "fraction of rows"
  // "mean −98.4 nats, standard deviation 0.2 over 10 runs; 95 % interval of the mean [−98.6, −98.2]"
  [[nodiscard]] std::string summary(const RunsSummary& runs) const;
};
// log_likelihood, error or pseudo_log_likelihood.
[[nodiscard]] ScoreScale score_scale(const std::string& score);

struct StudiedRun {
  std::string name;
  std::vector<Setting> settings;
  std::optional<double> score;
  double seconds = 0;  // of training
  std::int64_t updates = 0;
  std::string failure = {};
};

struct SearchStudy {
  ScoreScale scale;
  std::string valid, test;  // data that trials and tests are judged by
  SearchSpace space = {};
  std::vector<StudiedRun> trials = {}, tests = {};
  std::optional<std::size_t> chosen = std::nullopt;  // among the trials
  std::optional<RunsSummary> tested = std::nullopt;
};

// The trials in order of their scores, the best first and those without one last.
[[nodiscard]] std::vector<const StudiedRun*> ranked(const SearchStudy& study);
std::vector<const StudiedRun*> ranked(SearchStudy&&) = delete;  // they would point into what is gone

// Score against each option that was drawn. Trials far below the others would leave no room for them: they are counted
// in the caption instead.
[[nodiscard]] std::vector<Chart> setting_charts(const SearchStudy& study);

// The page. Title, configuration and commands are the caller's.
[[nodiscard]] ReportContent search_report(const SearchStudy& study);

}  // namespace harmonium
