// A number that says what it is: its value in nats, an interval, what kind of statement it makes, and how it was got.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace harmonium {

enum class EstimateKind {
  exact,              // by enumeration; the interval is the point itself
  unbiased_estimate,  // unbiased for Z, so its logarithm is low in expectation
  lower_bound,        // stochastic or deterministic lower bound
  upper_bound,
  estimated_lower_bound,  // a lower bound of which a part is estimated: mean field, with log Z from AIS
  estimate,               // none of the above can be claimed, e.g. log-likelihood from an estimated log Z
};

[[nodiscard]] std::string to_string(EstimateKind kind);

struct Estimate {
  double value = 0;
  double low = 0, high = 0;  // 95 % interval
  EstimateKind kind = EstimateKind::estimate;
  std::string method;                  // "exact (2^20 hidden states)", "ais"
  std::int64_t chains = 0, betas = 0;  // zero where they do not apply
  // Of the importance weights, where there are any (see weights.h).
  std::optional<double> effective_samples = std::nullopt, largest_weight = std::nullopt, pareto_k = std::nullopt;
};

}  // namespace harmonium
