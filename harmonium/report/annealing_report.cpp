#include "harmonium/report/annealing_report.h"

#include <algorithm>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
#include "harmonium/likelihood/log_likelihood.h"

namespace harmonium {

namespace {

std::string signed_number(double value) { return format("{}{}", value > 0 ? "+" : "", fixed_number(value, 2)); }

Chart curves(const AnnealingStudy& study) {
  Chart chart{.id = "likelihood",
              .title = "Log-likelihood against the number of β",
              .x_label = "number of β",
              .y_label = "log-likelihood, nats per row",
              .log_x = true,
              .series = {},
              .caption =
                  "Bands are 95 % intervals. AIS errs upwards. RAISE and reverse AIS err downwards if they start from "
                  "rows that are like draws of the model; then, where the two sides meet, both are right."};
  int colour = 0;
  for (const std::string& method : study.methods) {
    Series series{.name = annealing_method_name(method), .x = {}, .y = {}, .low = {}, .high = {}, .colour = ++colour};
    for (const std::int64_t number : study.betas)
      if (const Estimate* log_z = study.find(method, number)) {
        const Estimate value = study.likelihood(*log_z);
        series.x.push_back(static_cast<double>(number));
        series.y.push_back(value.value);
        series.low.push_back(value.low);
        series.high.push_back(value.high);
      }
    chart.series.push_back(std::move(series));
  }
  const double exact = study.likelihood(study.exact).value;
  chart.series.push_back({.name = "exact",
                          .x = {static_cast<double>(study.betas.front()), static_cast<double>(study.betas.back())},
                          .y = {exact, exact},
                          .low = {},
                          .high = {},
                          .dashed = true,
                          .colour = 7});
  return chart;
}

// Those whose effective samples are worth a look.
std::vector<std::string> weighted_methods(const AnnealingStudy& study) {
  std::vector<std::string> methods;
  for (const std::string& method : study.methods)
    if (method == "ais" || method == "ma-ais") methods.push_back(method);
  return methods;
}

Table errors(const AnnealingStudy& study) {
  Table table{.id = "errors",
              .title = "Errors of the log-likelihood, nats",
              .caption = "Difference to the exact value; above zero the estimate is too high.",
              .header = {"β"},
              .rows = {}};
  for (const std::string& method : study.methods) table.header.push_back(annealing_method_name(method));
  for (const std::string& method : weighted_methods(study))
    table.header.push_back(format("effective samples of {}", annealing_method_name(method)));
  table.header.emplace_back("gap");
  for (const std::int64_t number : study.betas) {
    std::vector<std::string> row;
    row.push_back(format("{}", number));
    for (const std::string& method : study.methods) {
      const Estimate* log_z = study.find(method, number);
      row.push_back(log_z != nullptr ? signed_number(study.error(*log_z)) : "–");
    }
    for (const std::string& method : weighted_methods(study)) {
      const Estimate* log_z = study.find(method, number);
      row.push_back(log_z != nullptr && log_z->effective_samples
                        ? format("{:.1f} of {}", *log_z->effective_samples, log_z->chains)
                        : "–");
    }
    const std::optional<Sandwich> both = study.sandwich(number);
    row.push_back(both ? fixed_number(both->gap(), 2) : "–");
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table sentences(const AnnealingStudy& study) {
  Table table{.id = "verdicts",
              .title = "Verdict of the sandwich, without the exact value",
              .caption = "Last column: whether the exact value lies between the two, within 0.1 nats.",
              .header = {"verdict", "β", "from", "to", "exact is between"},
              .rows = {}};
  for (const std::int64_t number : study.betas)
    if (const std::optional<Sandwich> both = study.sandwich(number)) {
      constexpr double tolerance = 0.1;
      const bool between = study.error(both->lower) >= -tolerance && study.error(both->upper) <= tolerance;
      table.rows.push_back({study.verdict(*both), format("{}", number),
                            fixed_number(study.likelihood(both->upper).value, 2),
                            fixed_number(study.likelihood(both->lower).value, 2), between ? "yes" : "no"});
    }
  return table;
}

}  // namespace

std::string annealing_method_name(const std::string& method) {
  if (method == "ais") return "AIS";
  if (method == "ma-ais") return "moment-averaged AIS";
  if (method == "raise") return "RAISE";
  if (method == "reverse") return "reverse AIS";
  return method;
}

const Estimate* AnnealingStudy::find(const std::string& method, std::int64_t number) const {
  const auto found = std::ranges::find_if(
      measurements, [&](const AnnealingMeasurement& one) { return one.method == method && one.betas == number; });
  return found == measurements.end() ? nullptr : &found->log_z;
}

Estimate AnnealingStudy::likelihood(const Estimate& log_z) const {
  return log_likelihood(mean_log_unnormalized, log_z);
}

std::optional<Sandwich> AnnealingStudy::sandwich(std::int64_t number) const {
  const Estimate *lower = find("ais", number), *upper = find("raise", number);
  if (upper == nullptr) upper = find("reverse", number);
  if (lower == nullptr || upper == nullptr) return std::nullopt;
  return Sandwich{*lower, *upper};
}

std::string AnnealingStudy::verdict(const Sandwich& both) const {
  return harmonium::verdict(both, mean_log_unnormalized, acceptable);
}

ReportContent annealing_report(const AnnealingStudy& study) {
  ReportContent content;
  content.title = "Log-likelihood by several estimators";
  content.headline.emplace_back("exact log-likelihood",
                                fixed_number(study.likelihood(study.exact).value, 3) + " nats  " + study.data);
  for (const std::int64_t number : {study.betas.front(), study.betas.back()}) {
    const std::optional<Sandwich> both = study.sandwich(number);
    if (both && (content.headline.size() == 1 || study.betas.size() > 1))
      content.headline.emplace_back(format("gap at {} β", number),
                                    format("{} nats  AIS {}, {} {}", fixed_number(both->gap(), 2),
                                           fixed_number(study.likelihood(both->lower).value, 2),
                                           both->upper.method == "raise" ? "RAISE" : "reverse AIS",
                                           fixed_number(study.likelihood(both->upper).value, 2)));
  }
  content.charts.push_back(curves(study));
  content.tables.push_back(errors(study));
  if (Table table = sentences(study); !table.rows.empty()) content.tables.push_back(std::move(table));
  content.order = {ReportSection::charts, ReportSection::tables, ReportSection::configuration,
                   ReportSection::reproduce};
  content.footer = format("{}; annealed from {}.", study.model, study.base);
  return content;
}

}  // namespace harmonium
