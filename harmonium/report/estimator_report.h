// What the laboratory of gradient estimators has found (gradients/objectives/estimator_study.h): as JSON, as lines of
// text and as a page with tables and curves against the number of draws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "harmonium/gradients/objectives/estimator_study.h"
#include "harmonium/report/report.h"

namespace harmonium {

struct EstimatorResult {
  std::string model, data;
  std::uint64_t seed = 0;
  std::int64_t repetitions = 0;
  EstimatorStudy study;
};

[[nodiscard]] nlohmann::ordered_json to_json(const EstimatorResult& result);
// One for the generative parameters, one for those of recognition.
[[nodiscard]] Table estimator_table(const EstimatorResult& result, bool recognition);
[[nodiscard]] ReportContent estimator_report(const EstimatorResult& result);
// "all 64 latent states enumerated", "400 estimates of each".
[[nodiscard]] std::string how_measured(const EstimatorResult& result);

}  // namespace harmonium
