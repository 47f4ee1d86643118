// One model, several numbers of β, several estimators side by side, with the exact value to hold them against.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonium/likelihood/sandwich.h"
#include "harmonium/report/report.h"

namespace harmonium {

struct AnnealingMeasurement {
  std::string method;  // ais, ma-ais, raise, reverse
  std::int64_t betas = 0;
  Estimate log_z;
};

struct AnnealingStudy {
  std::string model;                 // "60 visible and 20 hidden units"
  std::string data;                  // "300 rows of digits:test, stochastic (seed 0)"
  std::string base;                  // what annealing starts from
  Estimate exact;                    // log Z
  double mean_log_unnormalized = 0;  // of the data: turns log Z into their log-likelihood
  double acceptable = 0.5;           // nats that two bounds may differ by and still agree
  std::vector<std::int64_t> betas = {};
  std::vector<std::string> methods = {};
  std::vector<AnnealingMeasurement> measurements = {};

  // Null where it was not measured.
  [[nodiscard]] const Estimate* find(const std::string& method, std::int64_t number) const;
  [[nodiscard]] Estimate likelihood(const Estimate& log_z) const;
  // Of the log-likelihood, in nats; above zero: the method flatters the model.
  [[nodiscard]] double error(const Estimate& log_z) const { return exact.value - log_z.value; }
  // AIS with RAISE, or with reverse AIS where there is no RAISE.
  [[nodiscard]] std::optional<Sandwich> sandwich(std::int64_t number) const;
  [[nodiscard]] std::string verdict(const Sandwich& both) const;
};

// "AIS", "moment-averaged AIS", "RAISE", "reverse AIS".
[[nodiscard]] std::string annealing_method_name(const std::string& method);

[[nodiscard]] ReportContent annealing_report(const AnnealingStudy& study);

}  // namespace harmonium
