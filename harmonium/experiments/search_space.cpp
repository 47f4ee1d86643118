#include "harmonium/experiments/search_space.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

constexpr std::uint64_t name_hash(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

constexpr std::uint64_t search_stream = name_hash("search");

SettingValue draw(const NumberRange& range, double u) {
  const double high = range.whole ? range.high + 1 : range.high;
  const double x = range.logarithmic ? range.low * std::pow(high / range.low, u) : range.low + (high - range.low) * u;
  if (!range.whole) return std::clamp(x, range.low, range.high);
  return static_cast<std::int64_t>(std::clamp(std::floor(x), range.low, range.high));
}

SettingValue draw(const Choices& choices, double u) {
  const auto place = static_cast<std::size_t>(u * static_cast<double>(choices.values.size()));
  return choices.values[std::min(place, choices.values.size() - 1)];
}

const SearchedOption& find_option(const SearchSpace& space, const std::string& name) {
  const auto found = std::ranges::find(space, name, &SearchedOption::name);
  if (found == space.end()) throw std::logic_error("a tie to an option that is not searched");
  return *found;
}

SettingValue draw(const SearchSpace& space, const SearchedOption& option, const Key& trial) {
  if (const auto* tie = std::get_if<SameAs>(&option.from)) return draw(space, find_option(space, tie->name), trial);
  const PhiloxBlock bits = trial.fold_in(name_hash(option.name)).block(0);
  const double u = to_unit_double(bits[0], bits[1]);
  if (const auto* range = std::get_if<NumberRange>(&option.from)) return draw(*range, u);
  return draw(std::get<Choices>(option.from), u);
}

}  // namespace

std::vector<Setting> draw_settings(const SearchSpace& space, std::uint64_t seed, std::int64_t trial) {
  const Key key = Key(seed).fold_in(search_stream).fold_in(static_cast<std::uint64_t>(trial));
  std::vector<Setting> settings;
  for (const SearchedOption& option : space) settings.push_back({option.name, draw(space, option, key)});
  return settings;
}

std::vector<Setting> without_ties(const SearchSpace& space, const std::vector<Setting>& settings) {
  std::vector<Setting> drawn;
  for (const Setting& each : settings)
    if (!std::holds_alternative<SameAs>(find_option(space, each.name).from)) drawn.push_back(each);
  return drawn;
}

void apply_setting(RunConfig& config, const Setting& setting) {
  bool done = false;
  RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
    if (setting.name != name) return;
    using Field = std::decay_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, std::string>) {
      const auto* text = std::get_if<std::string>(&setting.value);
      field = text != nullptr ? *text : value_text(setting.value);
    } else if constexpr (std::is_floating_point_v<Field>) {
      const auto* whole = std::get_if<std::int64_t>(&setting.value);
      field = whole != nullptr ? static_cast<double>(*whole) : std::get<double>(setting.value);
    } else {
      field = static_cast<Field>(std::get<std::int64_t>(setting.value));
    }
    done = true;
  });
  if (!done) throw std::logic_error("no option " + setting.name);
}

std::string value_text(const SettingValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  return format("{:.3g}", std::get<double>(value));
}

std::string settings_text(const std::vector<Setting>& settings) {
  std::string text;
  for (const Setting& each : settings)
    text += format("{}{} {}", text.empty() ? "" : ", ", each.name, value_text(each.value));
  return text;
}

std::optional<std::size_t> best_of(std::span<const std::optional<double>> scores, bool lower_is_better) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!scores[i] || !std::isfinite(*scores[i])) continue;
    if (!best || (lower_is_better ? *scores[i] < *scores[*best] : *scores[i] > *scores[*best])) best = i;
  }
  return best;
}

}  // namespace harmonium
