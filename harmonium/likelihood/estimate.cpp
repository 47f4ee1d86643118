#include "harmonium/likelihood/estimate.h"

namespace harmonium {

std::string to_string(EstimateKind kind) {
  switch (kind) {
    case EstimateKind::exact:
      return "exact";
    case EstimateKind::unbiased_estimate:
      return "unbiased estimate of Z";
    case EstimateKind::lower_bound:
      return "lower bound";
    case EstimateKind::upper_bound:
      return "upper bound";
    case EstimateKind::estimated_lower_bound:
      return "estimate of a lower bound";
    case EstimateKind::estimate:
      return "estimate";
  }
  return "unknown";
}

}  // namespace harmonium
