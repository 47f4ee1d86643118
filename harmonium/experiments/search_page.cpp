#include "harmonium/experiments/search_page.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/core/machine_limits.h"
#include "harmonium/report/html.h"

namespace harmonium {

namespace {

std::vector<StudiedRun> studied(const std::vector<SearchedRun>& runs) {
  std::vector<StudiedRun> result;
  for (const SearchedRun& run : runs)
    result.push_back({run.name, run.settings, run.score, run.seconds, run.config.updates, run.failure});
  return result;
}

}  // namespace

SearchStudy study_of(const Search& search) {
  return {.scale = score_scale(search.plan.options.score),
          .valid = search.valid,
          .test = search.plan.options.test,
          .space = search.plan.space,
          .trials = studied(search.trials),
          .tests = studied(search.tests),
          .chosen = search.chosen,
          .tested = search.summary()};
}

std::string trials_text(const Search& search) {
  const SearchStudy study = study_of(search);
  std::string text = format("{:<10} {:>12} {:>9} {:>9}", "trial", "score", "updates", "seconds");
  for (const SearchedOption& option : study.space) text += format("  {:>12}", option.name);
  for (const StudiedRun* run : ranked(study)) {
    text += format("\n{:<10} {:>12} {:>9} {:>9.2f}", run->name, run->score ? study.scale.text(*run->score) : "failed",
                   run->updates, run->seconds);
    for (const Setting& each : run->settings) text += format("  {:>12}", value_text(each.value));
    if (!run->failure.empty()) text += "  " + run->failure;
  }
  return text + "\n";
}

ChildrenAtOnce children_at_once(const SessionOptions& common, int jobs) {
  const int cores = usable_processors();
  require(jobs >= 0 && jobs <= 4096, "--jobs {}: give the number of runs at once, or 0 for as many as there are cores",
          jobs);
  const int threads = std::max(1, common.threads);
  return {.jobs = jobs > 0 ? jobs : std::max(1, cores / threads), .threads = threads};
}

}  // namespace harmonium
