#include "harmonium/experiments/search_experiment.h"
#include "harmonium/families/registry.h"

#include <algorithm>
#include <cctype>

namespace harmonium {

namespace {

// Top-level keys that [quick] may override too; false where the key is none of them.
bool assign_experiment_setting(SearchExperiment& experiment, std::string_view key, const toml::node& node,
                               const std::string& where) {
  if (key == "seconds") {
    assign_toml(experiment.seconds, node, where);
    require(!experiment.seconds.empty(), "{}: the list is empty", where);
    for (const double each : experiment.seconds)
      require(each > 0, "{}: {} is not a positive training time", where, each);
    std::ranges::sort(experiment.seconds);
    return true;
  }
  if (key == "minutes") {
    assign_toml(experiment.minutes, node, where);
    return true;
  }
  return assign_search_option(experiment.options, key, node, where);
}

SearchVariant variant_of(const ExperimentFile& file, toml::table table, const RunConfig& config,
                         const SearchSpace& ranges) {
  const toml::node* name = table.get("name");
  require(name != nullptr, "{}, line {}: every [[variant]] needs a name", file.source, table.source().begin.line);
  SearchVariant variant;
  assign_toml(variant.name, *name, place_in(file.source, "name", *name));
  const bool good = !variant.name.empty() && std::ranges::all_of(variant.name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == ' ';
  });
  require(good, "{}: the name of a variant becomes a folder; use letters, digits, spaces, - and _",
          place_in(file.source, "name", *name));
  variant.plan.config = config;
  variant.plan.space = ranges;
  if (const toml::node* own = table.get("ranges"))
    assign_ranges(variant.plan.space, as_table(*own, place_in(file.source, "ranges", *own)), file.source);
  table.erase("name");
  table.erase("ranges");
  assign_config(variant.plan.config, table, file.source);
  return variant;
}

// `needed` and `allowed` are its keys; every one but texts and numbers of its own is a variant.
SearchExpectation expectation_of(const ExperimentFile& file, const toml::table& table,
                                 const SearchExperiment& experiment, const std::vector<std::string>& needed,
                                 bool quick) {
  SearchExpectation result;
  const std::int64_t line = table.source().begin.line;
  for (const std::string& key : needed)
    require(table.contains(key), "{}, line {}: an expectation of this kind needs `{}`", file.source, line, key);
  const auto is_variant = [&](const std::string& name) {
    return std::ranges::any_of(experiment.variants, [&](const SearchVariant& each) { return each.name == name; });
  };
  for (const auto& [key, node] : table) {
    const std::string where = place_in(file.source, key.str(), node);
    const auto take = [&, &key = key, &node = node](std::string_view name, auto& field) {
      if (key.str() != name) return false;
      assign_toml(field, node, where);
      return true;
    };
    const bool own = std::ranges::find(needed, key.str()) != needed.end() || key.str() == "seconds" ||
                     key.str() == "source" || (key.str() == "tolerance" && table.contains("value"));
    require(own && (take("variant", result.variant) || take("better", result.variant) || take("than", result.than) ||
                    take("option", result.option) || take("seconds", result.seconds) || take("value", result.value) ||
                    take("tolerance", result.tolerance) || take("source", result.source)),
            "{}: no such entry of an expectation", where);
  }
  require(is_variant(result.variant), "{}, line {}: there is no variant '{}'", file.source, line, result.variant);
  require(result.than.empty() || is_variant(result.than), "{}, line {}: there is no variant '{}'", file.source, line,
          result.than);
  require(
      quick || result.seconds == 0 || std::ranges::find(experiment.seconds, result.seconds) != experiment.seconds.end(),
      "{}, line {}: no variant trains for {} seconds", file.source, line, result.seconds);
  return result;
}

}  // namespace

SearchExperiment parse_search_experiment(const ExperimentFile& file, bool quick) {
  SearchExperiment experiment;
  RunConfig config;
  SearchSpace ranges;
  toml::table quick_config;
  const std::vector<std::string_view> elsewhere = {"kind",     "title",          "question",        "variant",
                                                   "expected", "expected_order", "expected_setting"};
  for (const auto& [key, node] : file.table) {
    const std::string where = place_in(file.source, key.str(), node);
    if (key.str() == "config")
      assign_config(config, as_table(node, where), file.source, TableOf::several_runs);
    else if (key.str() == "ranges")
      assign_ranges(ranges, as_table(node, where), file.source);
    else if (key.str() == "quick")
      quick_config = as_table(node, where);
    else
      require(std::ranges::find(elsewhere, key.str()) != elsewhere.end() ||
                  assign_experiment_setting(experiment, key.str(), node, where),
              "{}: no such entry of a search experiment", where);
  }
  const toml::table overrides = quick_config;
  for (const auto& [key, node] : overrides) {
    SearchExperiment ignored;
    if (assign_experiment_setting(quick ? experiment : ignored, key.str(), node,
                                  place_in(file.source, key.str(), node)))
      quick_config.erase(key.str());
  }
  if (experiment.seconds.empty()) experiment.seconds = {0};
  for (const toml::table* table : tables_of(file, "variant")) {
    SearchVariant variant = variant_of(file, *table, config, ranges);
    RunConfig short_config = variant.plan.config;
    assign_config(short_config, quick_config, file.source,
                  TableOf::several_runs);  // wrong keys show without --quick too
    forget_foreign_options(short_config);
    if (quick) variant.plan.config = short_config;
    keep_last_unless_told(variant.plan.config);
    require(std::ranges::find(experiment.variants, variant.name, &SearchVariant::name) == experiment.variants.end(),
            "{}: there are two variants named '{}'", file.source, variant.name);
    variant.plan.options = experiment.options;
    variant.plan.options.seconds = experiment.seconds.back();
    check_plan(variant.plan, format("{}, variant '{}'", file.source, variant.name));
    experiment.variants.push_back(std::move(variant));
  }
  require(!experiment.variants.empty(), "{}: there is no [[variant]]", file.source);
  for (const toml::table* table : tables_of(file, "expected_order"))
    experiment.orders.push_back(expectation_of(file, *table, experiment, {"better", "than"}, quick));
  for (const toml::table* table : tables_of(file, "expected"))
    experiment.means.push_back(expectation_of(file, *table, experiment, {"variant", "value"}, quick));
  for (const toml::table* table : tables_of(file, "expected_setting"))
    experiment.settings.push_back(expectation_of(file, *table, experiment, {"variant", "option", "value"}, quick));
  return experiment;
}

}  // namespace harmonium
