#include "harmonium/experiments/judged_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/run.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium {

namespace {

ErrorBound error_bound(const ExperimentFile& file, const toml::table& table, const std::vector<PlannedRun>& runs) {
  ErrorBound bound;
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    const auto take = [&, &key = key, &node = node](std::string_view name, auto& field) {
      if (key.str() == name) assign_toml(field, node, where);
      return key.str() == name;
    };
    require(take("run", bound.run) || take("at_most", bound.at_most) || take("source", bound.source),
            "{}: no such entry; there are: run, at_most, source", where);
  }
  require(std::ranges::any_of(runs, [&](const PlannedRun& run) { return run.name == bound.run; }),
          "{}, line {}: there is no run '{}' to expect something of", file.source, table.source().begin.line,
          bound.run);
  return bound;
}

}  // namespace

std::string ErrorBound::verdict(double found) const {
  return format("≤ {}: {}", at_most, found <= at_most + 1e-9 ? "met" : "MISSED");
}

const ErrorBound* JudgedRuns::bound_of(const std::string& run) const {
  const auto found = std::ranges::find(expected, run, &ErrorBound::run);
  return found == expected.end() ? nullptr : &*found;
}

JudgedRuns parse_judged_runs(const ExperimentFile& file, bool quick, RunConfig config) {
  JudgedRuns experiment;
  toml::table shorter;
  for (const auto& [key, node] : file.table) {
    const std::string where = place_in(file.source, key.str(), node);
    if (key == "config")
      assign_config(config, as_table(node, where), file.source, TableOf::several_runs);
    else if (key == "quick")
      shorter = as_table(node, where);
    else if (key == "test")
      assign_toml(experiment.test, node, where);
    else
      require(take_time(experiment.time, key.str(), node, where) || key == "kind" || key == "title" ||
                  key == "question" || key == "run" || key == "expected",
              "{}: no such entry of a {} experiment", where, file.kind);
  }
  take_quick_time(file, shorter, quick, experiment.time);
  for (const toml::table* table : tables_of(file, "run")) {
    PlannedRun run = planned_run(file, *table, config);
    RunConfig short_config = run.config;
    assign_config(short_config, shorter, file.source, TableOf::several_runs);  // wrong keys show without --quick too
    forget_foreign_options(short_config);
    if (quick) run.config = short_config;
    experiment.runs.push_back(std::move(run));
  }
  require(!experiment.runs.empty(), "{}: there is no [[run]]", file.source);
  require(!experiment.test.empty(), "{}: `test = \"…\"` must name the data to judge by", file.source);
  for (const toml::table* table : tables_of(file, "expected"))
    experiment.expected.push_back(error_bound(file, *table, experiment.runs));
  if (quick) experiment.expected.clear();  // they are about the whole of it
  return experiment;
}

void begin_experiment(const ExperimentFile& file, const ReproduceOptions& options, const ExpectedTime& time) {
  watch_interrupts();
  if (options.common.json) return;
  fmt::print(stderr, "{}{}\n{}\n", file.title, options.quick ? " (quick)" : "", file.question);
  time.say();
}

bool train_if_needed(ExperimentRun& run, std::size_t place, std::size_t count, const SessionOptions& common) {
  apply(common);  // threads, which smaller work may have limited
  std::optional<RunData> data;
  if (!run.begun_with.empty()) {
    data = resolve(run.config);
    check_config(run.config, *data);
  }
  if (!is_trained(run.folder, run.config)) {
    const RunResult result = train_with_bar(run.folder, run.config, data ? *data : resolve(run.config), common,
                                            format("training {}, run {} of {}:", run.name, place + 1, count));
    if (!result.finished) return false;
  }
  run.seconds = seconds_of_run(run.folder);
  return true;
}

}  // namespace harmonium
