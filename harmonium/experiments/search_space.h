// Random search: options of a run that are drawn instead of given.
//
// Trial i draws option o from a stream named by (seed, i, o) alone. So trials do not depend on how many there are, on
// the order of the options or on what else is searched, and a search grows by asking for more.
//
//   a range of real numbers    log-uniform, or uniform, on [low, high)
//   a range of whole numbers   ⌊x⌋ of such an x on [low, high + 1): both ends can occur
//   a list                     each of its values alike
//   a tie                      the value that another option has drawn
//
// Bergstra & Bengio, "Random search for hyper-parameter optimization", JMLR 13 (2012), on why not a grid.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/families/run_config.h"

namespace harmonium {

using SettingValue = std::variant<std::int64_t, double, std::string>;

// An option of a run and its value.
struct Setting {
  std::string name;
  SettingValue value;
  friend bool operator==(const Setting&, const Setting&) = default;
};

struct NumberRange {
  double low = 0, high = 1;
  bool logarithmic = true, whole = false;
};
struct Choices {
  std::vector<SettingValue> values;
};
struct SameAs {
  std::string name;  // of an option that has a range or choices
};

struct SearchedOption {
  std::string name;
  std::variant<NumberRange, Choices, SameAs> from;
};

// Has every option at most once; ties name options that are there and are no ties themselves.
using SearchSpace = std::vector<SearchedOption>;

// What trial i draws, in the order of the space. i ≥ 1.
[[nodiscard]] std::vector<Setting> draw_settings(const SearchSpace& space, std::uint64_t seed, std::int64_t trial);

// Those that were drawn themselves, without ties.
[[nodiscard]] std::vector<Setting> without_ties(const SearchSpace& space, const std::vector<Setting>& settings);

// Overwrites the option; the value must be of its type (hidden = 100 is as good as "100").
void apply_setting(RunConfig& config, const Setting& setting);

// "0.013", "pcd": as it is written in a table.
[[nodiscard]] std::string value_text(const SettingValue& value);
// "rate_weights 0.013, gradient pcd"
[[nodiscard]] std::string settings_text(const std::vector<Setting>& settings);

// The place of the best score; the first of equals. Scores that are missing or not finite never win.
[[nodiscard]] std::optional<std::size_t> best_of(std::span<const std::optional<double>> scores, bool lower_is_better);

}  // namespace harmonium
