// The generated data sets by name, with the parts and sizes that a user gets who asks for nothing else.
//
// Parts are drawn from different streams of one seed: train, valid and test are independent samples of one distribution
// (for random_rbm: of one teacher, for corpus: of the same topics, for capsule_scenes: of the same parts, which the
// seed names as well). "all" is every pattern once, where the distribution is uniform over patterns that can be listed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harmonium/data/dataset.h"

namespace harmonium {

struct SyntheticOptions {
  std::int64_t size =
      0;  // side of pictures, width of the shifter, visible units of random_rbm, words of corpus; 0: its own
  std::int64_t rows = 10000;  // of a drawn part
  std::uint64_t seed = 0;
};

struct SyntheticInfo {
  std::string name, description;
  std::vector<std::string> parts;  // "train", "valid", "test" and, for some, "all"
};

[[nodiscard]] const std::vector<SyntheticInfo>& synthetic_sets();

// Throws Error for an unknown name or part. The result is named "NAME:part".
[[nodiscard]] Dataset synthetic(const std::string& name, const std::string& part, const SyntheticOptions& options = {});

// Entropy of the generating distribution in nats, where it is known: minus the best mean log-likelihood of any model.
[[nodiscard]] std::optional<double> synthetic_entropy(const std::string& name, const SyntheticOptions& options = {});

}  // namespace harmonium
