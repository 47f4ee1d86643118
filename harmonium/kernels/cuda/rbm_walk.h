// Many Gibbs sweeps, or steps of annealing, of a binary RBM in one launch: the weights stay in shared memory, units are
// drawn from the sums in registers, and only bits travel between multiprocessors. Products are of fp16 weights (rounded
// from fp32) with exact bits, summed in fp32. Random numbers are those of core/key.h, as on the CPU, with one
// exception: in sweeps that neither learn nor anneal a random word serves two rows. Row r takes the words that row r &
// ~8 has on the CPU, with their halves swapped where r & 8 is set. Each draw has the full 24 bits, and the two are
// independent unless the leading 16 bits of one are those of its probability: their covariance is below 2^-16. Random
// numbers are a third of the time of a sweep, and this is half of them.
//
// No LibTorch here: pointers are of the device, and everything happens on the given stream.
#pragma once

#include <cstdint>

#include "harmonium/kernels/cuda/elementwise.h"
#include "harmonium/kernels/cuda/rbm_layout.h"

namespace harmonium::cuda {

inline constexpr int walk_steps = 256;  // at most so many in one launch: their keys travel with it

// The shape of a walk for so many units, or an invalid one where it does not fit into shared memory. Widths are
// multiples of 4, so that four units that share random numbers are in one row.
[[nodiscard]] WalkShape walk_shape(int visible, int hidden);
// Teams that can run at once on the current device; 0 where it has no such tensor cores or too little shared memory.
[[nodiscard]] int walk_teams(const WalkShape& shape);

// Rows of states take whole tiles.
[[nodiscard]] constexpr std::int64_t padded_rows(std::int64_t rows) {
  return (rows + tile_rows - 1) / tile_rows * tile_rows;
}

// fp32 weights (visible × hidden, `stride` numbers from row to row) as slabs: team · shape.numbers() of fp16.
void arrange_weights(const WalkShape& shape, const float* weights, int visible, int hidden, std::int64_t stride,
                     void* slabs, Stream stream);
// A table of 0s and 1s as words, and back. Words carry the given tag.
void pack_states(const float* table, std::int64_t rows, int width, int slab, int tag, std::uint32_t* words,
                 Stream stream);
void unpack_states(const std::uint32_t* words, std::int64_t rows, int width, int slab, float* table, Stream stream);
// The same in fp16, into rows that are `stride` numbers apart; and means σ(input + bias) beside them.
void unpack_halves(const std::uint32_t* words, std::int64_t rows, int width, int slab, void* table, std::int64_t stride,
                   Stream stream);
void put_means(const float* input, const float* bias, std::int64_t rows, int width, void* table, std::int64_t stride,
               Stream stream);

struct LayerOfWalk {
  int width;
  std::uint32_t* words;          // padded_rows × row_words
  int drawn;                     // how often so far: even or odd is the tag of its words
  const float* bias;             // of the base where a walk anneals
  const float* slope = nullptr;  // annealing: target's bias − base's
};

// σ(field) of hidden units, fp16: padded_rows × team·hidden_slab, in the order of mean_place(), zero beyond the rows
// and units there are.
struct Means {
  void* table = nullptr;
};

// Visible units of rows of data: bits, or gray values (fp16, in the order of gray_place(), zero beyond the rows and
// units there are).
struct DataUnits {
  std::uint32_t* words = nullptr;
  void* grays = nullptr;
};

// Rows of data beside the walk, whose hidden units are wanted by their means.
struct DataOfWalk {
  DataUnits units;
  std::int64_t rows = 0;
  Means means;
};

struct Walk {
  WalkShape shape;
  const void* slabs;
  LayerOfWalk visible, hidden;
  std::int64_t rows;
  int steps;
  const std::uint64_t (*keys)[2];  // on the host: of the visible and the hidden layer, for every step
  Means means = {};                // sweeps: of the hidden units at the last step, where wanted
  DataOfWalk data = {};            // sweeps: taken along, where wanted
};

// `steps` sweeps: visible units given hidden ones, then hidden given visible. With means and data, the slabs must have
// been there before the kernel just before this one began.
void walk(const Walk& plan, Stream stream);

// Steps of annealing from places[0] to places[1], …, places[steps] (on the host), where fields at place t are
// base + t (slope + input). A step adds log f(places[k+1]) − log f(places[k]) of each row to its weight, then draws the
// summed layer and the kept one at places[k+1]. `weights`: team·4 × padded_rows numbers, added to; a row's is their
// sum. The kept layer's own part of the first step is the caller's (slope·x·(places[1] − places[0])).
void anneal_walk(const Walk& plan, bool keep_visible, const float* places, double* weights, Stream stream);

}  // namespace harmonium::cuda
