// What a look at a model's Fisher information has found: as JSON, and as a page with table, spectrum and pictures.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/core/topology.h"
#include "harmonium/geometry/fisher_study.h"
#include "harmonium/report/report.h"

namespace harmonium {

struct FisherResult {
  std::string model = {};
  bool exact = true;
  std::int64_t dimension = 0;
  double damping = 0;
  double states = 0;                     // exact: enumerated
  std::int64_t samples = 0, sweeps = 0;  // sampled
  std::uint64_t seed = 0;
  std::vector<Approximation> approximations = {};
  at::Tensor eigenvalues = {};           // largest first: all of them, or as many as were asked for
  at::Tensor covariance_fractions = {};  // of the same eigenvectors
  at::Tensor vectors = {};               // dimension × a few: those that are shown
  Topology topology = {};
  Moments mean = {};
  std::optional<ImageShape> image = std::nullopt;
};

[[nodiscard]] nlohmann::ordered_json to_json(const FisherResult& result);

// One row per eigenvector: its visible part, its hidden part and its weights, hidden unit by hidden unit (those with
// the largest weights where there are many). Red and blue are the two signs; the weights of a row share one scale.
[[nodiscard]] Picture eigenvector_picture(const FisherResult& result);

[[nodiscard]] ReportContent fisher_report(const FisherResult& result);

// What an approximation is, in words.
[[nodiscard]] std::string describe_approximation(const std::string& name);

}  // namespace harmonium
