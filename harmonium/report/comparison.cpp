#include "harmonium/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "harmonium/core/format.h"
#include "harmonium/core/number_text.h"
#include "harmonium/report/estimates.h"
#include "harmonium/report/monitor_curves.h"
#include "harmonium/report/protocols.h"
#include "harmonium/runs/run_folder.h"

namespace harmonium {

namespace {

// "mnist" and "test" of "mnist:test"; a path or a name alone has no part.
std::pair<std::string, std::string> set_and_part(const std::string& spec) {
  const std::size_t colon = spec.rfind(':');
  if (colon == std::string::npos) return {spec, ""};
  return {spec.substr(0, colon), spec.substr(colon + 1)};
}

bool is_training_part(const std::string& spec) {
  const std::string part = set_and_part(spec).second;
  return part == "train" || part == "fit" || part.empty();
}

// What may share a chart.
struct Group {
  std::string set, protocol;
  std::set<std::string> binarizations;                             // with their seeds
  std::map<std::string, std::int64_t> rows;                        // of each part
  std::vector<std::pair<std::size_t, const Evaluation*>> members;  // run and evaluation

  // Of the parts that judge the one that is drawn as a plain line: that of test data where there is one.
  [[nodiscard]] std::string judging_part() const {
    std::string chosen;
    for (const auto& [part, count] : rows)
      if (!part.empty() && part != "train" && part != "fit" && (chosen.empty() || part.starts_with("test")))
        chosen = part;
    return chosen;
  }
  [[nodiscard]] bool takes(const Evaluation& evaluation) const {
    const auto [its_set, part] = set_and_part(evaluation.data);
    const auto known = rows.find(part);
    return its_set == set && protocol_of(evaluation.binarization) == protocol &&
           (known == rows.end() || known->second == evaluation.n);
  }
};

std::vector<Group> groups_of(const std::vector<ComparedRun>& runs) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (const Evaluation& evaluation : runs[i].evaluations) {
      auto group = std::ranges::find_if(groups, [&](const Group& g) { return g.takes(evaluation); });
      const auto [set, part] = set_and_part(evaluation.data);
      if (group == groups.end())
        group = groups.insert(groups.end(), {set, protocol_of(evaluation.binarization), {}, {}, {}});
      group->binarizations.insert(evaluation.binarization);
      group->rows[part] = evaluation.n;
      group->members.emplace_back(i, &evaluation);
    }
  return groups;
}

// What tells a group from others of the same set; nothing where there are none.
std::string distinction(const Group& group, const std::vector<Group>& all) {
  if (std::ranges::count(all, group.set, &Group::set) == 1) return "";
  std::string rows;
  for (const auto& [part, n] : group.rows) rows += format(", {}{} rows", part.empty() ? "" : part + " ", n);
  return format(" ({}{})", group.protocol, rows);
}

std::string caption_of(const Group& group, const std::vector<Group>& all) {
  std::string parts;
  for (const auto& [part, rows] : group.rows)
    parts += format("{}{} rows{}", parts.empty() ? "" : ", ", rows, part.empty() ? "" : " of " + part);
  const bool one_draw = group.binarizations.size() == 1;
  std::string caption = format("Mean log-likelihood of {} ({}), binarization {}. Bands are 95 % intervals of log Z.",
                               group.set, parts, one_draw ? *group.binarizations.begin() : group.protocol);
  if (!one_draw) caption += " Series from different seeds differ by the spread between draws, too.";
  const auto doubtful =
      std::ranges::count_if(group.members, [](const auto& member) { return !judgement(*member.second).trusted; });
  if (doubtful > 0)
    caption += format(" {} of {} numbers are not trusted: their band is what they lie between, as far as is known.",
                      doubtful, group.members.size());
  const auto same_set = std::ranges::count(all, group.set, &Group::set);
  if (same_set > 1)
    caption += format(
        " There are {} pairs of charts of {}: numbers under another binarization, or of other rows, cannot be compared "
        "with these.",
        same_set, group.set);
  return caption;
}

// "seeds 0–4" of "stochastic (seeds 0–4)", which tells series of one run apart where a chart has several.
std::string seeds_of(const Evaluation& evaluation) {
  const std::size_t open = evaluation.binarization.find('(');
  if (open == std::string::npos) return "";
  return evaluation.binarization.substr(open + 1, evaluation.binarization.find(')') - open - 1);
}

std::string series_name(const std::vector<ComparedRun>& runs, std::size_t run, const std::string& data) {
  const std::string part = set_and_part(data).second;
  if (runs.size() == 1) return part.empty() ? data : part;
  return runs[run].name + (part.empty() ? "" : ", " + part);
}

// The interval; of a number that is not trusted its bracket, which may be open on a side.
std::pair<double, double> band(const Evaluation& evaluation) {
  const Judgement found = judgement(evaluation);
  const Estimate& value = *evaluation.log_likelihood;
  if (found.trusted && has_interval(value)) return {value.low, value.high};
  return {found.lower.value_or(value.value), found.upper.value_or(value.value)};
}

Chart likelihood_chart(const std::vector<ComparedRun>& runs, const std::vector<Expectation>& expected,
                       const Group& group, bool against_seconds) {
  Chart chart;
  chart.x_label = against_seconds ? "seconds of training" : "updates";
  chart.y_label = "nats per row";
  chart.log_x = true;
  std::map<std::pair<std::size_t, std::string>, Series> series;
  for (const auto& [run, evaluation] : group.members) {
    // Parts that judge come before those that were learnt from.
    const std::string draw = group.binarizations.size() > 1 ? ", " + seeds_of(*evaluation) : "";
    Series& one = series[{run, (is_training_part(evaluation->data) ? "1" : "0") + evaluation->data + draw}];
    one.name = series_name(runs, run, evaluation->data) + draw;
    one.dashed = is_training_part(evaluation->data);
    one.dotted = !one.dashed && set_and_part(evaluation->data).second != group.judging_part();
    one.colour = runs.size() == 1 ? 0 : static_cast<int>(run) + 1;
    one.x.push_back(against_seconds ? evaluation->seconds : static_cast<double>(evaluation->updates));
    one.y.push_back(evaluation->log_likelihood->value);
    const auto [low, high] = band(*evaluation);
    one.low.push_back(low);
    one.high.push_back(high);
  }
  for (auto& [key, one] : series) chart.series.push_back(std::move(one));
  if (against_seconds) return chart;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    std::map<std::string, Series> by_data;
    for (const Expectation& each : expected) {
      // What is expected of the model that is kept has no place among updates.
      if (each.updates == 0 || each.run != runs[run].name || set_and_part(each.data).first != group.set ||
          !group.rows.contains(set_and_part(each.data).second))
        continue;
      Series& one = by_data[each.data];
      one.name = series_name(runs, run, each.data) + ", expected";
      one.dashed = one.marked = true;
      one.colour = static_cast<int>(run) + 1;
      one.x.push_back(static_cast<double>(each.updates));
      one.y.push_back(each.value);
    }
    for (auto& [data, one] : by_data) chart.series.push_back(std::move(one));
  }
  return chart;
}

// Curves of metrics that every run has, where all have watched the same.
std::vector<Chart> shared_monitor_charts(const std::vector<ComparedRun>& runs) {
  std::vector<Chart> charts;
  for (const ComparedRun& run : runs)
    if (run.watched != runs.front().watched) return charts;
  for (const MonitorCurve& curve : monitor_curves()) {
    Chart chart = monitor_chart(curve);
    chart.log_x = true;
    for (const ComparedRun& run : runs) {
      Series series = monitor_series(curve, run.name, run.metrics);
      if (!series.x.empty()) chart.series.push_back(std::move(series));
    }
    if (chart.series.size() == runs.size()) charts.push_back(std::move(chart));
  }
  return charts;
}

std::string signed_number(double value, int decimals) {
  return (value >= 0 ? "+" : "") + fixed_number(value, decimals);
}

std::string place_of(const Expectation& expected) {
  if (expected.updates == 0) return format("{}, {}", expected.run, expected.data);
  return format("{}, {} updates, {}", expected.run, expected.updates, expected.data);
}

std::string expected_text(const Expectation& expected) {
  return format("expected {} ± {}", short_number(expected.value), short_number(expected.tolerance));
}

}  // namespace

ComparedRun compared_run(const std::filesystem::path& folder, const std::string& name) {
  ComparedRun run;
  run.name = name;
  run.folder = folder.string();
  run.metrics = MetricsLog(RunFolder(folder).metrics()).read();
  std::map<std::tuple<std::string, std::int64_t, std::string, std::int64_t>, Evaluation> best;
  for (Evaluation& evaluation : read_evaluations(folder)) {
    if (!evaluation.log_likelihood) continue;
    if (evaluation.updates == 0 && !run.metrics.empty()) {
      evaluation.updates = run.metrics.back().update;
      evaluation.seconds = run.metrics.back().seconds;
    }
    const auto question = std::tuple(evaluation.data, evaluation.n, evaluation.binarization, evaluation.updates);
    const auto old = best.find(question);
    if (old == best.end() || at_least_as_good(evaluation, old->second)) best[question] = std::move(evaluation);
  }
  for (auto& [question, evaluation] : best) run.evaluations.push_back(std::move(evaluation));
  return run;
}

bool is_about(const Expectation& expected, const std::string& run, const Evaluation& evaluation) {
  return expected.run == run && expected.data == evaluation.data &&
         (expected.updates == 0 || expected.updates == evaluation.updates);
}

bool Verdict::met() const { return measured && std::abs(difference()) <= expected.tolerance; }

std::string Verdict::sentence() const {
  if (!measured) return format("{}: {}: not measured", place_of(expected), expected_text(expected));
  const Judgement found = judgement(*measured);
  return format("{}: {}, {}, difference {}: {}", place_of(expected),
                found.trusted ? fixed_number(measured->log_likelihood->value, 2) : in_words(found),
                expected_text(expected), signed_number(difference(), 2), met() ? "within tolerance" : "MISSED");
}

std::vector<Verdict> verdicts(const std::vector<ComparedRun>& runs, const std::vector<Expectation>& expected) {
  std::vector<Verdict> result;
  for (const Expectation& each : expected) {
    result.push_back({each, std::nullopt});
    for (const ComparedRun& run : runs)
      for (const Evaluation& evaluation : run.evaluations)
        if (is_about(each, run.name, evaluation)) result.back().measured = evaluation;
  }
  return result;
}

std::vector<Chart> likelihood_charts(const std::vector<ComparedRun>& runs, const std::vector<Expectation>& expected) {
  std::vector<Chart> charts;
  const std::vector<Group> groups = groups_of(runs);
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const bool against_seconds : {false, true}) {
      Chart chart = likelihood_chart(runs, expected, groups[i], against_seconds);
      chart.id = format("log-likelihood-{}-{}", i + 1, against_seconds ? "seconds" : "updates");
      chart.title = format("Log-likelihood of {}{} against {}", groups[i].set, distinction(groups[i], groups),
                           against_seconds ? "training time" : "updates");
      chart.caption = caption_of(groups[i], groups);
      charts.push_back(std::move(chart));
    }
  return charts;
}

ReportContent comparison_report(const std::vector<ComparedRun>& runs, const std::vector<Expectation>& expected) {
  ReportContent content;
  std::string names;
  for (const ComparedRun& run : runs) names += (names.empty() ? "" : ", ") + run.name;
  content.title = format("{} run{}, side by side", runs.size(), runs.size() == 1 ? "" : "s");
  content.subtitle = names;
  for (const Verdict& verdict : verdicts(runs, expected)) {
    std::string value = format("–  {}  not measured", expected_text(verdict.expected));
    if (verdict.measured) {
      const Judgement found = judgement(*verdict.measured);
      value = format("{}  {}  difference {}  {}",
                     found.trusted ? format("{} nats  {}", fixed_number(verdict.measured->log_likelihood->value, 2),
                                            describe(*verdict.measured->log_likelihood).interval)
                                   : headline(*verdict.measured),
                     expected_text(verdict.expected), signed_number(verdict.difference(), 2),
                     verdict.met() ? "within tolerance" : "MISSED");
    }
    content.headline.emplace_back(place_of(verdict.expected), value);
  }
  content.charts = likelihood_charts(runs, expected);
  for (Chart& chart : shared_monitor_charts(runs)) content.charts.push_back(std::move(chart));
  std::string folders;
  for (const ComparedRun& run : runs) {
    folders += " " + run.folder;
    for (const Evaluation& evaluation : run.evaluations) {
      content.estimates.push_back(
          {format("{}, {} updates, {}", run.name, evaluation.updates, evaluation.data), *evaluation.log_likelihood,
           format("{}{} s of training; {} rows, binarization {}",
                  run.optimizer.empty() || run.optimizer == run.name ? "" : run.optimizer + "; ",
                  short_number(evaluation.seconds), evaluation.n, evaluation.binarization),
           judgement(evaluation)});
      content.estimates.back().estimate.chains = evaluation.way().chains;
      content.estimates.back().estimate.betas = evaluation.way().betas;
    }
    if (run.evaluations.empty()) {
      content.reproduce.push_back(format("# {} was not judged yet:", run.name));
      content.reproduce.push_back(run.judge_command);
    }
  }
  content.reproduce.push_back("harmonium compare" + folders);
  content.footer =
      "Log-likelihoods are in nats per row. Numbers under different binarizations are not comparable. Seconds count "
      "updates only, not measuring and saving.";
  content.order = {ReportSection::charts, ReportSection::estimates, ReportSection::configuration,
                   ReportSection::reproduce};
  return content;
}

}  // namespace harmonium
