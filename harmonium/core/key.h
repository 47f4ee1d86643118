// Counter-based randomness: a Key names a stream, a counter names a draw, nothing is mutated.
//
// The generator is Philox 4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011):
// ten rounds of multiply-and-xor turn (128-bit counter, 64-bit key) into 128 random bits. Because a draw is a pure
// function of (key, counter), results do not depend on the number of threads, survive a resume without saving any
// generator state, and can be repeated on another device.
//
//   Key root(seed);
//   Key step = root.fold_in(update).fold_in(layer);   // independent streams, named by what they are for
#pragma once

#include <array>
#include <cstdint>

namespace harmonium {

using PhiloxBlock = std::array<std::uint32_t, 4>;

constexpr PhiloxBlock philox(PhiloxBlock counter, std::uint32_t key0, std::uint32_t key1) {
  constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = multiplier0 * counter[0], product1 = multiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += weyl0;
    key1 += weyl1;
  }
  return counter;
}

class Key {
 public:
  constexpr explicit Key(std::uint64_t seed = 0) : bits_(seed) {}

  // The stream called `name` below this one. Streams folded with different names are independent.
  [[nodiscard]] constexpr Key fold_in(std::uint64_t name) const {
    const PhiloxBlock block = philox({low(name), high(name), 0, fold_domain}, low(bits_), high(bits_));
    return Key(static_cast<std::uint64_t>(block[1]) << 32 | block[0]);
  }

  // Draws 4*index … 4*index+3 of this stream, as raw bits.
  [[nodiscard]] constexpr PhiloxBlock block(std::uint64_t index) const {
    return philox({low(index), high(index), 0, draw_domain}, low(bits_), high(bits_));
  }

  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(const Key&, const Key&) = default;

 private:
  // The last counter word keeps "a name of a stream" and "a draw of a stream" from ever sharing a counter.
  static constexpr std::uint32_t draw_domain = 0, fold_domain = 1;
  static constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

  std::uint64_t bits_;
};

// Uniform in [0, 1) with 24 bits, the resolution of a float.
constexpr float to_unit_float(std::uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24F; }
// Uniform in [0, 1) with 53 bits.
constexpr double to_unit_double(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>((static_cast<std::uint64_t>(high) << 32 | low) >> 11) * 0x1p-53;
}

}  // namespace harmonium
