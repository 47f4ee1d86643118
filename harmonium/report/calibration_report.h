// Whether estimates keep their promises, as numbers with what was promised, and as a page.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonium/likelihood/calibration.h"
#include "harmonium/report/report.h"

namespace harmonium {

// One promise and how it was kept. `unit` follows the numbers: "%" or "nats".
struct Promise {
  std::string what;
  double value = 0;
  std::optional<double> low = std::nullopt, high = std::nullopt;  // 95 % interval of what was measured
  std::string promised;                                           // "90 to 99 %"
  bool kept = false;
  std::string unit;
};

struct Calibration {
  CalibrationOptions options;
  std::vector<CalibratedMachine> machines;

  [[nodiscard]] std::int64_t covered(Estimate CalibratedMachine::*which) const;
  // Over machines, for each number of β in the ladder.
  struct Mean {
    double value = 0, standard_error = 0;
  };
  [[nodiscard]] std::vector<Mean> means(std::vector<double> CalibratedMachine::*which) const;
};

// Intervals of 95 % cover the truth for 90 to 99 % of the machines; AIS is not above the truth on average at any number
// of β, reverse AIS not below; RAISE is not above, and more β never make it worse; all within three standard errors.
[[nodiscard]] std::vector<Promise> promises(const Calibration& calibration);

[[nodiscard]] ReportContent calibration_report(const Calibration& calibration);

}  // namespace harmonium
