// Several searches side by side: how good each way of training is when its settings are chosen for it, against the time
// it may train.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonium/experiments/search_report.h"

namespace harmonium {

// One way of training given so much time: the settings that won, and the runs that tested them.
struct ComparedSearch {
  std::string variant;
  std::string when;    // "32 s"; empty where there is one training time only
  double seconds = 0;  // of training, where it is drawn
  std::optional<RunsSummary> tested = std::nullopt;
  std::vector<Setting> chosen = {};
  std::int64_t updates = 0, trials = 0, failed = 0;
};

// An order that somebody expects of the means.
struct SearchOrder {
  std::string better, than, when, source;
  std::optional<MeansDifference> difference = std::nullopt;  // better − than; nothing where one has no result

  // Beyond two standard errors the means differ (by the sign alone where a mean is of one run).
  [[nodiscard]] std::string outcome(const ScoreScale& scale) const;  // held, NOT held, too close to tell, not measured
  // "PCD is above CD-1 by 4.21 ± 0.30 nats at 32 s: as expected (the thesis, figure 3.1)"
  [[nodiscard]] std::string sentence(const ScoreScale& scale) const;
};

struct SearchComparison {
  ScoreScale scale;
  std::string valid, test;
  std::vector<ComparedSearch> searches = {};  // of one variant beside each other, in order of time
  std::vector<SearchOrder> orders = {};
};

// Score against training time, one line for each variant.
[[nodiscard]] Chart time_chart(const SearchComparison& comparison);
// "variant  time  updates  mean ± deviation  …" for a terminal.
[[nodiscard]] std::string comparison_text(const SearchComparison& comparison);
// The page. Title, configuration and commands are the caller's.
[[nodiscard]] ReportContent search_comparison_report(const SearchComparison& comparison);

}  // namespace harmonium
