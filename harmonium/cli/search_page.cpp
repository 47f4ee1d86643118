#include "harmonium/cli/search_page.h"

#include <algorithm>

#include "harmonium/core/format.h"
#include "harmonium/report/html.h"

namespace harmonium::cli {

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

}  // namespace harmonium::cli
