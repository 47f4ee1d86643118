#include "harmonium/kernels/tile_loops.h"

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define HARMONIUM_TILES
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harmonium/kernels/vector_loops.h"
// GCC 12 warns of registers that its own intrinsics leave undefined on purpose.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

namespace harmonium {

#if defined(HARMONIUM_TILES)

namespace {

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi,fma,amx-tile,amx-int8")

// All eight tiles have 16 rows of 64 bytes.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes_of_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfiguration) == 64);

// Not a local variable: GCC 12 takes it for unread and never writes it.
constexpr TileConfiguration configuration;

void begin() { _tile_loadconfig(&configuration); }
void end() { _tile_release(); }

// Which bytes of two vectors go into each 32-bit lane: 0 to 3 are those of the first vector's lane, 64 to 67 the
// second's.
__m512i bytes_of_lanes(int first, int second, int third, int fourth) {
  const __m512i lanes = _mm512_mullo_epi32(_mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                           _mm512_set1_epi32(0x04040404));
  return _mm512_add_epi8(lanes, _mm512_set1_epi32(first | second << 8 | third << 16 | fourth << 24));
}

// Tile number 3·(column / 16) + digit of a block, and of them two at a time: their digits for all words, word by word.
std::int8_t* tile_of(std::int8_t* digits, std::int64_t words, std::int64_t word, int number) {
  return digits + ((number / 2 * words + word) * 2 + number % 2) * tile_bytes;
}

void split(const float* block, std::int64_t rows, std::int8_t* digits, float* scales) {
  constexpr int vectors = block_columns / 16;
  __m512 inverse[vectors];
  for (int i = 0; i < vectors; ++i) {
    __m512 largest = _mm512_setzero_ps();
    __mmask16 lost = 0;  // a maximum forgets what is no number
    for (std::int64_t row = 0; row < rows; ++row) {
      const __m512 x = _mm512_load_ps(block + row * block_columns + 16 * i);
      largest = _mm512_max_ps(largest, _mm512_abs_ps(x));
      lost |= _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
    }
    // A column whose largest number is near 0 is one of zeros: its scale must not be 0, nor its inverse infinite.
    __m512 scale = _mm512_max_ps(_mm512_mul_ps(largest, _mm512_set1_ps(1.0F / (127 * 65536))), _mm512_set1_ps(1e-37F));
    scale = _mm512_mask_mov_ps(scale, lost, _mm512_set1_ps(__builtin_nanf("")));
    _mm512_store_ps(scales + 16 * i, scale);
    inverse[i] = _mm512_div_ps(_mm512_set1_ps(1), scale);
  }
  const __m512i low = bytes_of_lanes(0, 64, 1, 65), high = bytes_of_lanes(2, 66, 3, 67),
                front = bytes_of_lanes(0, 1, 64, 65), back = bytes_of_lanes(2, 3, 66, 67);
  const __m512i offset = _mm512_set1_epi32(0x808080);
  const std::int64_t words = (rows + 63) / 64;
  for (std::int64_t word = 0; word < words; ++word)
    for (std::int64_t four = 0; four < 16; ++four)
      for (int i = 0; i < vectors; ++i) {
        // Digits from −128 to 127: bytes of the number plus 128 (1 + 2^8 + 2^16), each less 128.
        __m512i x[4];
        for (int r = 0; r < 4; ++r) {
          const std::int64_t row = 64 * word + 4 * four + r;
          const __m512 number = row < rows ? _mm512_load_ps(block + row * block_columns + 16 * i) : _mm512_setzero_ps();
          const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(number, inverse[i]));
          x[r] = _mm512_xor_si512(_mm512_add_epi32(whole, offset), offset);
        }
        // Four rows' digits of one place side by side, for each column.
        const __m512i low01 = _mm512_permutex2var_epi8(x[0], low, x[1]),
                      low23 = _mm512_permutex2var_epi8(x[2], low, x[3]),
                      high01 = _mm512_permutex2var_epi8(x[0], high, x[1]),
                      high23 = _mm512_permutex2var_epi8(x[2], high, x[3]);
        const __m512i digit[3] = {_mm512_permutex2var_epi8(low01, front, low23),
                                  _mm512_permutex2var_epi8(low01, back, low23),
                                  _mm512_permutex2var_epi8(high01, front, high23)};
        for (int d = 0; d < 3; ++d) _mm512_store_si512(tile_of(digits, words, word, 3 * i + d) + 64 * four, digit[d]);
      }
}

void expand(const std::uint64_t* bits, std::int64_t words, std::int64_t rows, std::int8_t* units) {
  const __m512i one = _mm512_set1_epi8(1);
  for (std::int64_t row = 0; row < tile_group; ++row)
    for (std::int64_t word = 0; word < words; ++word)
      _mm512_store_si512(units + ((2 * word + row / 16) * 16 + row % 16) * 64,
                         _mm512_maskz_mov_epi8(row < rows ? bits[row * words + word] : 0, one));
}

void multiply(const std::int8_t* units, std::int64_t words, std::int64_t rows, const std::int8_t* digits,
              const float* scales, std::int64_t columns, std::int32_t* room, float* sums) {
  const int vectors = static_cast<int>((columns + 15) / 16), tiles = 3 * vectors;
  for (int pair = 0; 2 * pair < tiles; ++pair) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    // Digits are loaded past the first cache, where the units of these rows are: a tenth faster.
    const std::int8_t* from = digits + pair * words * 2 * tile_bytes;
    for (std::int64_t word = 0; word < words; ++word, from += 2 * tile_bytes) {
      _tile_loadd(4, units + 2 * word * tile_bytes, 64);
      _tile_stream_loadd(6, from, 64);
      _tile_dpbssd(0, 4, 6);
      _tile_loadd(5, units + (2 * word + 1) * tile_bytes, 64);
      _tile_dpbssd(2, 5, 6);
      _tile_stream_loadd(7, from + tile_bytes, 64);
      _tile_dpbssd(1, 4, 7);
      _tile_dpbssd(3, 5, 7);
    }
    std::int32_t* to = room + 2 * pair * 256;
    _tile_stored(0, to, 64);
    _tile_stored(1, to + 256, 64);
    _tile_stored(2, to + 12 * 256, 64);
    _tile_stored(3, to + 13 * 256, 64);
  }
  for (int i = 0; i < vectors; ++i) {
    const __m512 first = _mm512_load_ps(scales + 16 * i), second = _mm512_mul_ps(first, _mm512_set1_ps(256)),
                 third = _mm512_mul_ps(first, _mm512_set1_ps(65536));
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t* from = room + (row / 16 * 12 + 3 * i) * 256 + row % 16 * 16;
      const auto number = [&](int digit) { return _mm512_cvtepi32_ps(_mm512_load_si512(from + 256 * digit)); };
      const __m512 sum =
          _mm512_fmadd_ps(number(2), third, _mm512_fmadd_ps(number(1), second, _mm512_mul_ps(number(0), first)));
      _mm512_store_ps(sums + row * block_columns + 16 * i, sum);
    }
  }
}

#pragma GCC pop_options

bool available() {
  constexpr long ask_for_feature = 0x1023, tile_data = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("amx-int8") &&
         syscall(SYS_arch_prctl, ask_for_feature, tile_data) == 0;
}

constexpr TileLoops amx = {begin, end, split, expand, multiply};

}  // namespace

const TileLoops* tile_loops() {
  static const TileLoops* const found = available() ? &amx : nullptr;
  return found;
}

#else

const TileLoops* tile_loops() { return nullptr; }

#endif

}  // namespace harmonium
