// Included by vector_loops.cpp once for every instruction set, after vector_draws_body.h, inside a namespace and a
// target pragma of its own: bits of tables and sums of picked rows. The rules of that file hold here.

static inline bool pack_bits(const float* row, std::int64_t n, std::uint64_t* words, float* counts) {
  Words wrong = {};
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    std::uint64_t word = 0;
    for (int part = 0; part < 4; ++part) {
      const Floats x = *reinterpret_cast<const LooseFloats*>(row + i + 16 * part);
      wrong |= (x != 0.0F) & (x != 1.0F);
      word |= bits_of(x) << 16 * part;
      *reinterpret_cast<LooseFloats*>(counts + i + 16 * part) += x;
    }
    words[i / 64] = word;
  }
  bool binary = true;
  if (i < n) {
    std::uint64_t word = 0;
    const std::int64_t begin = i;
    for (; i + 16 <= n; i += 16) {
      const Floats x = *reinterpret_cast<const LooseFloats*>(row + i);
      wrong |= (x != 0.0F) & (x != 1.0F);
      word |= bits_of(x) << (i - begin);
      *reinterpret_cast<LooseFloats*>(counts + i) += x;
    }
    for (; i < n; ++i) {
      binary = binary && (row[i] == 0 || row[i] == 1);
      word |= static_cast<std::uint64_t>(row[i] != 0) << (i - begin);
      counts[i] += row[i];
    }
    words[begin / 64] = word;
  }
  for (int lane = 0; lane < 16; ++lane) binary = binary && wrong[lane] == 0;
  return binary;
}

// Turns 16 × 16 numbers: halves of all sizes change places, from 8 down to 1.
template <int size>
static inline void turn_halves(Floats (&x)[16]) {
  constexpr auto low = [](int i) { return (i & size) == 0 ? i : 16 + i - size; };
  constexpr auto high = [](int i) { return (i & size) == 0 ? i + size : 16 + i; };
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) {
    if ((i & size) != 0) continue;
    const Floats a = x[i], b = x[i + size];
    x[i] = __builtin_shufflevector(a, b, low(0), low(1), low(2), low(3), low(4), low(5), low(6), low(7), low(8), low(9),
                                   low(10), low(11), low(12), low(13), low(14), low(15));
    x[i + size] = __builtin_shufflevector(a, b, high(0), high(1), high(2), high(3), high(4), high(5), high(6), high(7),
                                          high(8), high(9), high(10), high(11), high(12), high(13), high(14), high(15));
  }
}
static inline void turn_tile(const float* from, std::int64_t from_line, float* to, std::int64_t to_line) {
  Floats x[16];
  for (int i = 0; i < 16; ++i) x[i] = *reinterpret_cast<const LooseFloats*>(from + i * from_line);
  turn_halves<8>(x);
  turn_halves<4>(x);
  turn_halves<2>(x);
  turn_halves<1>(x);
  for (int i = 0; i < 16; ++i) *reinterpret_cast<LooseFloats*>(to + i * to_line) = x[i];
}

// 1 where a bit is set, else 0.
static inline Floats numbers_of(std::uint32_t bits) {
#if HARMONIUM_LOOPS == 512
  return (Floats)_mm512_maskz_mov_ps(static_cast<__mmask16>(bits), _mm512_set1_ps(1));
#else
  const Words places = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  const Words set = (Words{} + static_cast<std::int32_t>(bits)) & places;
  return set != 0 ? Floats{} + 1.0F : Floats{};
#endif
}

static inline void unpack_bits(const std::uint64_t* bits, std::int64_t n, float* row) {
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const std::uint64_t word = bits[i / 64];
    for (int part = 0; part < 4; ++part)
      *reinterpret_cast<LooseFloats*>(row + i + 16 * part) =
          numbers_of(static_cast<std::uint32_t>(word >> 16 * part & 0xFFFF));
  }
  for (; i + 16 <= n; i += 16)
    *reinterpret_cast<LooseFloats*>(row + i) = numbers_of(static_cast<std::uint32_t>(bits[i / 64] >> i % 64 & 0xFFFF));
  for (; i < n; ++i) row[i] = static_cast<float>(bits[i / 64] >> i % 64 & 1);
}

// A row of numbers that may end before its last vector does.
template <int vectors>
static inline void load_row(const float* from, std::int64_t columns, Floats (&row)[vectors]) {
  if (columns == 16 * vectors) {
    for (int i = 0; i < vectors; ++i) row[i] = reinterpret_cast<const LooseFloats*>(from)[i];
  } else {
    alignas(64) float padded[16 * vectors] = {};
    for (std::int64_t j = 0; j < columns; ++j) padded[j] = from[j];
    for (int i = 0; i < vectors; ++i) row[i] = reinterpret_cast<const Floats*>(padded)[i];
  }
}
template <int vectors>
static inline void store_row(const Floats (&row)[vectors], std::int64_t columns, float* to) {
  if (columns == 16 * vectors) {
    for (int i = 0; i < vectors; ++i) reinterpret_cast<LooseFloats*>(to)[i] = row[i];
  } else {
    alignas(64) float padded[16 * vectors];
    for (int i = 0; i < vectors; ++i) reinterpret_cast<Floats*>(padded)[i] = row[i];
    for (std::int64_t j = 0; j < columns; ++j) to[j] = padded[j];
  }
}

// Turns partial sums of a row into its result.
template <int vectors>
static inline void finish_one_row(const RowSums& plan, std::int64_t row, const float* partial,
                                  const Floats (&base)[vectors], Floats (&sum)[vectors]) {
  for (int i = 0; i < vectors; ++i) sum[i] = reinterpret_cast<const Floats*>(partial)[i];
  if (plan.factors == nullptr)
    for (int i = 0; i < vectors; ++i) sum[i] += base[i];
  else
    for (int i = 0; i < vectors; ++i) sum[i] = sum[i] * plan.factors[row].sum + base[i] * plan.factors[row].base;
  if (plan.start != nullptr) {
    Floats start[vectors];
    load_row<vectors>(plan.start + row * plan.start_stride, plan.columns, start);
    for (int i = 0; i < vectors; ++i) sum[i] += start[i];
  }
  if (plan.out != nullptr) store_row<vectors>(sum, plan.columns, plan.out + row * plan.out_stride);
}

template <int vectors>
__attribute__((noinline)) static void finish_plain_rows(const RowSums& sums, std::int64_t first, std::int64_t rows) {
  const RowSums plan = sums;  // so that no store can be thought to change it
  Floats base[vectors];
  for (int i = 0; i < vectors; ++i) base[i] = reinterpret_cast<const Floats*>(plan.base)[i];
  for (std::int64_t r = 0; r < rows; ++r) {
    Floats sum[vectors];
    finish_one_row<vectors>(plan, first + r, plan.partial + r * block_columns, base, sum);
  }
}

template <int vectors>
__attribute__((noinline)) static void finish_and_draw_rows(const RowSums& sums, std::int64_t first, std::int64_t rows) {
  const RowSums plan = sums;
  const LogisticDraw draw = *sums.draw;
  Floats base[vectors], counts[vectors];
  for (int i = 0; i < vectors; ++i) base[i] = reinterpret_cast<const Floats*>(plan.base)[i];
  for (int i = 0; i < vectors; ++i) counts[i] = reinterpret_cast<const Floats*>(draw.counts)[i];
  for (std::int64_t r = 0; r < rows; ++r) {
    Floats sum[vectors];
    finish_one_row<vectors>(plan, first + r, plan.partial + r * block_columns, base, sum);
    draw_row<vectors>(draw, first + r, plan.columns, sum, counts);
  }
  for (int i = 0; i < vectors; ++i) reinterpret_cast<Floats*>(draw.counts)[i] = counts[i];
}

template <int vectors>
static inline void finish_narrow_rows(const RowSums& sums, std::int64_t first, std::int64_t rows) {
  if (sums.draw == nullptr)
    finish_plain_rows<vectors>(sums, first, rows);
  else
    finish_and_draw_rows<vectors>(sums, first, rows);
}

static inline void finish_rows(const RowSums& sums, std::int64_t first, std::int64_t rows) {
  if (sums.columns > 48)
    finish_narrow_rows<4>(sums, first, rows);
  else if (sums.columns > 32)
    finish_narrow_rows<3>(sums, first, rows);
  else if (sums.columns > 16)
    finish_narrow_rows<2>(sums, first, rows);
  else
    finish_narrow_rows<1>(sums, first, rows);
}

// All sums of each `group` rows of a block from first to last: 2^group rows of the table for each group.
template <int vectors, int group>
static inline void tabulate(const RowSums& sums, std::int64_t first, std::int64_t last) {
  for (std::int64_t row = first; row < last; row += group) {
    const float* from = sums.block + row * block_columns;
    float* to = sums.table + ((row - first) / group << group) * block_columns;
    for (int i = 0; i < vectors; ++i) reinterpret_cast<Floats*>(to)[i] = Floats{};
    for (int pattern = 1; pattern < 1 << group; ++pattern) {
      const Floats* rest = reinterpret_cast<const Floats*>(to + (pattern & (pattern - 1)) * block_columns);
      const Floats* one = reinterpret_cast<const Floats*>(from + __builtin_ctz(pattern) * block_columns);
      for (int i = 0; i < vectors; ++i) reinterpret_cast<Floats*>(to + pattern * block_columns)[i] = rest[i] + one[i];
    }
  }
}

template <int vectors>
static inline void add_row(const float* from, Floats (&sum)[vectors]) {
  for (int i = 0; i < vectors; ++i) sum[i] += reinterpret_cast<const Floats*>(from)[i];
}

// Adds the rows that the bits of one word, of so many units, pick: from the block itself or the table of its groups.
template <int vectors, int group>
static inline void add_picked(std::uint64_t bits, std::int64_t units, const float* from, Floats (&sum)[vectors]) {
  if (group == 1) {
    for (; bits != 0; bits &= bits - 1) add_row<vectors>(from + block_columns * __builtin_ctzll(bits), sum);
  } else if (group == 4) {
    std::uint64_t any = bits | bits >> 1;
    any = (any | any >> 2) & 0x1111111111111111U;
    for (; any != 0; any &= any - 1) {
      const int place = __builtin_ctzll(any);
      add_row<vectors>(from + block_columns * (4 * place + static_cast<int>(bits >> place & 15)), sum);
    }
  } else {
    for (int place = 0; place < units; place += 8)
      add_row<vectors>(from + block_columns * (32 * place + static_cast<int>(bits >> place & 255)), sum);
  }
}

// Adds what the bits of a tile of words pick to the partial sums of rows first … . Not inlined: it needs all registers.
template <int vectors, int group>
__attribute__((noinline)) static void add_tile(const RowSums& sums, std::int64_t word, std::int64_t last,
                                               std::int64_t units, std::int64_t first, std::int64_t rows) {
  const std::int64_t words = sums.words;
  const std::uint64_t* bits = sums.bits + first * words;
  const float* from = group == 1 ? sums.block + word * word_bits * block_columns : sums.table;
  float* partial = sums.partial;
  for (std::int64_t r = 0; r < rows; ++r, bits += words, partial += block_columns) {
    Floats* kept = reinterpret_cast<Floats*>(partial);
    Floats sum[vectors];
    for (int i = 0; i < vectors; ++i) sum[i] = word == 0 ? Floats{} : kept[i];
    for (std::int64_t w = word; w < last; ++w)
      add_picked<vectors, group>(bits[w], units, from + (w - word) * word_bits * block_columns, sum);
    for (int i = 0; i < vectors; ++i) kept[i] = sum[i];
  }
}

// Columns 16·vectors of a block; the last block of a matrix is often narrow.
template <int vectors, int group>
static inline void sum_narrow_rows(const RowSums& sums, std::int64_t begin, std::int64_t end) {
  // Tiles of units, so that what can be picked lies in the first cache (two words of bits) or, of tables, in the
  // second. Partial sums of a chunk of rows stay there too.
  constexpr std::int64_t tile = group == 1 ? 2 : 1;
  for (std::int64_t first = begin; first < end; first += chunk_rows) {
    const std::int64_t rows = end - first < chunk_rows ? end - first : chunk_rows;
    for (std::int64_t word = 0; word < sums.words; word += tile) {
      const std::int64_t last = word + tile < sums.words ? word + tile : sums.words;
      const std::int64_t left = sums.block_rows - word * word_bits, units = left < word_bits ? left : word_bits;
      if (group > 1) tabulate<vectors, group>(sums, word * word_bits, word * word_bits + units);
      add_tile<vectors, group>(sums, word, last, units, first, rows);
    }
    finish_narrow_rows<vectors>(sums, first, rows);
  }
}

template <int group>
static inline void sum_grouped_rows(const RowSums& sums, std::int64_t begin, std::int64_t end) {
  if (sums.columns > 48)
    sum_narrow_rows<4, group>(sums, begin, end);
  else if (sums.columns > 32)
    sum_narrow_rows<3, group>(sums, begin, end);
  else if (sums.columns > 16)
    sum_narrow_rows<2, group>(sums, begin, end);
  else
    sum_narrow_rows<1, group>(sums, begin, end);
}

static inline void sum_rows(const RowSums& sums, std::int64_t begin, std::int64_t end) {
  if (sums.group == 8)
    sum_grouped_rows<8>(sums, begin, end);
  else if (sums.group == 4)
    sum_grouped_rows<4>(sums, begin, end);
  else
    sum_grouped_rows<1>(sums, begin, end);
}

static const VectorLoops loops = {HARMONIUM_LOOPS, fill_bits, fill_uniform, pack_bits,
                                  unpack_bits,     turn_tile, sum_rows,     finish_rows};
