// Log-likelihood while training goes on (`train --track`): one thread of low priority judges snapshot after snapshot.
//
// The answers are those that `evaluate --snapshots` would give by the run's own validation data, recorded as each is
// found. Whatever stops a run costs it the answer that was being worked on; resumed, it asks again. The thread reads
// files and shares nothing with training but processor time, so a tracked run ends with the same bytes.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "harmonium/runs/run.h"
#include "harmonium/sessions/judge.h"

namespace harmonium {

// What tracking judges by: the validation data where there are any, else the training data, at most 10 000 rows, with
// the run's binarization. Fails where such data, or the method, cannot judge the model. `config` must be resolved.
[[nodiscard]] TestData open_tracking_data(const RunConfig& config, const RunData& data);

class LikelihoodTracker {
 public:
  // Starts with the snapshots that are there already. `config` must be resolved and ask for tracking.
  LikelihoodTracker(std::filesystem::path folder, const RunConfig& config, const RunData& data);
  ~LikelihoodTracker();  // gives up what is not answered yet
  LikelihoodTracker(const LikelihoodTracker&) = delete;
  LikelihoodTracker& operator=(const LikelihoodTracker&) = delete;

  // A snapshot, or the folder of the run: its final model.
  void add(const std::filesystem::path& model);

  [[nodiscard]] std::string latest() const;            // "log-lik −25.31 @1000"; empty before the first answer
  [[nodiscard]] std::vector<std::string> take_news();  // what went wrong, in sentences, each once
  [[nodiscard]] std::int64_t failed() const;           // models that could not be judged, or the answer not recorded

  struct Standing {
    std::int64_t answered = 0, total = 0;
    double rate = 0;    // answers per second, half-finished ones counted as half
    std::string doing;  // "update 1000, 40 %"
  };
  // Returns when all is answered, or early after Ctrl-C; calls `show` now and then.
  void finish(const std::function<void(const Standing&)>& show);

 private:
  void work();
  void judge(const std::filesystem::path& path);
  [[nodiscard]] Standing standing() const;  // under the mutex

  std::filesystem::path folder_;
  std::int64_t last_update_;  // of which the final model is; −1: it may be that of another
  JudgeOptions options_;
  TestData test_;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::deque<std::filesystem::path> waiting_;
  bool stop_ = false, busy_ = false;
  std::int64_t answered_ = 0, failed_ = 0;
  double fraction_ = 0;                 // of the model at hand
  double work_ = 0, work_seconds_ = 0;  // models that had to be judged, and how long that took
  std::string doing_, latest_;
  std::vector<std::string> news_;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace harmonium
