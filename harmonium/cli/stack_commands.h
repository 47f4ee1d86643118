// What `sample` and `evaluate` do with a stack of machines, a deep belief net.
#pragma once

#include <string>
#include <vector>

#include "harmonium/cli/command.h"
#include "harmonium/cli/judge.h"

namespace harmonium::cli {

struct StackSampleOptions {
  std::string model, out;
  std::int64_t count = 100, sweeps = 1000;
  bool means = false;
  std::vector<std::string> clamp;  // "label=3", at most
  std::uint64_t seed = 0;
  bool json = false;
};
int sample_stack(const StackSampleOptions& options);

// The bound on the log-likelihood of data (likelihood/belief_net_bound.h); without data, log Z of the top machine.
[[nodiscard]] Evaluation evaluate_stack(const std::string& path, const JudgingData& data, const JudgeOptions& options,
                                        const CommonOptions& common);

// judge_run() for a run of a stack, which has one model and no snapshots.
[[nodiscard]] JudgedRun judge_stack_run(const std::filesystem::path& folder, const std::vector<JudgingData>& data,
                                        const JudgeOptions& options, const CommonOptions& common);

}  // namespace harmonium::cli
