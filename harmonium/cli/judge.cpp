#include "harmonium/cli/judge.h"

#include <fmt/core.h>

#include <algorithm>

#include "harmonium/cli/progress.h"
#include "harmonium/cli/stack_commands.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/catalog/folders.h"
#include "harmonium/training/files/folder_journal.h"
#include "harmonium/training/files/snapshots.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

// The snapshots and the final model, which may be the last snapshot over again.
std::vector<fs::path> models_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  const std::vector<SnapshotFile> snapshots = list_snapshots(folder);
  for (const SnapshotFile& snapshot : snapshots) paths.push_back(snapshot.path);
  if (!fs::exists(folder / "model.safetensors")) return paths;
  const std::int64_t last = updates_of(read_model(folder));
  if (!snapshots.empty() && snapshots.back().update == last) paths.pop_back();
  paths.push_back(folder);
  return paths;
}

// Whether an answer was found in the way that `options` ask for.
bool same_way(const Evaluation& old, const EstimationOptions& options, const BoltzmannMachine& machine) {
  const std::string method = method_for(options, machine);
  if (method == "exact") return old.log_z.kind == EstimateKind::exact;
  const bool both = method == "auto" || method == "sandwich";
  if (old.gap.has_value() != both || old.log_z.method != method_text(options, machine)) return false;
  if (method == "auto") return Sandwich{old.log_z, *old.upper_log_z}.agrees(options.gap);
  return old.log_z.betas == betas_of(options) &&
         old.log_z.chains == (method == "raise" ? options.raise_chains : options.chains);
}

// An answer to the same question about the same model, found the same way.
const Evaluation* known_answer(const std::vector<Evaluation>& known, const Model& model, const TestData& test,
                               const EstimationOptions& options) {
  const auto found = std::ranges::find_if(known, [&](const Evaluation& old) {
    return old.updates == updates_of(model) && old.data == test.spec && old.n == test.rows &&
           old.binarization == test.binarization && old.log_likelihood.has_value() &&
           same_way(old, options, model.machine);
  });
  return found == known.end() ? nullptr : &*found;
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
    fmt::print(stderr, "{}\n", sentence);
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
    if (is_run_folder(folder)) return folder;
  return std::nullopt;
}

// Beside the run, else in the user's cache; nothing where there is neither.
std::optional<FolderJournal> open_journal(const fs::path& path, const Model& model, const TestData* test,
                                          const EstimationOptions& options) {
  constexpr std::chrono::seconds between_saves(5);
  const auto cache = cache_folder();
  std::optional<fs::path> home = run_of(path);
  if (!home && cache) home = cache->parent_path();
  if (!home) return std::nullopt;
  const std::string digest = question_digest(model.machine, question_text(test, options));
  return FolderJournal(*home / "evaluating" / digest, between_saves);
}

}  // namespace

JournaledFindings find_with_bars(const fs::path& path, const Model& model, const TestData* test,
                                 const EstimationOptions& options, const CommonOptions& common,
                                 const std::string& doing) {
  check(options);
  const std::int64_t rows = std::max(options.chains, test != nullptr ? options.raise_rows * options.raise_chains : 0);
  if (method_for(options, model.machine) != "exact")
    limit_threads(common, static_cast<double>(rows * model.machine.parameters().dimension()));
  else if (!model.machine.device().is_cpu() && !common.json)
    fmt::print(stderr, "states are enumerated on the CPU; --device {} serves --method ais, raise and sandwich\n",
               common.device);
  std::optional<FolderJournal> journal = open_journal(path, model, test, options);
  BarWatcher watcher(doing, journal ? "interrupted; what was done is kept, and the same command goes on"
                                    : "interrupted; nothing was written");
  Findings findings = find_log_z(model, test, options, watcher, journal ? &*journal : nullptr);
  return {std::move(findings), std::move(journal)};
}

JudgedRun judge_run(const fs::path& folder, const std::vector<JudgingData>& data, const JudgeOptions& options,
                    const CommonOptions& common) {
  if (fs::exists(folder / "model.safetensors") && is_stack_file(folder))
    return judge_stack_run(folder, data, options, common);
  JudgedRun result;
  std::vector<TestData> tests;
  const std::vector<fs::path> paths = models_of(folder);
  require(!paths.empty(), "{} has neither a snapshot nor a final model yet; `harmonium resume {}` goes on with the run",
          folder.string(), folder.string());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Model model = read_model(paths[i]);
    model.machine = model.machine.to(find_device(common.device));
    if (tests.empty())
      for (const JudgingData& each : data) tests.push_back(open_test_data(each, options.data, model.machine));
    const std::vector<Evaluation> known = read_evaluations(folder);
    std::vector<Evaluation> answers;
    for (const TestData& test : tests)
      if (const Evaluation* old = known_answer(known, model, test, options.estimation)) answers.push_back(*old);
    if (answers.size() == tests.size()) {
      ++result.known;
    } else {
      JournaledFindings found = find_with_bars(paths[i], model, &tests.front(), options.estimation, common,
                                               format(" {} of {}, update {}", i + 1, paths.size(), updates_of(model)));
      answers.clear();
      for (const TestData& test : tests)
        answers.push_back(evaluate_model(paths[i].string(), model, &test, found.findings, options.estimation.gap));
      record_evaluations(folder, answers);
      found.recorded();
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
  const Findings findings = find_log_z(model, &test, options.estimation, watcher, nullptr);
  return evaluate_model(path.string(), model, &test, findings, options.estimation.gap);
}

std::string in_words(const Estimate& estimate) {
  if (estimate.kind == EstimateKind::exact) return fmt::format("{:.6f} nats  exact", estimate.value);
  return fmt::format("{:.3f} nats  [{:.3f}, {:.3f}]  {}", estimate.value, estimate.low, estimate.high,
                     to_string(estimate.kind));
}

std::string draws_in_words(const Evaluation& evaluation) {
  if (!evaluation.draw_spread) return "";
  return fmt::format(", averaged over {} draws, spread {:.2g} nats", evaluation.draws, *evaluation.draw_spread);
}

bool is_run_folder(const fs::path& folder) { return fs::is_directory(folder) && fs::exists(folder / "config.toml"); }

}  // namespace harmonium::cli
