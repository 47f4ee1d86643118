#include "harmonium/experiments/search_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harmonium/core/atomic_file.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/experiments/search_folder.h"
#include "harmonium/experiments/search_report.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/run.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/session.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr int interrupted_code = 130, terminated_code = 143;

fs::path job_file(const Search& search, const SearchedRun& run, const char* ending) {
  return search.folder / "jobs" / (run.name + ending);
}

// Nothing where the file is not there or was cut short by a crash: the work is then done again.
std::optional<ordered_json> read_json(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  ordered_json json = ordered_json::parse(read_file(path), nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  return json;
}

void take_score(SearchedRun& run, ordered_json judged) {
  run.seconds = judged.at("seconds");
  run.config.updates = whole_number(judged.at("updates"));
  if (const ordered_json& score = judged.at("score"); score.is_number() && std::isfinite(score.get<double>()))
    run.score = score.get<double>();
  else
    run.failure = "its score is not a finite number";
  for (const char* shown_beside : {"score", "seconds", "updates"}) judged.erase(shown_beside);
  run.judged = std::move(judged);
}

// What earlier sittings have left of it.
void look_for(const Search& search, SearchedRun& run) {
  read_outcome(run, job_file(search, run, ".failed.json"), job_file(search, run, ".score.json"));
}

void choose(Search& search) {
  std::vector<std::optional<double>> scores;
  for (const SearchedRun& run : search.trials) scores.push_back(run.score);
  search.chosen = best_of(scores, score_scale(search.plan.options.score).lower_is_better);
}

// Once the trials are done.
void plan_tests(Search& search) {
  choose(search);
  if (!search.chosen) return;
  const SearchedRun& best = search.trials[*search.chosen];
  for (std::int64_t i = 1; i <= search.plan.options.tests; ++i) {
    SearchedRun run{.name = format("test-{}-{:02}", best.name.substr(best.name.find('-') + 1), i),
                    .settings = best.settings,
                    .config = search.plan.test_config(best.settings, i)};
    run.config.updates = best.config.updates;
    look_for(search, run);
    search.tests.push_back(std::move(run));
  }
}

ChildCommand run_command(const Search& search, const SearchedRun& run, bool test) {
  const fs::path folder = search.folder / run.name, config = job_file(search, run, ".toml");
  if (!RunFolder(folder).is_run()) {
    fs::remove_all(folder);  // what a process that was killed at its very start has left
    fs::create_directories(config.parent_path());
    write_file_atomically(config, to_toml(run.config));
  }
  const SearchOptions& options = search.plan.options;
  return {
      .arguments = {"trial", folder.string(), "--config", config.string(), "--data", test ? options.test : search.valid,
                    "--limit", std::to_string(test ? options.test_limit : options.valid_limit), "--by", options.score,
                    "--chains", std::to_string(options.chains), "--betas", std::to_string(options.betas)},
      .out = job_file(search, run, ".score.json.part"),
      .log = job_file(search, run, ".log")};
}

// How long runs take, to say how long the rest will take.
class SearchPace {
 public:
  explicit SearchPace(std::size_t searches) : seconds_(searches), runs_(searches) {}
  void add(std::size_t search, double seconds) {
    seconds_[search] += seconds;
    ++runs_[search];
  }
  // A run of this search, by those that are done, or by those of other searches and the difference in training time;
  // 0 where nothing is known.
  [[nodiscard]] double expected(const std::vector<Search>& searches, std::size_t search) const {
    if (runs_[search] > 0) return seconds_[search] / static_cast<double>(runs_[search]);
    double sum = 0, n = 0;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const double longer = searches[search].plan.options.seconds - searches[i].plan.options.seconds;
      sum += seconds_[i] + longer * static_cast<double>(runs_[i]);
      n += static_cast<double>(runs_[i]);
    }
    return n > 0 ? std::max(0.1, sum / n) : searches[search].plan.options.seconds;
  }

 private:
  std::vector<double> seconds_;
  std::vector<std::int64_t> runs_;
};

// The pool at work.
class SearchWork {
 public:
  SearchWork(std::vector<Search>& searches, SideBySide& children)
      : searches_(searches), children_(children), pace_(searches.size()), bar_("searching") {}

  bool run() {
    for (;;) {
      for (Search& search : searches_)
        if (search.trials_done() && search.tests.empty()) plan_tests(search);
      if (interrupted() || stop_) children_.stop();
      while (!interrupted() && !stop_ && children_.has_room() && start_next()) {
      }
      if (children_.idle()) break;
      if (const auto ended = children_.wait(std::chrono::milliseconds(200))) finish(*ended);
      show();
    }
    if (!interrupted() && !stop_) require_all_ran();
    return !interrupted() && !stop_;
  }

 private:
  struct Job {
    std::size_t search = 0, index = 0;
    bool test = false, ended = false;
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  };

  [[nodiscard]] SearchedRun& run_of(const Job& job) const {
    Search& search = searches_[job.search];
    return (job.test ? search.tests : search.trials)[job.index];
  }
  [[nodiscard]] bool is_running(std::size_t search, bool test, std::size_t index) const {
    return std::ranges::any_of(jobs_, [&](const Job& job) {
      return !job.ended && job.search == search && job.test == test && job.index == index;
    });
  }

  bool start_next() {
    for (std::size_t s = 0; s < searches_.size(); ++s)
      for (const bool test : {false, true}) {
        const std::vector<SearchedRun>& runs = test ? searches_[s].tests : searches_[s].trials;
        for (std::size_t i = 0; i < runs.size(); ++i)
          if (!runs[i].done() && runs[i].trouble.empty() && !is_running(s, test, i)) {
            jobs_.push_back({.search = s, .index = i, .test = test});
            children_.start(jobs_.size() - 1, run_command(searches_[s], runs[i], test));
            return true;
          }
      }
    return false;
  }

  // The machine's failures are not choices: nothing is concluded until they are mended.
  void require_all_ran() const {
    std::int64_t count = 0;
    std::string first;
    for (const Search& search : searches_)
      for (const std::vector<SearchedRun>* runs : {&search.trials, &search.tests})
        for (const SearchedRun& run : *runs) {
          if (run.trouble.empty()) continue;
          if (count++ == 0) first = format("{}{}: {}", prefix(search), run.name, run.trouble);
        }
    if (count > 0)
      throw RunFailure(
          format("{} of the runs could not be run, through no fault of their settings ({}). What is done is kept; once "
                 "that is mended, the same command runs them again",
                 count, first));
  }

  void finish(const EndedChild& ended) {
    Job& job = jobs_[ended.id];
    const Search& search = searches_[job.search];
    SearchedRun& run = run_of(job);
    job.ended = true;
    if (ended.code == 0) {
      const fs::path whole = job_file(search, run, ".score.json");
      fs::rename(job_file(search, run, ".score.json.part"), whole);
      const auto said = read_json(whole);
      if (!said) throw RunFailure(format("{}: it should be one JSON object", whole.string()));
      take_score(run, *said);
    } else if (ended.code == 2) {
      fail("{}{}: {}", prefix(search), run.name, ended.message);
    } else if (ended.code == interrupted_code || ended.code == terminated_code) {
      stop_ = true;
    } else if (ended.code == diverged_code) {
      run.failure = ended.message;
      write_file_atomically(job_file(search, run, ".failed.json"),
                            ordered_json{{"reason", run.failure}, {"exit_code", ended.code}}.dump(1) + "\n");
    } else {
      run.trouble = ended.code > 128        ? format("killed by signal {}", ended.code - 128)
                    : ended.message.empty() ? format("exit code {}", ended.code)
                                            : ended.message;
      bar_.say(format("{}{} could not be run: {}", prefix(search), run.name, run.trouble));
    }
    if (!run.done()) return;
    pace_.add(job.search, ended.seconds);
    latest_ = job.search;
    if (!run.failure.empty()) bar_.say(format("{}{} failed: {}", prefix(search), run.name, run.failure));
  }

  [[nodiscard]] static std::string prefix(const Search& search) {
    return search.title.empty() ? "" : search.title + ": ";
  }

  void show() {
    std::int64_t done = 0, total = 0;
    double left = 0;
    for (std::size_t s = 0; s < searches_.size(); ++s) {
      const Search& search = searches_[s];
      const auto is_done = [](const SearchedRun& run) { return run.done(); };
      const std::int64_t here =
          std::ranges::count_if(search.trials, is_done) + std::ranges::count_if(search.tests, is_done);
      const std::int64_t all = search.plan.options.runs + search.plan.options.tests;
      done += here;
      total += all;
      left += static_cast<double>(all - here) * pace_.expected(searches_, s);
    }
    const auto now = std::chrono::steady_clock::now();
    for (const Job& job : jobs_)
      if (!job.ended)
        left -= std::min(std::chrono::duration<double>(now - job.start).count(), pace_.expected(searches_, job.search));
    left /= children_.jobs();
    Search& search = searches_[latest_];
    choose(search);
    const std::string best =
        search.chosen ? format("{}best {} ({})", prefix(search),
                               score_scale(search.plan.options.score).text(*search.trials[*search.chosen].score),
                               search.trials[*search.chosen].name)
                      : "";
    bar_.show(done, total, left > 0 ? static_cast<double>(total - done) / left : 0, best);
  }

  std::vector<Search>& searches_;
  SideBySide& children_;
  SearchPace pace_;
  ProgressBar bar_;
  std::vector<Job> jobs_;
  std::size_t latest_ = 0;
  bool stop_ = false;
};

}  // namespace

void read_outcome(SearchedRun& run, const fs::path& failed, const fs::path& score) {
  const SearchedRun before = run;
  try {
    if (const auto found = read_json(failed)) {
      const std::string reason = found->at("reason");
      // Version 0.1 kept every failure, also those of the machine.
      const bool outcome = found->value("exit_code", 0) == diverged_code ||
                           reason.find("diverged") != std::string::npos ||
                           reason.find("not finite") != std::string::npos;
      if (outcome) run.failure = reason;
    }
    if (const auto judged = read_json(score)) take_score(run, *judged);
  } catch (const ordered_json::exception&) {
    run = before;
  }
}

bool Search::trials_done() const { return std::ranges::all_of(trials, &SearchedRun::done); }

bool Search::done() const {
  return trials_done() && std::ranges::all_of(tests, &SearchedRun::done) &&
         (!chosen || static_cast<std::int64_t>(tests.size()) == plan.options.tests);
}

std::optional<RunsSummary> Search::summary() const {
  std::vector<double> scores;
  for (const SearchedRun& run : tests)
    if (run.score) scores.push_back(*run.score);
  if (scores.empty()) return std::nullopt;
  return summarize_runs(scores);
}

std::string resolve_plan(SearchPlan& plan, const std::string& where) {
  RunConfig config = plan.trial_config(draw_settings(plan.space, plan.config.seed, 1), 1);
  const RunData data = resolve(config);
  check_config(config, data);
  require(
      config.valid != "none",
      "{}: a search chooses by validation data, and {} has none of its own. Give `valid = \"…\"`, apart from what is "
      "learnt (of mnist: data = \"mnist:fit\" has mnist:valid)",
      where, config.data);
  if (plan.options.test.empty()) {
    plan.options.test = judging_data(config.data, &data.train);
    require(plan.options.test != config.data, "{}: {} has no test part of its own. Give `test = \"…\"` in [search]",
            where, config.data);
  }
  const Dataset test = open_dataset(plan.options.test, {.limit = plan.options.test_limit,
                                                        .reading = reading_for(plan.options.test, reading_of(config))});
  require(test.columns() == data.train.columns(), "{}: test = \"{}\" has {} columns, {} has {}", where,
          plan.options.test, test.columns(), config.data, data.train.columns());
  for (const Dataset* judge : {&data.valid, &test})
    require(!find_family(plan.config.model).knows_classes(plan.config) || judge->labels.defined(),
            "{}: {} has no labels", where, judge->name);
  return config.valid;
}

void open_search(Search& search) {
  claim_search_folder(search.folder, to_toml(search.plan));
  for (std::int64_t i = 1; i <= search.plan.options.runs; ++i) {
    SearchedRun run{.name = format("trial-{:02}", i),
                    .settings = draw_settings(search.plan.space, search.plan.config.seed, i)};
    run.config = search.plan.trial_config(run.settings, i);
    look_for(search, run);
    search.trials.push_back(std::move(run));
  }
}

bool run_searches(std::vector<Search>& searches, SideBySide& children) { return SearchWork(searches, children).run(); }

ordered_json to_json(const std::vector<Setting>& settings) {
  ordered_json json = ordered_json::object();
  for (const Setting& each : settings) std::visit([&](const auto& value) { json[each.name] = value; }, each.value);
  return json;
}

ordered_json to_json(const Search& search) {
  const auto runs_of = [](const std::vector<SearchedRun>& runs) {
    ordered_json all = ordered_json::array();
    for (const SearchedRun& run : runs)
      all.push_back({{"name", run.name},
                     {"settings", to_json(run.settings)},
                     {"seed", run.config.seed},
                     {"updates", run.config.updates},
                     {"seconds", run.seconds},
                     {"score", run.score ? ordered_json(*run.score) : ordered_json(nullptr)},
                     {"failure", run.failure.empty() ? ordered_json(nullptr) : ordered_json(run.failure)},
                     {"judged", run.judged}});
    return all;
  };
  ordered_json json = {{"score", search.plan.options.score},
                       {"lower_is_better", score_scale(search.plan.options.score).lower_is_better},
                       {"valid", search.valid},
                       {"test", search.plan.options.test},
                       {"chosen", nullptr},
                       {"tested", nullptr}};
  if (search.chosen) {
    const SearchedRun& best = search.trials[*search.chosen];
    json["chosen"] = {{"trial", best.name},
                      {"settings", to_json(best.settings)},
                      {"updates", best.config.updates},
                      {"score", *best.score}};
  }
  if (const auto summary = search.summary()) {
    const auto optional = [](const std::optional<double>& value) {
      return value ? ordered_json(*value) : ordered_json(nullptr);
    };
    json["tested"] = {{"runs", summary->n},
                      {"mean", summary->mean},
                      {"standard_deviation", optional(summary->deviation)},
                      {"standard_error", optional(summary->standard_error)},
                      {"low", summary->low},
                      {"high", summary->high},
                      {"interval", "95 % of the mean, Student"}};
  }
  json["trials"] = runs_of(search.trials);
  json["tests"] = runs_of(search.tests);
  return json;
}

}  // namespace harmonium
