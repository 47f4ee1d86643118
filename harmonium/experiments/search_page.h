// A search for people: on a terminal and as a page.
#pragma once

#include <string>

#include "harmonium/experiments/search_report.h"
#include "harmonium/experiments/search_session.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

// How many runs at once and with how many threads each: by --jobs, --threads and the cores there are.
struct ChildrenAtOnce {
  int jobs = 1, threads = 1;
};
[[nodiscard]] ChildrenAtOnce children_at_once(const SessionOptions& common, int jobs);

// What report/search_report.h shows.
[[nodiscard]] SearchStudy study_of(const Search& search);

// A line for every trial, the best first.
[[nodiscard]] std::string trials_text(const Search& search);

}  // namespace harmonium
