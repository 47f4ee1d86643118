// Two estimates of log Z that err in opposite directions, and what can be said when they agree or do not.
#pragma once

#include <optional>
#include <string>

#include "harmonium/likelihood/estimate.h"

namespace harmonium {

struct Sandwich {
  Estimate lower;  // of log Z: AIS, low in expectation
  Estimate upper;  // RAISE or reverse AIS, high in expectation
  // upper − lower, in nats: by so much the log-likelihood is known at best. Noise can make it negative.
  [[nodiscard]] double gap() const { return upper.value - lower.value; }
  // Half the widths of both intervals, added as independent errors are.
  [[nodiscard]] double noise() const;
  // Both gap and noise are at most so many nats.
  [[nodiscard]] bool agrees(double acceptable) const;
  // Lower lies above upper by more than that and more than noise.
  [[nodiscard]] bool contradicts(double acceptable) const;
};

enum class Agreement {
  agree,               // gap and noise are small enough
  agree_within_noise,  // the gap is smaller than the noise, which is not small
  differ,
  contradict,
};
[[nodiscard]] Agreement agreement(const Sandwich& sandwich, double acceptable);

// "RAISE" or "reverse AIS"; "36 nats", "0.4 nat".
[[nodiscard]] std::string name_of_bound(const Estimate& upper);
[[nodiscard]] std::string in_nats(double value);

// In plain words: which number to trust, or what is wrong and what to do about it. `mean_log_unnormalized` of the data
// turns log Z into their log-likelihood; without it the words are about log Z. `acceptable` is the
// difference in nats that does not matter.
[[nodiscard]] std::string verdict(const Sandwich& sandwich, std::optional<double> mean_log_unnormalized,
                                  double acceptable);

// The same where two bounds from above are known: by RAISE, whose chains start at the data, and by reverse AIS, whose
// chains start at samples of the model. RAISE is blind where the data are not: modes that training has made far from
// them hold probability that neither it nor AIS sees. Where reverse AIS says more, the words say so.
[[nodiscard]] std::string verdict(const Estimate& ais, const Estimate& raise, const Estimate& reverse,
                                  std::optional<double> mean_log_unnormalized, double acceptable);

// The larger of two bounds from above: what a cautious sandwich is made with. It is `raise` unless `reverse` lies above
// it by more than `acceptable` and noise.
[[nodiscard]] const Estimate& cautious(const Estimate& raise, const Estimate& reverse, double acceptable);

// The same for AIS alone, from its weights; empty where they show nothing wrong.
[[nodiscard]] std::string warning(const Estimate& ais);

}  // namespace harmonium
