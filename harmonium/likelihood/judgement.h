// What an answer comes to: a number to trust, a bound, or a bracket between which the truth lies. Decided here and
// nowhere else; whoever shows a number (tool, report, comparison, results, Python) prints what is said here.
#pragma once

#include <optional>
#include <string>

#include "harmonium/likelihood/evaluation.h"

namespace harmonium {

// Below this the importance weights know little of their own spread: resampling a handful of them gives an interval,
// but not one that holds the truth nineteen times in twenty.
inline constexpr double fewest_effective_samples = 20;

// Whether the interval of an estimate may be called one of 95 %.
[[nodiscard]] bool has_interval(const Estimate& estimate);
// "from 1.4 effective samples: no interval"; empty where there is one.
[[nodiscard]] std::string interval_remark(const Estimate& estimate);

struct Judgement {
  bool trusted = true;
  // What the number lies between, as far as is known; nothing where a side is open.
  std::optional<double> lower = std::nullopt, upper = std::nullopt;
  std::string reason = {};  // why it is not trusted: "AIS and RAISE differ by 36 nats"
};

// Of the log-likelihood, or of log Z where no data were given.
[[nodiscard]] Judgement judgement(const Evaluation& evaluation);

// "between −151.8 and −116.3 nats", "at least −95.2 nats", "at most −116.3 nats".
[[nodiscard]] std::string bracket(const Judgement& judgement);
// "not trusted: AIS and RAISE differ by 36 nats"; empty where it is trusted.
[[nodiscard]] std::string doubt(const Judgement& judgement);
// Both, with a comma between.
[[nodiscard]] std::string in_words(const Judgement& judgement);

}  // namespace harmonium
