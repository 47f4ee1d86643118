#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <thread>

#include "harmonium/cli/command.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/experiments/search_folder.h"
#include "harmonium/experiments/search_page.h"
#include "harmonium/experiments/search_session.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

struct SearchCommandOptions {
  SessionOptions common;
  std::string file;
  fs::path out;
  std::int64_t runs = 0, tests = -1;
  double seconds = -1;
  int jobs = 0;
};

std::string how_to_go_on(const SearchCommandOptions& options) {
  std::string command = "harmonium search " + options.file;
  if (options.runs > 0) command += format(" --runs {}", options.runs);
  if (options.tests >= 0) command += format(" --tests {}", options.tests);
  if (options.seconds >= 0) command += format(" --seconds {}", options.seconds);
  return command + " --out " + options.out.string();
}

void print_search(const Search& search) {
  const SearchOptions& options = search.plan.options;
  const ScoreScale scale = score_scale(options.score);
  fmt::print("{}", trials_text(search));
  if (!search.chosen) return;
  const SearchedRun& best = search.trials[*search.chosen];
  fmt::print("chosen   {}: {}\n         {} of {}: {} (selected as the best of {}, optimistic)\n", best.name,
             settings_text(without_ties(search.plan.space, best.settings)), scale.name, search.valid,
             scale.with_unit(*best.score), search.trials.size());
  for (const SearchedRun& run : search.tests)
    if (!run.failure.empty()) fmt::print("{} failed: {}\n", run.name, run.failure);
  if (const auto summary = search.summary())
    fmt::print("tested   {} of {}: {}\n", scale.name, options.test, scale.summary(*summary));
}

int search(SearchCommandOptions options) {
  require(!options.file.empty(), "search: give a TOML file with a table [search]");
  SearchPlan plan = read_search_plan(options.file);
  if (options.runs > 0) plan.options.runs = options.runs;
  if (options.tests >= 0) plan.options.tests = options.tests;
  if (options.seconds >= 0) plan.options.seconds = options.seconds;
  check_plan(plan, options.file);
  const std::string stem = fs::path(options.file).stem().string();
  if (options.out.empty()) options.out = fs::path("runs") / ("search-" + stem);
  const ChildrenAtOnce at_once = children_at_once(options.common, options.jobs);
  const std::string valid = resolve_plan(plan, options.file);

  watch_interrupts();
  std::vector<Search> searches = {{.title = "", .plan = plan, .folder = options.out, .speed_name = "", .valid = valid}};
  Search& search = searches.front();
  claim_search_folder(options.out, to_toml(plan));
  const FolderLock lock(options.out);
  open_search(search);
  SideBySide children(at_once.jobs, at_once.threads);
  if (!options.common.json)
    fmt::print(stderr,
               "{} trials on {}, judged by the {} of {}; the best settings {} times, judged by {}; {} at once\n",
               plan.options.runs, plan.config.data, score_scale(plan.options.score).name, valid, plan.options.tests,
               plan.options.test, at_once.jobs);
  SpeedBook book(options.out / "timing.json");
  if (!find_updates(searches, book, children, options.out / "timing") || !run_searches(searches, children)) {
    fmt::print(stderr, "interrupted; progress saved. To continue:\n  {}\n", how_to_go_on(options));
    return 130;
  }

  const fs::path results = options.out / "search.json", page = options.out / "index.html";
  nlohmann::ordered_json json = to_json(search);
  json["command"] = how_to_go_on(options);
  json["machine"] = machine_text();
  json["date"] = today();
  write_file_atomically(results, json.dump(1) + "\n");
  ReportContent content = search_report(study_of(search));
  content.title = "Search " + stem;
  content.configuration = read_file(options.file);
  content.reproduce = {how_to_go_on(options)};
  content.footer += " " + machine_text() + "; " + today() + ".";
  write_report(page, content);
  if (options.common.json)
    print_json(json);
  else {
    print_search(search);
    fmt::print("results  {}\npage     {}\n", results.string(), page.string());
  }
  if (search.chosen) return 0;
  fmt::print(stderr, "harmonium: every trial failed; the first: {}\n", search.trials.front().failure);
  return 1;
}

}  // namespace

void add_search(CLI::App& app) {
  auto options = std::make_shared<SearchCommandOptions>();
  CLI::App* command =
      add_command(app, "search", "Draw settings at random, choose by validation data, test the choice with other seeds",
                  "  harmonium search recipe.toml\n"
                  "  harmonium search recipe.toml --runs 60        # continues a search of 30\n"
                  "  harmonium search recipe.toml --seconds 20 --out runs/twenty-seconds\n\n"
                  "recipe.toml: any option of `train` (with _ for -), then for example\n"
                  "  [search]\n"
                  "  score = \"log_likelihood\"   # or error (classification_rbm), pseudo_log_likelihood\n"
                  "  runs = 30\n"
                  "  tests = 10\n"
                  "  [search.ranges]\n"
                  "  rate_weights = { low = 1e-3, high = 1 }   # log-uniform; scale = \"linear\" for the other\n"
                  "  rate_bias = \"rate_weights\"                # the same value\n"
                  "  gradient = [\"pcd\", \"cd\"]                  # one of these\n",
                  options->common, [options] { return search(*options); });
  command->add_option("config", options->file, "TOML file with options of a run and a table [search]")->required();
  command->add_option("--runs", options->runs, "trials (default: as in the file, else 30)")->check(positive());
  command->add_option("--tests", options->tests, "runs with the chosen settings (default: as in the file, else 10)")
      ->check(not_negative());
  command->add_option("--seconds", options->seconds, "training time of a run, instead of a number of updates")
      ->check(not_negative());
  command->add_option("--jobs", options->jobs, "runs at once (default: cores / --threads, and --threads is 1)");
  command->add_option("--out", options->out, "folder (default: runs/search-NAME)");
}

}  // namespace harmonium::cli
