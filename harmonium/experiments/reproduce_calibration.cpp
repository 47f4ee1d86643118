// kind = "calibration": do the estimates of log Z keep their promises on many random machines?
//
//   machines, visible, hidden, weakest, stiffest, chains, betas, ladder, ladder_chains, rows, seed
//                as in likelihood/calibration.h, with its defaults;  [quick] the same, for --quick
// What is expected is promised by the estimators themselves (report/calibration_report.h), so the file does not say it.
#include <fmt/core.h>

#include <algorithm>

#include "harmonium/core/number_text.h"
#include "harmonium/experiments/experiment_file.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/report/calibration_report.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/progress.h"

namespace harmonium {

namespace {

void assign_calibration(CalibrationOptions& options, const toml::table& table, const ExperimentFile& file, bool top) {
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    const auto take = [&, &key = key, &node = node](std::string_view name, auto& field) {
      if (key.str() == name) assign_toml(field, node, where);
      return key.str() == name;
    };
    if (top && (key == "kind" || key == "title" || key == "question" || key == "quick")) continue;
    require(
        take("machines", options.machines) || take("visible", options.visible) || take("hidden", options.hidden) ||
            take("weakest", options.weakest) || take("stiffest", options.stiffest) || take("chains", options.chains) ||
            take("betas", options.betas) || take("ladder", options.ladder) ||
            take("ladder_chains", options.ladder_chains) || take("rows", options.rows) || take("seed", options.seed),
        "{}: no such entry of a calibration; there are: machines, visible, hidden, weakest, stiffest, chains, betas, "
        "ladder, ladder_chains, rows, seed and the table quick",
        where);
  }
}

CalibrationOptions parse_calibration(const ExperimentFile& file, bool quick) {
  CalibrationOptions options;
  assign_calibration(options, file.table, file, true);
  CalibrationOptions shorter = options;  // wrong keys show without --quick too
  if (const toml::node* node = file.table.get("quick"))
    assign_calibration(shorter, as_table(*node, place_in(file.source, "quick", *node)), file, false);
  for (const CalibrationOptions& each : {options, shorter}) {
    require(each.machines >= 1 && each.chains >= 2 && each.betas >= 1 && each.ladder_chains >= 1 && each.rows >= 1,
            "{}: machines, betas, ladder_chains and rows must be 1 or more, chains 2 or more", file.source);
    require(each.visible >= 1 && each.hidden >= 1 && std::min(each.visible, each.hidden) <= 20,
            "{}: machines must be small enough to enumerate: at most 20 units on one side", file.source);
    require(!each.ladder.empty() && each.ladder.front() >= 1 &&
                std::ranges::is_sorted(each.ladder, std::ranges::less_equal{}),
            "{}: ladder must increase from 1 or more", file.source);
  }
  return quick ? shorter : options;
}

nlohmann::ordered_json promise_rows(const std::vector<Promise>& all) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const Promise& one : all)
    rows.push_back({{"what", one.what + ", " + one.unit},
                    {"value", one.value},
                    {"low", one.low ? ordered_json(*one.low) : ordered_json(nullptr)},
                    {"high", one.high ? ordered_json(*one.high) : ordered_json(nullptr)},
                    {"kind", one.unit == "%" ? "coverage" : "mean over machines"},
                    {"expected", one.promised + (one.kept ? ": met" : ": MISSED")},
                    {"source", nullptr},
                    {"met", one.kept}});
  return rows;
}

}  // namespace

int reproduce_calibration(const ExperimentFile& file, const ReproduceOptions& options) {
  Calibration calibration{.options = parse_calibration(file, options.quick), .machines = {}};
  watch_interrupts();
  limit_threads(options.common, 0);
  if (!options.common.json)
    fmt::print(stderr, "{}{}\n{}\n", file.title, options.quick ? " (quick)" : "", file.question);
  try {
    ProgressBar bar("machines");
    calibration.options.progress = [&](std::int64_t done, std::int64_t total) {
      if (interrupted()) throw Interrupted("interrupted");
      bar.show(done, total, 0, "");
    };
    calibration.machines = calibrate(calibration.options);
  } catch (const Interrupted&) {
    fmt::print(stderr, "interrupted; nothing was written\n");
    return 130;
  }
  const std::vector<Promise> all = promises(calibration);
  ReportContent page = calibration_report(calibration);
  page.footer = page.subtitle + ".\n" + page.footer;
  const auto found = experiment_results(file, options, promise_rows(all), calibration.options.seed);
  return publish_experiment(file, options, found, std::move(page), [&] {
    for (const Promise& one : all)
      fmt::print("{:<72} {:>9} {:<5} promised {:<12} {}\n", one.what, fixed_number(one.value, 3), one.unit,
                 one.promised, one.kept ? "met" : "MISSED");
    fmt::print("of {} checks {} were met\n", all.size(), std::ranges::count_if(all, &Promise::kept));
  });
}

}  // namespace harmonium
