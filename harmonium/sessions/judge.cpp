#include "harmonium/sessions/judge.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/catalog/folders.h"
#include "harmonium/families/decoder_judging.h"
#include "harmonium/families/machine_density.h"
#include "harmonium/families/real_values.h"
#include "harmonium/likelihood/judgement.h"
#include "harmonium/likelihood/usual_chains.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/folder_journal.h"
#include "harmonium/runs/metrics_log.h"
#include "harmonium/runs/run.h"
#include "harmonium/runs/snapshots.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/seen_rows.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// The snapshots and the final model, which may be the last snapshot over again.
std::vector<fs::path> models_of(const RunFolder& folder) {
  std::vector<fs::path> paths;
  const std::vector<SnapshotFile> snapshots = list_snapshots(folder);
  for (const SnapshotFile& snapshot : snapshots) paths.push_back(snapshot.path);
  if (!folder.finished()) return paths;
  if (!snapshots.empty() && snapshots.back().update == open_model(folder.path())->info().updates()) paths.pop_back();
  paths.push_back(folder.path());
  return paths;
}

// An answer to the same question about the same model, found the same way.
const Evaluation* known_answer(const std::vector<Evaluation>& known, const Model& model, const TestData& test,
                               const EstimationOptions& options) {
  const auto found = std::ranges::find_if(known, [&](const Evaluation& old) {
    return old.updates == model.info().updates() && old.data == test.spec &&
           (old.n == test.rows.rows() || is_about_some_of(old, test.rows.rows())) &&
           old.binarization == test.binarization && old.log_likelihood.has_value() &&
           model.density()->same_way(old, options);
  });
  return found == known.end() ? nullptr : &*found;
}

// A snapshot says it itself; the final model of a run has the same bytes however often the run was resumed, so its
// time stands in the metrics. A run of stages has no others than theirs.
double training_seconds(const ModelInfo& info, const fs::path& path) {
  if (!info.note("seconds").empty()) return std::atof(info.note("seconds").c_str());
  if (!fs::is_directory(path)) return 0;
  double seconds = 0;
  const std::vector<MetricsRow> rows = MetricsLog(RunFolder(path).metrics()).read();
  if (rows.empty()) return seconds_of_run(path);
  for (const MetricsRow& row : rows)
    if (row.update <= info.updates()) seconds = row.seconds;
  return seconds;
}

// What only the caller knows of an answer: whose it is.
void complete(std::vector<Evaluation>& answers, const Model& model, const fs::path& path) {
  for (Evaluation& each : answers) {
    each.model = path.string();
    each.updates = model.info().updates();
    each.unfinished = model.info().note("unfinished");
    each.seconds = training_seconds(model.info(), path);
    require_finite(each);
  }
}

const Density& density_of(const Model& model, const fs::path& path) {
  if (model.density() == nullptr) cannot(model, path.string(), "has no likelihood");
  return *model.density();
}

// A text that tells questions apart whose unfinished work must not be mixed up.
std::string question_text(const TestData* test, const EstimationOptions& options) {
  const std::string data =
      test != nullptr ? format("{} {} {}", test->spec, test->rows.rows(), test->binarization) : std::string("no data");
  return format("{} {} {} {} {} {} {} {} {}", data, chains_of(options), options.schedule, options.base, options.sum_out,
                options.knots, options.raise_rows, options.raise_chains, options.seed);
}

// Bars on the terminal; Ctrl-C stops the work.
class BarWatcher final : public Watcher {
 public:
  BarWatcher(std::string doing, std::string when_interrupted)
      : doing_(std::move(doing)), when_interrupted_(std::move(when_interrupted)) {}
  [[nodiscard]] Progress begin(const std::string& what) override {
    bar_.reset();  // ends the line of the one before
    bar_ = std::make_unique<ProgressBar>(what + doing_);
    return [this](std::int64_t done, std::int64_t total) {
      if (interrupted()) {
        bar_.reset();
        throw Interrupted(when_interrupted_);
      }
      bar_->show(done, total, 0, "");
    };
  }
  void say(const std::string& sentence) override {
    bar_.reset();
    fmt::print(stderr, "{}\n", as_flags(sentence));
  }

 private:
  std::string doing_, when_interrupted_;
  std::unique_ptr<ProgressBar> bar_;
};

// No terminal: somebody else shows how far it is.
class QuietWatcher final : public Watcher {
 public:
  explicit QuietWatcher(Progress progress) : progress_(std::move(progress)) {}
  [[nodiscard]] Progress begin(const std::string&) override { return progress_; }
  void say(const std::string&) override {}

 private:
  Progress progress_;
};

// The run that a path belongs to (its folder, or a snapshot in it); nothing for other models.
std::optional<fs::path> run_of(const fs::path& path) {
  for (const fs::path& folder : {path, path.parent_path().parent_path()})
    if (RunFolder(folder).is_run()) return folder;
  return std::nullopt;
}

// Beside the run where that may be written, else in the user's cache; nothing where there is neither.
std::optional<FolderJournal> open_journal(const fs::path& path, const Model& model, const TestData* test,
                                          const EstimationOptions& options) {
  constexpr std::chrono::seconds between_saves(5);
  const auto cache = cache_folder();
  const std::optional<fs::path> run = run_of(path);
  std::optional<fs::path> home;
  if (run && ::access(run->c_str(), W_OK) == 0)
    home = RunFolder(*run).journals();
  else if (cache)
    home = cache->parent_path() / "evaluating";
  if (!home) return std::nullopt;
  const std::string digest = question_digest(model.parameters(), question_text(test, options));
  return FolderJournal(*home / digest, between_saves);
}

}  // namespace

int JournaledAnswers::tell_trouble() const {
  if (!journal || journal->trouble().empty()) return 0;
  fmt::print(stderr, "harmonium: unfinished work could not be kept on the way: {}\n", journal->trouble());
  return 1;
}

TestData open_judging_data(const fs::path& path, const JudgingData& data, const JudgeOptions& options,
                           const Model& model) {
  TestDataOptions how = options.data;
  if (const auto run = run_of(path)) {
    RunConfig config;
    read_toml(RunFolder(*run).config(), config);
    how.reading = reading_like(config, how.reading);
  }
  how.binarize = protocol_for(how.binarize, model.info());
  how.missing_values = model.machine() != nullptr && sums_out_missing(model.machine()->machine);
  TestData test = open_test_data(data, how, model.visible());
  test.seen = rows_trained_on(path.string(), test.gray);
  if (test.seen && !options.allow_trained_rows) require_unseen(*test.seen, data.spec);
  return test;
}

JournaledAnswers judge_with_bars(const fs::path& path, const Model& model, const std::vector<const TestData*>& tests,
                                 const EstimationOptions& options, const SessionOptions& session,
                                 const std::string& doing) {
  const Density& density = density_of(model, path);
  density.check(options);
  if (!density.enumerates(options))
    limit_threads(session, density.products(options, !tests.empty()));
  else if (session.device != "cpu" && !session.json)
    fmt::print(stderr, "states are enumerated on the CPU; --device {} serves --method ais, raise and sandwich\n",
               session.device);
  std::optional<FolderJournal> journal = open_journal(path, model, tests.empty() ? nullptr : tests.front(), options);
  BarWatcher watcher(doing, journal ? "interrupted; progress saved: run the same command to continue"
                                    : "interrupted; nothing was written");
  JournaledAnswers result{density.judge(tests, options, watcher, journal ? &*journal : nullptr), std::move(journal)};
  complete(result.answers, model, path);
  for (std::size_t i = 0; i < std::min(tests.size(), result.answers.size()); ++i) {
    if (!tests[i]->seen) continue;
    result.answers[i].trained_rows = tests[i]->seen->seen;
    result.answers[i].trained_rows_note = in_words(*tests[i]->seen);
  }
  return result;
}

JudgedRun judge_run(const fs::path& folder, const std::vector<JudgingData>& data, const JudgeOptions& options,
                    const SessionOptions& session) {
  JudgedRun result;
  std::vector<TestData> tests;
  const std::vector<fs::path> paths = models_of(folder);
  require(!paths.empty(), "{} has neither a snapshot nor a final model yet; `harmonium resume {}` goes on with the run",
          folder.string(), folder.string());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::unique_ptr<Model> model = open_model(paths[i])->to(find_device(session.device));
    (void)density_of(*model, paths[i]);
    if (tests.empty())
      for (const JudgingData& each : data) tests.push_back(open_judging_data(folder, each, options, *model));
    const std::vector<Evaluation> known = read_evaluations(folder);
    std::vector<Evaluation> answers;
    std::vector<const TestData*> asked;
    for (const TestData& test : tests) {
      asked.push_back(&test);
      if (const Evaluation* old = known_answer(known, *model, test, options.estimation)) answers.push_back(*old);
    }
    if (answers.size() == tests.size()) {
      ++result.known;
    } else {
      JournaledAnswers found =
          judge_with_bars(paths[i], *model, asked, options.estimation, session,
                          format(" {} of {}, update {}", i + 1, paths.size(), model->info().updates()));
      answers = found.answers;
      // What cannot be recorded is still an answer, for this call.
      if (record_or_say([&] { record_evaluations(folder, answers); }) == 0)
        found.recorded();
      else
        result.recorded = false;
      ++result.asked;
    }
    result.evaluations.insert(result.evaluations.end(), answers.begin(), answers.end());
  }
  return result;
}

std::optional<Evaluation> recorded_answer(const fs::path& folder, const Model& model, const TestData& test,
                                          const JudgeOptions& options) {
  const std::vector<Evaluation> known = read_evaluations(folder);
  const Evaluation* old = known_answer(known, model, test, options.estimation);
  return old == nullptr ? std::nullopt : std::optional(*old);
}

Evaluation judge_quietly(const fs::path& path, const Model& model, const TestData& test, const JudgeOptions& options,
                         const Progress& progress) {
  QuietWatcher watcher(progress);
  std::vector<Evaluation> answers = density_of(model, path).judge({&test}, options.estimation, watcher, nullptr);
  complete(answers, model, path);
  return answers.front();
}

std::string in_words(const Estimate& estimate) {
  if (estimate.kind == EstimateKind::exact) return fmt::format("{:.6f} nats  exact", estimate.value);
  const std::string remark = interval_remark(estimate);
  return fmt::format("{:.3f} nats  {}  {}", estimate.value,
                     remark.empty() ? fmt::format("[{:.3f}, {:.3f}]", estimate.low, estimate.high) : remark,
                     to_string(estimate.kind));
}

std::string log_likelihood_in_words(const Evaluation& evaluation) {
  const Judgement found = judgement(evaluation);
  return found.trusted ? in_words(*evaluation.log_likelihood) : in_words(found);
}

std::string draws_in_words(const Evaluation& evaluation) {
  if (!evaluation.draw_spread) return "";
  return fmt::format(", averaged over {} draws, spread {:.2g} nats", evaluation.draws, *evaluation.draw_spread);
}

}  // namespace harmonium
