#include "harmonium/core/sha256.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

// The first 32 bits of the fractional parts of the cube (square) roots of the first primes, found by integer roots so
// that no table needs to be trusted: floor(frac(p^(1/n)) · 2^32) = floor((p · 2^(32n))^(1/n)) mod 2^32.
constexpr std::uint32_t root_fraction(unsigned prime, int n) {
  __extension__ typedef unsigned __int128 Wide;
  Wide root = 0;
  for (int bit = 35; bit >= 0; --bit) {
    const Wide trial = root | Wide{1} << bit;
    // Compare trial^n with prime·2^(32n) without overflow: trial < 2^36, so its square fits and its cube fits in 108
    // bits.
    Wide power = trial;
    for (int i = 1; i < n; ++i) power *= trial;
    if (power <= Wide{prime} << (32 * n)) root = trial;
  }
  return static_cast<std::uint32_t>(root);
}

template <std::size_t Count>
constexpr std::array<std::uint32_t, Count> root_fractions(int n) {
  std::array<std::uint32_t, Count> result{};
  unsigned candidate = 2;
  for (std::size_t found = 0; found < Count; ++candidate) {
    bool prime = true;
    for (unsigned d = 2; d * d <= candidate; ++d) prime = prime && candidate % d != 0;
    if (prime) result[found++] = root_fraction(candidate, n);
  }
  return result;
}

constexpr auto round_constants = root_fractions<64>(3);
constexpr auto initial_state = root_fractions<8>(2);

void absorb(std::array<std::uint32_t, 8>& state, const unsigned char* chunk) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t)
    w[t] = std::uint32_t{chunk[4 * t]} << 24 | std::uint32_t{chunk[4 * t + 1]} << 16 |
           std::uint32_t{chunk[4 * t + 2]} << 8 | chunk[4 * t + 3];
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t choose = (e & f) ^ (~e & g), majority = (a & b) ^ (a & c) ^ (b & c);
    const std::uint32_t t1 =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choose + round_constants[t] + w[t];
    const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += mixed[i];
}

}  // namespace

std::string sha256(std::string_view bytes) {
  auto state = initial_state;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const std::size_t whole = bytes.size() / 64 * 64;
  for (std::size_t i = 0; i < whole; i += 64) absorb(state, data + i);

  std::array<unsigned char, 128> tail{};
  const std::size_t rest = bytes.size() - whole;
  if (rest != 0) std::memcpy(tail.data(), data + whole, rest);
  tail[rest] = 0x80;
  const std::size_t length = rest < 56 ? 64 : 128;
  const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
  for (std::size_t i = 0; i < 8; ++i) tail[length - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  for (std::size_t i = 0; i < length; i += 64) absorb(state, tail.data() + i);

  std::string hex;
  for (const std::uint32_t word : state) hex += format("{:08x}", word);
  return hex;
}

}  // namespace harmonium
