// NAME.results.json: what an experiment has measured, with where, when and by which commands, as scripts/results reads
// it for docs/results.md.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harmonium/experiments/experiment_file.h"
#include "harmonium/report/comparison.h"
#include "harmonium/report/report.h"

namespace harmonium {

// The processor, its threads and LibTorch; nothing that names the machine itself.
[[nodiscard]] std::string machine_text(const SessionOptions& common = {});
[[nodiscard]] std::string today();  // 2026-11-15

// The whole file for the given rows of "measured".
[[nodiscard]] nlohmann::ordered_json experiment_results(const ExperimentFile& file, const ReproduceOptions& options,
                                                        nlohmann::ordered_json measured, std::uint64_t seed);

// A row of "measured" for every answer of every run; expected and source are null where nothing is expected.
[[nodiscard]] nlohmann::ordered_json measured_rows(const std::vector<ComparedRun>& runs,
                                                   const std::vector<Expectation>& expected);

// The end of every experiment: writes NAME.results.json and the page, whose title and subtitle are the experiment's,
// and prints them as JSON or, for people, what `tell` prints and where the files are. Returns the exit code.
int publish_experiment(const ExperimentFile& file, const ReproduceOptions& options, const nlohmann::ordered_json& found,
                       ReportContent page, const std::function<void()>& tell);

}  // namespace harmonium
