#include "harmonium/experiments/search_plan.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "harmonium/core/atomic_file.h"
#include "harmonium/experiments/experiment_file.h"
#include "harmonium/families/registry.h"
#include "harmonium/runs/config_file.h"

namespace harmonium {

namespace {

constexpr std::uint64_t seeds_for_trials = 10'000;  // tests have seeds after these

// Calls visit(field) with a field of the option's type; fails where there is no such option.
template <class Visitor>
void with_field(const std::string& name, const std::string& where, Visitor&& visitor) {
  RunConfig config;
  bool known = false;
  RunConfig::visit(config, [&](const char* each, auto& field, const char*) {
    if (name != each) return;
    known = true;
    visitor(field);
  });
  require(known, "{}: no such option; {}", where, options_advice(name));
}

template <class T>
SettingValue setting_value(const T& value) {
  if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, double>)
    return value;
  else
    return static_cast<std::int64_t>(value);
}

template <class Field>
NumberRange number_range(const std::string& name, Field, const toml::table& table, const std::string& where) {
  constexpr bool text = std::is_same_v<Field, std::string>;
  require(!text || name == "hidden",
          "{}: this option is a text and has no range; give a list of values, [\"a\", \"b\"]", where);
  NumberRange range{.whole = !std::is_floating_point_v<Field>};
  std::string scale;
  bool low = false, high = false;
  for (const auto& [key, node] : table) {
    if (key.str() == "low") {
      assign_toml(range.low, node, where + ", low");
      low = true;
    } else if (key.str() == "high") {
      assign_toml(range.high, node, where + ", high");
      high = true;
    } else {
      require(key.str() == "scale", "{}: there is no '{}' in a range; there are: low, high, scale", where,
              std::string(key.str()));
      assign_toml(scale, node, where + ", scale");
    }
  }
  require(low && high, "{}: a range needs low and high: {} = {{ low = 1, high = 10 }}", where, name);
  require(std::isfinite(range.low) && std::isfinite(range.high), "{}: low and high must be finite numbers", where);
  require(range.low < range.high,
          "{}: low = {} is not below high = {}; a value that is not searched stands above "
          "[search]",
          where, range.low, range.high);
  require(!range.whole || (range.low == std::floor(range.low) && range.high == std::floor(range.high)),
          "{}: this option is a whole number, so low and high must be whole numbers", where);
  require(scale.empty() || scale == "log" || scale == "linear", "{}: scale = \"{}\"; there are log and linear", where,
          scale);
  require(scale != "log" || range.low > 0, "{}: a logarithmic scale needs low > 0, not {}", where, range.low);
  range.logarithmic = scale == "log" || (scale.empty() && range.low > 0);
  return range;
}

SearchedOption searched_option(const std::string& name, const toml::node& node, const std::string& where) {
  const std::vector<std::string> fixed = {"data",      "valid",     "label_column", "scale",
                                          "shape",     "transpose", "first_label",  "first_category",
                                          "sequences", "seed",      "snapshots",    "track"};
  require(std::ranges::find(fixed, name) == fixed.end(),
          "{}: this option cannot be searched: all trials use the same data, each with its own seed", where);
  SearchedOption option{.name = name, .from = SameAs{}};
  with_field(name, where, [&](const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    if (node.is_table()) {
      option.from = number_range(name, field, *node.as_table(), where);
    } else if (node.is_array()) {
      std::vector<Field> values;
      assign_toml(values, node, where);
      require(!values.empty(), "{}: the list is empty", where);
      Choices choices;
      for (const Field& each : values) choices.values.push_back(setting_value(each));
      option.from = std::move(choices);
    } else {
      const auto other = node.value_exact<std::string>();
      require(other.has_value(),
              "{}: give a range {{ low = …, high = … }}, a list of values, or the name of another searched option",
              where);
      option.from = SameAs{*other};
    }
  });
  return option;
}

// Whole numbers and texts are not the same; a number that is to be drawn may follow a number.
std::string type_of(const std::string& name) {
  std::string type;
  with_field(name, name, [&](const auto& field) {
    type = std::is_same_v<std::decay_t<decltype(field)>, std::string> ? "text"
           : std::is_floating_point_v<std::decay_t<decltype(field)>>  ? "number"
                                                                      : "whole number";
  });
  return type;
}

void check_ties(const SearchSpace& space, const std::string& where) {
  for (const SearchedOption& option : space) {
    const auto* tie = std::get_if<SameAs>(&option.from);
    if (tie == nullptr) continue;
    const auto other = std::ranges::find(space, tie->name, &SearchedOption::name);
    require(other != space.end(),
            "{}: '{} = \"{}\"' names an option that is not searched; add a range for it, or "
            "a list [\"…\"] of values",
            where, option.name, tie->name);
    require(!std::holds_alternative<SameAs>(other->from),
            "{}: '{}' has the value of '{}', which itself has that of another option; name the one that has a range",
            where, option.name, tie->name);
    require(type_of(option.name) == type_of(tie->name),
            "{}: '{}' is a {}, '{}' is a {}: they cannot have the same value", where, option.name, type_of(option.name),
            tie->name, type_of(tie->name));
  }
}

std::string toml_value(const SettingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return format("\"{}\"", *text);
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return format("{}", std::get<double>(value));
}

std::string toml_range(const SearchedOption& option) {
  if (const auto* tie = std::get_if<SameAs>(&option.from)) return format("{} = \"{}\"\n", option.name, tie->name);
  if (const auto* range = std::get_if<NumberRange>(&option.from))
    return format("{} = {{ low = {}, high = {}, scale = \"{}\" }}\n", option.name, range->low, range->high,
                  range->logarithmic ? "log" : "linear");
  std::string list;
  for (const SettingValue& each : std::get<Choices>(option.from).values)
    list += (list.empty() ? "" : ", ") + toml_value(each);
  return format("{} = [{}]\n", option.name, list);
}

}  // namespace

RunConfig SearchPlan::trial_config(const std::vector<Setting>& settings, std::int64_t number) const {
  RunConfig result = config;
  for (const Setting& each : settings) apply_setting(result, each);
  result.seed = config.seed + static_cast<std::uint64_t>(number);
  return result;
}

RunConfig SearchPlan::test_config(const std::vector<Setting>& settings, std::int64_t number) const {
  RunConfig result = trial_config(settings, number);
  result.seed += seeds_for_trials + first_test_seed;
  return result;
}

bool assign_search_option(SearchOptions& options, std::string_view key, const toml::node& node,
                          const std::string& where) {
  const auto take = [&](std::string_view name, auto& field) {
    if (key != name) return false;
    assign_toml(field, node, where);
    return true;
  };
  return take("score", options.score) || take("test", options.test) || take("runs", options.runs) ||
         take("tests", options.tests) || take("seconds", options.seconds) || take("chains", options.chains) ||
         take("betas", options.betas) || take("valid_limit", options.valid_limit) ||
         take("test_limit", options.test_limit);
}

void assign_ranges(SearchSpace& space, const toml::table& table, const std::string& source) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    SearchedOption option = searched_option(name, node, place_in(source, name, node));
    const auto old = std::ranges::find(space, name, &SearchedOption::name);
    if (old == space.end())
      space.push_back(std::move(option));
    else
      *old = std::move(option);
  }
}

void check_plan(const SearchPlan& plan, const std::string& where) {
  const SearchOptions& options = plan.options;
  require(!plan.space.empty(),
          "{}: there is nothing to search; add a table of ranges with options such as "
          "rate_weights = {{ low = 1e-3, high = 1 }}",
          where);
  check_ties(plan.space, where);
  const std::vector<std::string> scores = {"log_likelihood", "error", "pseudo_log_likelihood"};
  require(std::ranges::find(scores, options.score) != scores.end(),
          "{}: score = \"{}\"; there are log_likelihood, error and pseudo_log_likelihood", where, options.score);
  require(options.score != "error" || find_family(plan.config.model).knows_classes(plan.config),
          "{}: score = \"error\" needs a model that knows classes, such as classification_rbm, not {}", where,
          plan.config.model);
  require(options.runs >= 1 && options.runs <= static_cast<std::int64_t>(seeds_for_trials),
          "{}: runs must be between 1 and {}, not {}", where, seeds_for_trials, options.runs);
  require(options.tests >= 0 && options.tests <= static_cast<std::int64_t>(seeds_for_trials),
          "{}: tests must be between 0 and {}, not {}", where, seeds_for_trials, options.tests);
  require(std::isfinite(options.seconds) && options.seconds >= 0, "{}: seconds must not be negative, but is {}", where,
          options.seconds);
  require(options.chains >= 1 && options.betas >= 1, "{}: chains and betas must be at least 1", where);
  require(options.valid_limit >= 0 && options.test_limit >= 0, "{}: limits must not be negative", where);
  require(options.seconds == 0 || std::ranges::find(plan.space, "updates", &SearchedOption::name) == plan.space.end(),
          "{}: updates cannot be searched together with seconds", where);
}

SearchPlan read_search_plan(const std::string& path) {
  require(std::filesystem::is_regular_file(path), "there is no configuration file {}", path);
  toml::table table = parse_toml(read_file(path), path);
  SearchPlan plan;
  const toml::node* search = table.get("search");
  require(search != nullptr, "{}: the file has no table [search]; `harmonium search --help` shows one", path);
  for (const auto& [key, node] : as_table(*search, place_in(path, "search", *search))) {
    const std::string where = place_in(path, key.str(), node);
    if (key.str() == "ranges")
      assign_ranges(plan.space, as_table(node, where), path);
    else
      require(
          assign_search_option(plan.options, key.str(), node, where),
          "{}: no such entry of [search]; there are: score, test, runs, tests, seconds, chains, betas, valid_limit, "
          "test_limit and [search.ranges]",
          where);
  }
  table.erase("search");
  assign_config(plan.config, table, path);
  check_plan(plan, path);
  return plan;
}

std::string to_toml(const SearchPlan& plan) {
  const SearchOptions& options = plan.options;
  RunConfig config = plan.config;
  if (options.seconds > 0) config.updates = RunConfig{}.updates;  // it does not matter
  std::string text = to_toml(config);
  text += format(
      "\n[search]\nscore = \"{}\"\ntest = \"{}\"\nseconds = {}\nchains = {}\nbetas = {}\nvalid_limit = {}\n"
      "test_limit = {}\n\n[search.ranges]\n",
      options.score, options.test, options.seconds, options.chains, options.betas, options.valid_limit,
      options.test_limit);
  for (const SearchedOption& option : plan.space) text += toml_range(option);
  return text;
}

}  // namespace harmonium
