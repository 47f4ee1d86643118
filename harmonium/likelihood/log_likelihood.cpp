#include "harmonium/likelihood/log_likelihood.h"

namespace harmonium {

Estimate log_likelihood(double mean_log_f, const Estimate& log_z, bool log_f_exact) {
  Estimate result = log_z;
  result.value = mean_log_f - log_z.value;
  result.low = mean_log_f - log_z.high;
  result.high = mean_log_f - log_z.low;
  if (!log_f_exact) {
    const bool bound = log_z.kind == EstimateKind::exact || log_z.kind == EstimateKind::upper_bound;
    result.kind = bound ? EstimateKind::lower_bound : EstimateKind::estimated_lower_bound;
    result.method = "mean field, " + log_z.method;
    return result;
  }
  switch (log_z.kind) {
    case EstimateKind::exact:
      break;
    case EstimateKind::lower_bound:
      result.kind = EstimateKind::upper_bound;
      break;
    case EstimateKind::upper_bound:
      result.kind = EstimateKind::lower_bound;
      break;
    default:
      result.kind = EstimateKind::estimate;
  }
  return result;
}

}  // namespace harmonium
