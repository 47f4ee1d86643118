#include "harmonium/experiments/training_experiment.h"

#include <algorithm>

#include "harmonium/families/registry.h"

namespace harmonium {

namespace {

// Top-level keys that [quick] may override too; false where the key is none of them.
bool assign_setting(TrainingExperiment& experiment, std::string_view key, const toml::node& node,
                    const std::string& where) {
  const auto take = [&, &key = key, &node = node](std::string_view name, auto& field) {
    if (key != name) return false;
    assign_toml(field, node, where);
    return true;
  };
  return take("test", experiment.test) || take("train", experiment.train) || take("method", experiment.method) ||
         take("train_limit", experiment.train_limit) || take("test_limit", experiment.test_limit) ||
         take("chains", experiment.chains) || take("betas", experiment.betas) ||
         take_time(experiment.time, key, node, where);
}

Expectation expectation(const ExperimentFile& file, const toml::table& table, const TrainingExperiment& experiment) {
  Expectation result;
  result.data = experiment.test;
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    const auto take = [&, &key = key, &node = node](std::string_view name, auto& field) {
      if (key.str() == name) assign_toml(field, node, where);
      return key.str() == name;
    };
    require(take("run", result.run) || take("data", result.data) || take("updates", result.updates) ||
                take("value", result.value) || take("tolerance", result.tolerance) || take("source", result.source),
            "{}: no such entry; there are: run, data, updates, value, tolerance, source", where);
  }
  const std::int64_t line = table.source().begin.line;
  require(std::ranges::any_of(experiment.runs, [&](const PlannedRun& run) { return run.name == result.run; }),
          "{}, line {}: the expectation is about run '{}', and there is no such run", file.source, line, result.run);
  require(table.contains("updates") && table.contains("value"), "{}, line {}: an expectation needs updates and a value",
          file.source, line);
  return result;
}

}  // namespace

PlannedRun planned_run(const ExperimentFile& file, toml::table table, RunConfig config) {
  const toml::node* name = table.get("name");
  require(name != nullptr, "{}, line {}: every [[run]] needs a name", file.source, table.source().begin.line);
  PlannedRun run;
  assign_toml(run.name, *name, place_in(file.source, "name", *name));
  const bool good = !run.name.empty() && std::ranges::all_of(run.name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
  require(good, "{}: the name of a run becomes a folder; use letters, digits, - and _",
          place_in(file.source, "name", *name));
  table.erase("name");
  assign_config(config, table, file.source);
  forget_foreign_options(config);  // a shared table may have options of other runs' families
  keep_last_unless_told(config);
  run.config = config;
  return run;
}

bool begin_with_run_above(RunConfig& config, const std::vector<std::string>& above, const std::filesystem::path& out) {
  if (std::ranges::find(above, config.start) == above.end()) return false;
  config.start = (out / config.start).string();
  return true;
}

void place_runs(std::vector<PlannedRun>& runs, const SessionOptions& common) {
  if (common.device == "cpu") return;  // what the file says, then
  for (PlannedRun& run : runs) {
    run.config.device = common.device;
    run.config.precision = common.precision;
  }
}

std::vector<JudgingData> TrainingExperiment::judging_data() const {
  std::vector<JudgingData> data = {{test, test_limit}};
  if (!train.empty()) data.push_back({train, train_limit});
  return data;
}

JudgeOptions TrainingExperiment::judge_options() const {
  JudgeOptions options;
  options.estimation.method = method;
  options.estimation.chains = chains;
  options.estimation.betas = betas;
  options.estimation.thorough = false;
  return options;
}

TrainingExperiment parse_training_experiment(const ExperimentFile& file, bool quick) {
  TrainingExperiment experiment;
  RunConfig config;
  config.snapshots = "log";
  toml::table quick_config;
  const std::vector<std::string_view> elsewhere = {"kind", "title", "question", "run", "expected"};
  for (const auto& [key, node] : file.table) {
    const std::string where = place_in(file.source, key.str(), node);
    if (key.str() == "config")
      assign_config(config, as_table(node, where), file.source, TableOf::several_runs);
    else if (key.str() == "quick")
      quick_config = as_table(node, where);
    else
      require(std::ranges::find(elsewhere, key.str()) != elsewhere.end() ||
                  assign_setting(experiment, key.str(), node, where),
              "{}: no such entry of a training experiment", where);
  }
  // After the loop above, which knows no order.
  const toml::table overrides = quick_config;
  for (const auto& [key, node] : overrides) {
    TrainingExperiment ignored;
    if (assign_setting(quick ? experiment : ignored, key.str(), node, place_in(file.source, key.str(), node)))
      quick_config.erase(key.str());
  }
  for (const toml::table* table : tables_of(file, "run")) {
    toml::table options = *table;
    bool judged = true;
    if (const toml::node* given = options.get("judged")) {
      assign_toml(judged, *given, place_in(file.source, "judged", *given));
      options.erase("judged");
    }
    PlannedRun run = planned_run(file, options, config);
    run.judged = judged;
    RunConfig short_config = run.config;
    assign_config(short_config, quick_config, file.source,
                  TableOf::several_runs);  // wrong keys show without --quick too
    forget_foreign_options(short_config);
    if (quick) run.config = short_config;
    require(std::ranges::find(experiment.runs, run.name, &PlannedRun::name) == experiment.runs.end(),
            "{}: there are two runs named '{}'", file.source, run.name);
    experiment.runs.push_back(std::move(run));
  }
  require(!experiment.runs.empty(), "{}: there is no [[run]]", file.source);
  require(std::ranges::any_of(experiment.runs, &PlannedRun::judged), "{}: no run is judged", file.source);
  require(!experiment.test.empty(), "{}: `test = \"…\"` must name the data to judge by", file.source);
  for (const toml::table* table : tables_of(file, "expected"))
    experiment.expected.push_back(expectation(file, *table, experiment));
  return experiment;
}

}  // namespace harmonium
