#include "harmonium/experiments/search_report.h"

#include <algorithm>
#include <cmath>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"

namespace harmonium {

namespace {

// Where a value is drawn along the axis: itself, or for texts its place in the list.
double place_on_axis(const SearchedOption& option, const SettingValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  const auto& values = std::get<Choices>(option.from).values;
  return static_cast<double>(std::ranges::find(values, value) - values.begin() + 1);
}

std::string axis_label(const SearchedOption& option) {
  std::string label = option.name;
  const auto* choices = std::get_if<Choices>(&option.from);
  if (choices == nullptr || !std::holds_alternative<std::string>(choices->values.front())) return label;
  for (std::size_t i = 0; i < choices->values.size(); ++i)
    label += format(", {}: {}", i + 1, value_text(choices->values[i]));
  return label;
}

// What a trial may be worse than the best by and still be drawn: four times what half of them are.
double drawn_distance(const SearchStudy& study, double best) {
  std::vector<double> distances;
  for (const StudiedRun& run : study.trials)
    if (run.score) distances.push_back(std::abs(*run.score - best));
  std::ranges::sort(distances);
  return 4 * distances[distances.size() / 2];
}

const SettingValue& setting_of(const StudiedRun& run, const std::string& name) {
  return std::ranges::find(run.settings, name, &Setting::name)->value;
}

Chart setting_chart(const SearchStudy& study, const SearchedOption& option) {
  Chart chart;
  chart.id = "search-" + option.name;
  chart.title = format("{} against {}", study.scale.name, option.name);
  chart.x_label = axis_label(option);
  chart.y_label = study.scale.axis();
  const auto* range = std::get_if<NumberRange>(&option.from);
  chart.log_x = range != nullptr && range->logarithmic;
  Series trials{.name = "trials", .x = {}, .y = {}, .low = {}, .high = {}, .unjoined = true};
  Series chosen{.name = "chosen", .x = {}, .y = {}, .low = {}, .high = {}, .marked = true};
  const double best = *study.trials[*study.chosen].score, most = drawn_distance(study, best);
  std::int64_t failed = 0, far = 0;
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const StudiedRun& run = study.trials[i];
    if (!run.score) {
      ++failed;
    } else if (std::abs(*run.score - best) > most) {
      ++far;
    } else {
      points.emplace_back(place_on_axis(option, setting_of(run, option.name)), *run.score);
      if (i == *study.chosen) {
        chosen.x = {points.back().first};
        chosen.y = {points.back().second};
      }
    }
  }
  std::ranges::sort(points);
  for (const auto& [x, y] : points) {
    trials.x.push_back(x);
    trials.y.push_back(y);
  }
  chart.series = {std::move(trials), std::move(chosen)};
  chart.caption = format("Each point is a trial, judged by {}.", study.valid);
  if (far > 0) chart.caption += format(" {} far worse than the others {} not shown.", far, far == 1 ? "is" : "are");
  if (failed > 0) chart.caption += format(" {} failed.", failed);
  return chart;
}

std::string column_title(const SearchedOption& option) {
  const auto* tie = std::get_if<SameAs>(&option.from);
  return tie == nullptr ? option.name : format("{} (as {})", option.name, tie->name);
}

Table runs_table(const SearchStudy& study, const std::string& id, const std::string& title,
                 const std::vector<const StudiedRun*>& runs) {
  Table table{
      .id = id, .title = title, .caption = "", .header = {"run", study.scale.name, "updates", "seconds"}, .rows = {}};
  for (const SearchedOption& option : study.space) table.header.push_back(column_title(option));
  for (const StudiedRun* run : runs) {
    std::vector<std::string> row = {run->name, run->score ? study.scale.text(*run->score) : "failed: " + run->failure,
                                    format("{}", run->updates), fixed_number(run->seconds, 2)};
    for (const SearchedOption& option : study.space) row.push_back(value_text(setting_of(*run, option.name)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string ScoreScale::text(double score) const {
  return percent ? fixed_number(100 * score, 2) + " %" : fixed_number(score, 3);
}

std::string ScoreScale::with_unit(double score) const { return percent ? text(score) : text(score) + " nats"; }

std::string ScoreScale::difference(double score) const {
  return percent ? fixed_number(100 * score, 2) + " percentage points" : fixed_number(score, 2) + " nats";
}

std::string ScoreScale::axis() const { return percent ? "fraction of rows" : "nats per row"; }

std::string ScoreScale::summary(const RunsSummary& runs) const {
  if (runs.n == 1) return format("{} in one run", with_unit(runs.mean));
  return format("mean {}, standard deviation {} over {} runs; 95 % interval of the mean [{}, {}]", with_unit(runs.mean),
                text(*runs.deviation), runs.n, text(runs.low), text(runs.high));
}

ScoreScale score_scale(const std::string& score) {
  if (score == "error") return {.name = "classification error", .lower_is_better = true, .percent = true};
  return {.name = score == "log_likelihood" ? "log-likelihood" : "pseudo-log-likelihood"};
}

std::vector<const StudiedRun*> ranked(const SearchStudy& study) {
  std::vector<const StudiedRun*> order;
  for (const StudiedRun& run : study.trials) order.push_back(&run);
  std::ranges::stable_sort(order, [&](const StudiedRun* a, const StudiedRun* b) {
    if (!a->score || !b->score) return a->score.has_value() && !b->score;
    return study.scale.lower_is_better ? *a->score < *b->score : *a->score > *b->score;
  });
  return order;
}

std::vector<Chart> setting_charts(const SearchStudy& study) {
  std::vector<Chart> charts;
  if (!study.chosen) return charts;
  for (const SearchedOption& option : study.space)
    if (!std::holds_alternative<SameAs>(option.from)) charts.push_back(setting_chart(study, option));
  return charts;
}

ReportContent search_report(const SearchStudy& study) {
  ReportContent content;
  content.title = "Search";
  content.subtitle = format("{} trials, chosen by the {} of {}, tested by that of {}", study.trials.size(),
                            study.scale.name, study.valid, study.test);
  if (study.chosen) {
    const StudiedRun& best = study.trials[*study.chosen];
    content.headline.emplace_back(
        "chosen", format("{}  {}  {} of {}: {}", best.name, settings_text(without_ties(study.space, best.settings)),
                         study.scale.name, study.valid, study.scale.with_unit(*best.score)));
  }
  if (study.tested) {
    const RunsSummary& runs = *study.tested;
    std::string value =
        format("{}  mean of {} run{}", study.scale.with_unit(runs.mean), runs.n, runs.n == 1 ? "" : "s");
    if (runs.deviation)
      value += format("  standard deviation {}  95 % of the mean [{}, {}]", study.scale.text(*runs.deviation),
                      study.scale.text(runs.low), study.scale.text(runs.high));
    content.headline.emplace_back(study.scale.name + " of " + study.test, value);
  }
  content.charts = setting_charts(study);
  content.tables.push_back(runs_table(study, "trials", "Trials, the best first", ranked(study)));
  if (!study.tests.empty()) {
    std::vector<const StudiedRun*> tests;
    for (const StudiedRun& run : study.tests) tests.push_back(&run);
    content.tables.push_back(runs_table(study, "tests", "Tests: the chosen settings with other seeds", tests));
  }
  content.order = {ReportSection::charts, ReportSection::tables, ReportSection::configuration,
                   ReportSection::reproduce};
  content.footer =
      "The score of the best trial is optimistic, because it was selected by it; the mean of the tests is not. Interval "
      "of "
      "the mean: Student's, for runs with different seeds on the same data.";
  return content;
}

}  // namespace harmonium
