#include "harmonium/report/calibration_report.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"

namespace harmonium {

namespace {

constexpr double least_coverage = 0.90, most_coverage = 0.99;
constexpr double machines_to_tell = 90;  // 0.95^90 = 1 %: with fewer, good intervals may all hold the truth by chance
constexpr double allowed_errors = 3;     // standard errors

std::vector<double> ladder_of(const Calibration& calibration) {
  return {calibration.options.ladder.begin(), calibration.options.ladder.end()};
}

// Wilson's interval of a proportion, which behaves near one too.
std::pair<double, double> proportion_interval(double part, double of) {
  constexpr double z = 1.96;
  const double share = part / of, centre = share + z * z / (2 * of), scale = 1 + z * z / of;
  const double half = z * std::sqrt(share * (1 - share) / of + z * z / (4 * of * of));
  return {(centre - half) / scale, (centre + half) / scale};
}

Promise coverage(const Calibration& calibration, Estimate CalibratedMachine::*which, const std::string& name) {
  const auto of = static_cast<double>(calibration.machines.size());
  const auto covered = static_cast<double>(calibration.covered(which));
  const auto [low, high] = proportion_interval(covered, of);
  const bool few = of < machines_to_tell;
  return {.what = format("{}: 95 % intervals that contain the exact log Z, {} of {}", name, covered, of),
          .value = 100 * covered / of,
          .low = 100 * low,
          .high = 100 * high,
          .promised = few ? format("at least {} %", 100 * least_coverage)
                          : format("{} to {} %", 100 * least_coverage, 100 * most_coverage),
          .kept = covered / of >= least_coverage && (few || covered / of <= most_coverage),
          .unit = "%"};
}

// side −1: not above zero; +1: not below.
void promise_side(std::vector<Promise>& all, const Calibration& calibration,
                  std::vector<double> CalibratedMachine::*which, const std::string& name, int side) {
  const std::vector<Calibration::Mean> means = calibration.means(which);
  for (std::size_t i = 0; i < means.size(); ++i) {
    const auto [value, error] = means[i];
    all.push_back({.what = format("{}, {} β: mean difference to the exact value", name, calibration.options.ladder[i]),
                   .value = value,
                   .low = value - 1.96 * error,
                   .high = value + 1.96 * error,
                   .promised = side < 0 ? "not above 0" : "not below 0",
                   .kept = side * value >= -allowed_errors * error,
                   .unit = "nats"});
  }
}

// The steps from rung to rung that go down by more than the noise of their difference; machines are the same.
Promise promise_rising(const Calibration& calibration) {
  const std::vector<Calibration::Mean> means = calibration.means(&CalibratedMachine::raise);
  bool rising = true;
  double least = 0;
  for (std::size_t i = 1; i < means.size(); ++i) {
    const double step = means[i].value - means[i - 1].value;
    rising = rising && step >= -allowed_errors * std::hypot(means[i].standard_error, means[i - 1].standard_error);
    least = i == 1 ? step : std::min(least, step);
  }
  return {.what = "RAISE: the smallest rise of its mean from one number of β to the next",
          .value = least,
          .promised = "never falls",
          .kept = rising,
          .unit = "nats"};
}

// Where the exact value lies in an interval: −1 at its low end, +1 at its high end.
Series places(const Calibration& calibration, Estimate CalibratedMachine::*which, const std::string& name, int colour) {
  Series series{.name = name, .x = {}, .y = {}, .low = {}, .high = {}, .colour = colour, .unjoined = true};
  for (const CalibratedMachine& machine : calibration.machines) {
    const Estimate& estimate = machine.*which;
    const double half = (estimate.high - estimate.low) / 2;
    series.x.push_back(machine.stiffness);
    series.y.push_back((machine.log_z - estimate.low - half) / half);
  }
  return series;
}

Series level(const Calibration& calibration, double y, const std::string& name) {
  const double first = calibration.machines.front().stiffness, last = calibration.machines.back().stiffness;
  return {.name = name, .x = {first, last}, .y = {y, y}, .low = {}, .high = {}, .dashed = true, .colour = 7};
}

Series ladder_series(const Calibration& calibration, std::vector<double> CalibratedMachine::*which,
                     const std::string& name, int colour) {
  Series series{.name = name, .x = ladder_of(calibration), .y = {}, .low = {}, .high = {}, .colour = colour};
  for (const auto& [value, error] : calibration.means(which)) {
    series.y.push_back(value);
    series.low.push_back(value - 2 * error);
    series.high.push_back(value + 2 * error);
  }
  return series;
}

Series exactly_zero(const Calibration& calibration) {
  const std::vector<double> ladder = ladder_of(calibration);
  return {.name = "exact",
          .x = {ladder.front(), ladder.back()},
          .y = {0, 0},
          .low = {},
          .high = {},
          .dashed = true,
          .colour = 7};
}

}  // namespace

std::int64_t Calibration::covered(Estimate CalibratedMachine::*which) const {
  return std::ranges::count_if(machines, [&](const CalibratedMachine& one) { return one.covered_by(one.*which); });
}

std::vector<Calibration::Mean> Calibration::means(std::vector<double> CalibratedMachine::*which) const {
  std::vector<Mean> result(options.ladder.size());
  const auto n = static_cast<double>(machines.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    double sum = 0, squares = 0;
    for (const CalibratedMachine& one : machines) sum += (one.*which)[i];
    for (const CalibratedMachine& one : machines) squares += std::pow((one.*which)[i] - sum / n, 2);
    result[i] = {sum / n, n > 1 ? std::sqrt(squares / (n - 1) / n) : 0};
  }
  return result;
}

std::vector<Promise> promises(const Calibration& calibration) {
  std::vector<Promise> all = {coverage(calibration, &CalibratedMachine::ais, "AIS"),
                              coverage(calibration, &CalibratedMachine::reverse_ais, "reverse AIS")};
  promise_side(all, calibration, &CalibratedMachine::forward, "AIS", -1);
  promise_side(all, calibration, &CalibratedMachine::reverse, "reverse AIS", 1);
  promise_side(all, calibration, &CalibratedMachine::raise, "RAISE", -1);
  all.push_back(promise_rising(calibration));
  return all;
}

ReportContent calibration_report(const Calibration& calibration) {
  const CalibrationOptions& options = calibration.options;
  const std::vector<Promise> all = promises(calibration);
  const auto machines = static_cast<double>(calibration.machines.size());
  ReportContent content;
  content.title = "Are the estimates calibrated?";
  content.subtitle =
      format("{} random machines with {} visible and {} hidden units, weights from N(0, {}²) to N(0, {}²)", machines,
             options.visible, options.hidden, options.weakest, options.stiffest);
  for (const auto& [name, which] : {std::pair{"intervals of AIS", &CalibratedMachine::ais},
                                    {"intervals of reverse AIS", &CalibratedMachine::reverse_ais}}) {
    const std::int64_t covered = calibration.covered(which);
    content.headline.emplace_back(name, format("{} of {}  {:.1f} % contain the exact value, nominally 95 %", covered,
                                               machines, 100 * static_cast<double>(covered) / machines));
  }
  const auto kept = std::ranges::count_if(all, &Promise::kept);
  content.headline.emplace_back("promises", format("{} of {} kept", kept, all.size()));

  content.charts.push_back(
      {.id = "coverage",
       .title = "Where the exact log Z lies in each 95 % interval",
       .x_label = "standard deviation of the weights",
       .y_label = "−1: low end of the interval, +1: high end",
       .log_x = true,
       .series = {places(calibration, &CalibratedMachine::ais, "AIS", 1),
                  places(calibration, &CalibratedMachine::reverse_ais, "reverse AIS", 2),
                  level(calibration, 1, "high end"), level(calibration, -1, "low end")},
       .caption = format("One point for each machine and method, {} chains × {} β. Between the dashed lines the "
                         "interval contains the exact value; about one in twenty should lie outside.",
                         options.chains, options.betas)});
  content.charts.push_back(
      {.id = "bias",
       .title = "log Z by AIS from below, by reverse AIS from above",
       .x_label = "number of β",
       .y_label = "mean difference to the exact log Z, nats",
       .log_x = true,
       .series = {ladder_series(calibration, &CalibratedMachine::forward, "AIS", 1),
                  ladder_series(calibration, &CalibratedMachine::reverse, "reverse AIS", 2), exactly_zero(calibration)},
       .caption = format("Mean over the machines with two standard errors; {} chains each, so "
                         "few that the biases show.",
                         options.ladder_chains)});
  content.charts.push_back(
      {.id = "raise",
       .title = "The log-likelihood by RAISE from below",
       .x_label = "number of β",
       .y_label = "mean difference to the exact log-likelihood, nats",
       .log_x = true,
       .series = {ladder_series(calibration, &CalibratedMachine::raise, "RAISE", 4), exactly_zero(calibration)},
       .caption = format("Mean over the machines with two standard errors; {} rows drawn from "
                         "each machine, one chain for each row.",
                         options.rows)});
  Table table{.id = "promises",
              .title = "Promises",
              .caption = "Means within three standard errors.",
              .header = {"what", "measured", "95 % interval", "promised", ""},
              .rows = {}};
  for (const Promise& one : all) {
    const int decimals = one.unit == "%" ? 1 : 3;
    table.rows.push_back(
        {one.what, fixed_number(one.value, decimals) + " " + one.unit,
         one.low ? format("[{}, {}]", fixed_number(*one.low, decimals), fixed_number(*one.high, decimals)) : "",
         one.promised, one.kept ? "met" : "MISSED"});
  }
  content.tables.push_back(std::move(table));
  content.order = {ReportSection::charts, ReportSection::tables, ReportSection::configuration,
                   ReportSection::reproduce};
  content.footer =
      "The exact log Z is enumerated. Reverse AIS and RAISE start from exact draws of each machine: the bounds they "
      "give hold for such starts.";
  return content;
}

}  // namespace harmonium
