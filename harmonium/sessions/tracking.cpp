#include "harmonium/sessions/tracking.h"

#include <ATen/Parallel.h>
#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>

#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/families/machine_file.h"
#include "harmonium/families/registry.h"
#include "harmonium/likelihood/judgement.h"
#include "harmonium/runs/snapshots.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_tracking_rows = 10'000;

JudgeOptions tracking_options(const RunConfig& config) {
  JudgeOptions options;  // whose seed stays what `evaluate` has by default
  options.estimation.method = config.track;
  options.estimation.chains = config.track_chains;
  options.estimation.betas = config.track_betas;
  options.estimation.thorough = false;
  options.data.binarize = config.binarize;
  options.data.reading = reading_of(config);
  return options;
}

// Training comes first. On Linux priorities belong to threads, and so does the number of threads of LibTorch and of an
// OpenBLAS with OpenMP; with the OpenBLAS that has threads of its own, both share its pool.
void step_aside() {
#ifdef __linux__
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), 10);
#endif
  at::set_num_threads(1);
}

}  // namespace

TestData open_tracking_data(const RunConfig& config, const RunData& data) {
  const bool has_valid = data.valid.rows() > 0;
  const std::int64_t rows = has_valid ? data.valid.rows() : data.train.rows();
  const JudgingData from{has_valid ? config.valid : config.data, std::min(rows, most_tracking_rows)};
  const std::unique_ptr<Model> model = find_family(config.model).make(config, data, {});
  if (model->density() == nullptr) cannot(*model, "--track: the model", "has no likelihood");
  model->density()->check(tracking_options(config).estimation);
  const TrainedMachine* machine = model->machine();
  require(config.track != "exact" || machine == nullptr || can_enumerate(machine->machine, enumeration_bits),
          "--track exact visits every state of the smaller side, at most 2^{} of them: with --visible {} and --{} {} "
          "there are more; use --track ais",
          enumeration_bits, config.visible, config.layers == "none" ? "hidden" : "layers",
          config.layers == "none" ? config.hidden : config.layers);
  try {
    return open_test_data(from, tracking_options(config).data, model->visible());
  } catch (const Error& error) {
    fail("--track {}: {}", config.track, error.marked());
  }
}

LikelihoodTracker::LikelihoodTracker(std::filesystem::path folder, const RunConfig& config, const RunData& data)
    : folder_(std::move(folder)),
      last_update_(config.keep == "best" ? -1 : config.updates),
      options_(tracking_options(config)),
      test_(open_tracking_data(config, data)) {
  for (const SnapshotFile& snapshot : list_snapshots(folder_)) waiting_.push_back(snapshot.path);
  // LibTorch gives a thread its number of threads at first use, by what any thread has set last: use it before ours
  // says "one".
  (void)at::get_num_threads();
  thread_ = std::thread([this] { work(); });
}

LikelihoodTracker::~LikelihoodTracker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void LikelihoodTracker::add(const std::filesystem::path& model) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(model);
  }
  changed_.notify_all();
}

std::string LikelihoodTracker::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

std::vector<std::string> LikelihoodTracker::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

std::int64_t LikelihoodTracker::failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

LikelihoodTracker::Standing LikelihoodTracker::standing() const {
  const double seconds = work_seconds_;
  return {.answered = answered_,
          .total = answered_ + static_cast<std::int64_t>(waiting_.size()) + (busy_ ? 1 : 0),
          .rate = seconds > 0 ? (work_ + fraction_) / seconds : 0,
          .doing = doing_};
}

void LikelihoodTracker::finish(const std::function<void(const Standing&)>& show) {
  std::unique_lock lock(mutex_);
  while (!interrupted() && (busy_ || !waiting_.empty())) {
    const Standing now = standing();
    lock.unlock();
    show(now);
    lock.lock();
    // Not for ever: a signal wakes nobody.
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
  const Standing last = standing();
  lock.unlock();
  if (!interrupted()) show(last);
}

void LikelihoodTracker::work() {
  step_aside();
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !waiting_.empty(); });
    if (stop_) return;
    const std::filesystem::path path = waiting_.front();
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    std::string trouble;
    try {
      judge(path);
    } catch (const Interrupted&) {
      // The destructor waits, or finish(), which has seen the signal too.
    } catch (const std::exception& error) {
      trouble = format("--track: {} could not be judged: {}", path.string(), error.what());
    }
    lock.lock();
    if (!trouble.empty()) {
      news_.push_back(trouble);
      ++failed_;
    }
    busy_ = false;
    fraction_ = 0;
    doing_.clear();
    ++answered_;
    if (interrupted()) return;
    changed_.notify_all();
  }
}

void LikelihoodTracker::judge(const std::filesystem::path& path) {
  const std::unique_ptr<Model> model = open_model(path);
  const std::int64_t updates = model->info().updates();
  // The final model is judged as such, with the folder as its name.
  if (updates == last_update_ && path != folder_) return;
  std::optional<Evaluation> answer = recorded_answer(folder_, *model, test_, options_);
  if (!answer) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    double counted = 0;
    const Progress progress = [&](std::int64_t done, std::int64_t total) {
      const std::lock_guard lock(mutex_);
      if (stop_ || interrupted()) throw Interrupted("interrupted");
      fraction_ = static_cast<double>(done) / static_cast<double>(total);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      work_seconds_ += seconds - std::exchange(counted, seconds);
      doing_ = format("update {}, {:.0f} %", updates, 100 * fraction_);
    };
    answer = judge_quietly(path, *model, test_, options_, progress);
    record_evaluation(folder_, *answer);
    const std::lock_guard lock(mutex_);
    ++work_;
  }
  const std::lock_guard lock(mutex_);
  const bool trusted = judgement(*answer).trusted;
  latest_ = format("log-lik {}{} @{}", fixed_number(answer->log_likelihood->value, 2), trusted ? "" : " (not trusted)",
                   answer->updates);
}

}  // namespace harmonium
