// Whole numbers drawn one after the other from a key, for the generators that need an unknown number of them per row.
#pragma once

#include <cstdint>

#include "harmonium/core/key.h"

namespace harmonium {

class Draws {
 public:
  explicit Draws(const Key& key) : key_(key) {}

  [[nodiscard]] std::uint64_t bits() {
    const PhiloxBlock block = key_.block(next_++);
    return static_cast<std::uint64_t>(block[1]) << 32 | block[0];
  }

  // Uniform on 0 … bound−1, but for a bias below bound / 2⁶⁴.
  [[nodiscard]] std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(bound));
  }

 private:
  Key key_;
  std::uint64_t next_ = 0;
};

}  // namespace harmonium
