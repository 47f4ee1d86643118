#include "harmonium/kernels/cuda/rbm_walk.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "harmonium/kernels/cuda/launch.cuh"
#include "harmonium/kernels/cuda/rbm_draw.cuh"

namespace harmonium::cuda {

namespace {

constexpr int warpgroups = 3;  // more would have too few registers, fewer wait longer

struct LayerArguments {
  int width;
  std::uint32_t* words;
  std::uint32_t drawn;
  const float *bias, *slope;
};

struct WalkArguments {
  const __half* slabs;
  LayerArguments visible, hidden;
  int tiles, steps;
  const std::uint32_t* data;
  int rows, data_rows, data_tiles;
  __half *means, *data_means;
  double* weights;
  std::int64_t padded;
  std::uint64_t keys[walk_steps][2];
  float places[walk_steps + 2];
};

enum class Mode { sweep, sweep_and_means, anneal_kept, anneal_summed };

// A word may be read before it is written: the tag says which drawing of the layer it is of.
__device__ inline void load_words(const std::uint32_t* from, std::uint32_t (&to)[team]) {
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "l"(from)
               : "memory");
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[4]), "=r"(to[5]), "=r"(to[6]), "=r"(to[7])
               : "l"(from + 4)
               : "memory");
}

template <int slabs>
__device__ inline LaneWords wait_for_words(const std::uint32_t* from, std::uint32_t tag) {
  LaneWords words;
  bool ready;
  do {
    load_words(from, words.first);
    load_words(from + 8 * row_words, words.second);
    std::uint32_t wrong = 0;
#pragma unroll
    for (int w = 0; w < slabs; ++w) wrong |= (words.first[w] ^ tag) | (words.second[w] ^ tag);
    ready = (wrong & tag_bit) == 0;
  } while (!__all_sync(~0u, ready));
  return words;
}

__device__ inline void store_word(std::uint32_t* to, std::uint32_t word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

__device__ inline std::uint32_t two_halves(float first, float second) {
  const __half2 both = __floats2half2_rn(first, second);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

// σ of four units of step j, from t = −field log₂ e.
template <int N>
__device__ inline void store_means(__half* table, int rows, std::uint32_t row, int rank, int j, int lane, float4 t) {
  const auto mean = [](float x) { return reciprocal_fast(1 + exp2_fast(x)); };
  const bool there = row < rows;
  *reinterpret_cast<uint2*>(table + mean_place(row, rank * N + 16 * j + 4 * lane, team * N)) =
      there ? make_uint2(two_halves(mean(t.x), mean(t.y)), two_halves(mean(t.z), mean(t.w))) : make_uint2(0, 0);
}

// Means of hidden units given rows of data.
template <int N, int steps, int slabs, class Wait>
__device__ inline void data_means(const WalkArguments& args, std::uint64_t slab, const float* bias,
                                  Wait wait_for_slab) {
  const int thread = threadIdx.x % 128, lane = thread % 4, warpgroup = threadIdx.x / 128;
  const int rank = blockIdx.x % team, teams = gridDim.x / team;
  // Warpgroups that have no chains of their own do it, or else all.
  const int busy = (args.tiles + teams - 1) / teams, first = busy < warpgroups ? busy : 0;
  if (warpgroup < first) return;
  wait_for_slab();
  bias += 4 * lane;
#pragma unroll 1
  for (int tile = blockIdx.x / team + teams * (warpgroup - first); tile < args.data_tiles;
       tile += teams * (warpgroups - first)) {
    const std::uint32_t row = tile * tile_rows + thread / 32 * 16 + thread % 32 / 4;
    LaneWords bits;
    load_words(args.data + row * row_words + lane * team, bits.first);
    load_words(args.data + (row + 8) * row_words + lane * team, bits.second);
    float sums[N / 2];
    multiply<N, steps, slabs>(sums, bits, slab);
    for_each_four<N>(sums, [&](int j, int second, float4 x) {
      const float4 b = *reinterpret_cast<const float4*>(bias + 16 * j);
      store_means<N>(args.data_means, args.data_rows, row + 8 * second, rank, j, lane,
                     make_float4(fmaf(x.x, minus_log2_e, b.x), fmaf(x.y, minus_log2_e, b.y),
                                 fmaf(x.z, minus_log2_e, b.z), fmaf(x.w, minus_log2_e, b.w)));
    });
  }
}

// Draws one layer in all tiles of a warpgroup. N: units of its slab; `steps`, `slabs` of the layer it is drawn from.
template <int N, int steps, int slabs, Mode mode>
__device__ inline void draw_layer(const WalkArguments& args, const LayerArguments& from, const LayerArguments& to,
                                  int step, int layer, std::uint64_t slab, const float* bias, int from_draws) {
  const int thread = threadIdx.x % 128, lane = thread % 4, warpgroup = threadIdx.x / 128;
  const int rank = blockIdx.x % team, teams = gridDim.x / team;
  const RoundKeys keys(args.keys[step][layer]);
  const std::uint32_t wanted = (from.drawn + from_draws) % 2 * tag_bit, tag = (to.drawn + step + 1) % 2 * tag_bit;
  const float before = args.places[step], after = args.places[step + 1], next = args.places[step + 2];
  bias += 4 * lane;
#pragma unroll 1
  for (int tile = blockIdx.x / team + teams * warpgroup; tile < args.tiles; tile += teams * warpgroups) {
    const std::uint32_t row = tile * tile_rows + thread / 32 * 16 + thread % 32 / 4;
    const LaneWords bits = wait_for_words<slabs>(from.words + row * row_words + lane * team, wanted);
    float sums[N / 2];
    multiply<N, steps, slabs>(sums, bits, slab);
    const std::uint32_t block = (row * to.width + rank * N) / 4 + lane;
    WordHalves words[2];
    float gain[2] = {0, 0};
    for_each_four<N>(sums, [&](int j, int second, float4 x) {
      std::uint32_t random[4];
      keys.block(block + 4 * j + second * 2 * to.width, random);
      const float4 b = *reinterpret_cast<const float4*>(bias + 16 * j);
      float4 t;
      if constexpr (mode == Mode::sweep || mode == Mode::sweep_and_means) {
        t = make_float4(fmaf(x.x, minus_log2_e, b.x), fmaf(x.y, minus_log2_e, b.y), fmaf(x.z, minus_log2_e, b.z),
                        fmaf(x.w, minus_log2_e, b.w));
      } else {
        const float4 s = *reinterpret_cast<const float4*>(bias + N + 16 * j);
        const float scale = minus_log2_e * after;
        const float4 rise = make_float4(x.x + s.x, x.y + s.y, x.z + s.z, x.w + s.w);
        t = make_float4(fmaf(rise.x, scale, b.x), fmaf(rise.y, scale, b.y), fmaf(rise.z, scale, b.z),
                        fmaf(rise.w, scale, b.w));
        if constexpr (mode == Mode::anneal_summed) {
          // ∫ σ(field) d field over the step, by Gauss's rule with two points: the difference of two softplus would be
          // lost in their rounding.
          const float middle = minus_log2_e * 0.5F * (before + after),
                      half = minus_log2_e * 0.28867513F * (after - before);
          const auto mean = [&](float r, float base) {
            return r * (reciprocal_fast(1 + exp2_fast(fmaf(r, middle - half, base))) +
                        reciprocal_fast(1 + exp2_fast(fmaf(r, middle + half, base))));
          };
          gain[second] += mean(rise.x, b.x) + mean(rise.y, b.y) + mean(rise.z, b.z) + mean(rise.w, b.w);
        }
      }
      const float4 signs = make_float4(draw_one(t.x, random[0]), draw_one(t.y, random[1]), draw_one(t.z, random[2]),
                                       draw_one(t.w, random[3]));
      words[second].push(signs);
      if constexpr (mode == Mode::sweep_and_means)
        store_means<N>(args.means, args.rows, row + 8 * second, rank, j, lane, t);
      if constexpr (mode == Mode::anneal_kept) {
        const float4 s = *reinterpret_cast<const float4*>(bias + N + 16 * j);
        gain[second] += (signs.x < 0 ? s.x : 0.0F) + (signs.y < 0 ? s.y : 0.0F) + (signs.z < 0 ? s.z : 0.0F) +
                        (signs.w < 0 ? s.w : 0.0F);
      }
    });
    std::uint32_t* out = to.words + row * row_words + lane * team + rank;
    store_word(out, words[0].word(tag));
    store_word(out + 8 * row_words, words[1].word(tag));
    if constexpr (mode == Mode::anneal_kept || mode == Mode::anneal_summed) {
      double* weight = args.weights + (rank * 4 + lane) * args.padded + row;
      const double factor =
          mode == Mode::anneal_summed ? 0.5 * (static_cast<double>(after) - before) : static_cast<double>(next) - after;
      weight[0] += factor * static_cast<double>(gain[0]);
      weight[8] += factor * static_cast<double>(gain[1]);
    }
  }
}

// This multiprocessor's slabs, on their way to shared memory: work that needs one does not wait for the other.
class SlabsToCome {
 public:
  __device__ explicit SlabsToCome(std::uint64_t* barriers)
      : barriers_(static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers))) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < 2; ++i) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barriers_ + 8 * i));
      asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
  }
  __device__ void ask_for(int which, const __half* from, __half* to, int count) const {
    if (threadIdx.x != 0) return;
    const std::uint32_t barrier = barriers_ + 8 * which;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(count * 2));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
                 "l"(from), "r"(count * 2), "r"(barrier)
                 : "memory");
  }
  __device__ void wait(int which) const {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(
                     barriers_ + 8 * which)
                 : "memory");
  }

 private:
  std::uint32_t barriers_;
};

// A slab's biases, times −log₂ e, and slopes after them. Units beyond the layer's end are never drawn.
template <int N>
__device__ inline void load_biases(const LayerArguments& layer, float* to) {
  for (int i = threadIdx.x; i < N; i += blockDim.x) {
    const int unit = blockIdx.x % team * N + i;
    to[i] = unit < layer.width ? minus_log2_e * layer.bias[unit] : INFINITY;
    to[N + i] = unit < layer.width && layer.slope != nullptr ? layer.slope[unit] : 0;
  }
}

enum class Order { sweep, learn, keep_visible, keep_hidden };  // learn: sweeps that end with means, and data

template <int VN, int VS, int HN, int HS, Order order>
__global__ void __launch_bounds__(128 * warpgroups, 1) walk_kernel(const __grid_constant__ WalkArguments args) {
  constexpr WalkShape shape{VN, VS, HN, HS};
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ __align__(8) std::uint64_t barriers[2];
  __half* up = reinterpret_cast<__half*>(shared);
  __half* down = up + shape.up_numbers();
  float* visible_bias = reinterpret_cast<float*>(down + shape.down_numbers());
  float* hidden_bias = visible_bias + 2 * VN;
  const int rank = blockIdx.x % team;
  constexpr bool hidden_first = order == Order::keep_visible;
  constexpr int up_number = hidden_first ? 0 : 1, down_number = 1 - up_number;
  const SlabsToCome coming(barriers);
  const __half* slabs = args.slabs + static_cast<std::size_t>(rank) * shape.numbers();
  if constexpr (hidden_first) coming.ask_for(up_number, slabs, up, shape.up_numbers());
  coming.ask_for(down_number, slabs + shape.up_numbers(), down, shape.down_numbers());
  if constexpr (!hidden_first) coming.ask_for(up_number, slabs, up, shape.up_numbers());
  load_biases<VN>(args.visible, visible_bias);
  load_biases<HN>(args.hidden, hidden_bias);
  __syncthreads();
  const std::uint64_t up_slab = slab_descriptor<HN>(up), down_slab = slab_descriptor<VN>(down);
  constexpr bool sweeps = order == Order::sweep || order == Order::learn;
  constexpr Mode visible_mode = sweeps                         ? Mode::sweep
                                : order == Order::keep_visible ? Mode::anneal_kept
                                                               : Mode::anneal_summed;
  constexpr Mode hidden_mode = sweeps                         ? Mode::sweep
                               : order == Order::keep_visible ? Mode::anneal_summed
                                                              : Mode::anneal_kept;
  if constexpr (order != Order::learn) {
    coming.wait(down_number);
    coming.wait(up_number);
  }
  const auto visible = [&](int step, int hidden_draws) {
    if constexpr (order == Order::learn) coming.wait(down_number);
    if (rank < VS)
      draw_layer<VN, HN / 16, HS, visible_mode>(args, args.hidden, args.visible, step, 0, down_slab, visible_bias,
                                                hidden_draws);
  };
  const auto hidden = [&](int step, int visible_draws) {
    if constexpr (order == Order::learn) coming.wait(up_number);
    if (rank < HS)
      draw_layer<HN, VN / 16, VS, hidden_mode>(args, args.visible, args.hidden, step, 1, up_slab, hidden_bias,
                                               visible_draws);
  };
  if constexpr (order == Order::learn)
    if (rank < HS) data_means<HN, VN / 16, VS>(args, up_slab, hidden_bias, [&] { coming.wait(up_number); });
  constexpr int apart = order == Order::learn ? 1 : 0;  // the last step is another piece of code
#pragma unroll 1
  for (int step = 0; step < args.steps - apart; ++step) {
    if constexpr (hidden_first) {
      hidden(step, step);
      visible(step, step + 1);
    } else {
      visible(step, step);
      hidden(step, step + 1);
    }
  }
  if constexpr (order == Order::learn) {
    const int last = args.steps - 1;
    visible(last, last);
    coming.wait(up_number);
    if (rank < HS)
      draw_layer<HN, VN / 16, VS, Mode::sweep_and_means>(args, args.visible, args.hidden, last, 1, up_slab, hidden_bias,
                                                         last + 1);
  }
}

// One thread: eight numbers of a column, 16 bytes.
__global__ void arrange_kernel(WalkShape shape, const float* weights, int visible, int hidden, std::int64_t stride,
                               __half* slabs) {
  const int eights = shape.numbers() / 8, rank = blockIdx.y;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < eights; i += gridDim.x * blockDim.x) {
    const bool up = i < shape.up_numbers() / 8;
    const int local = up ? i : i - shape.up_numbers() / 8, columns = up ? shape.hidden_slab : shape.visible_slab;
    const int column = local % columns, k = local / columns * 8;
    const int unit = rank * columns + unit_of_place(column);
    __half numbers[8];
    for (int e = 0; e < 8; ++e) {
      const int other = unit_of_place(k + e), v = up ? other : unit, h = up ? unit : other;
      numbers[e] = __float2half_rn(v < visible && h < hidden ? weights[v * stride + h] : 0.0F);
    }
    *reinterpret_cast<uint4*>(slabs + static_cast<std::size_t>(rank) * shape.numbers() + i * 8) =
        *reinterpret_cast<const uint4*>(numbers);
  }
}

__global__ void pack_kernel(const float* table, std::int64_t rows, std::int64_t padded, int width, int slab,
                            std::uint32_t tag, std::uint32_t* words) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < padded * row_words;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const std::int64_t row = i / row_words;
    const int lane = i % row_words / team;
    std::uint32_t word = tag;
    if (row < rows)
      for (int unit = 0; unit < slab; ++unit) {
        if (unit % 16 / 4 != lane) continue;
        const int place = i % team * slab + unit;
        if (place < width && table[row * width + place] != 0) word |= 1u << bit_place(unit, slab).bit;
      }
    words[i] = word;
  }
}

__global__ void unpack_kernel(const std::uint32_t* words, std::int64_t rows, int width, int slab, float* table,
                              std::int64_t stride) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < rows * width;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    const BitPlace place = bit_place(static_cast<int>(i % width), slab);
    table[i / width * stride + i % width] =
        static_cast<float>(words[i / width * row_words + place.word] >> place.bit & 1);
  }
}

std::size_t shared_bytes(const WalkShape& shape) {
  return 2 * static_cast<std::size_t>(shape.numbers()) +
         2 * sizeof(float) * static_cast<std::size_t>(shape.visible_slab + shape.hidden_slab);
}

using Kernel = void (*)(WalkArguments);

template <int VN, int VS, int HN, int HS>
struct Compiled {
  static constexpr WalkShape shape{VN, VS, HN, HS};
  static Kernel kernel(Order order) {
    switch (order) {
      case Order::sweep:
        return walk_kernel<VN, VS, HN, HS, Order::sweep>;
      case Order::learn:
        return walk_kernel<VN, VS, HN, HS, Order::learn>;
      case Order::keep_visible:
        return walk_kernel<VN, VS, HN, HS, Order::keep_visible>;
      default:
        return walk_kernel<VN, VS, HN, HS, Order::keep_hidden>;
    }
  }
};

bool same(const WalkShape& a, const WalkShape& b) {
  return a.visible_slab == b.visible_slab && a.visible_slabs == b.visible_slabs && a.hidden_slab == b.hidden_slab &&
         a.hidden_slabs == b.hidden_slabs;
}

// Calls f with each shape that is compiled, the smallest first, until it says true.
template <class F>
void for_each_shape(F f) {
  f(Compiled<32, 8, 32, 8>{}) || f(Compiled<64, 8, 64, 8>{}) || f(Compiled<112, 7, 64, 8>{}) ||
      f(Compiled<112, 8, 64, 8>{}) || f(Compiled<64, 8, 112, 8>{});
}

Kernel kernel_of(const WalkShape& shape, Order order) {
  Kernel found = nullptr;
  for_each_shape([&](auto compiled) {
    if (same(compiled.shape, shape)) found = compiled.kernel(order);
    return found != nullptr;
  });
  if (found == nullptr) throw std::runtime_error("no walk is compiled for this shape");
  allow_shared_memory(found, static_cast<int>(shared_bytes(shape)));
  return found;
}

LayerArguments arguments_of(const LayerOfWalk& layer) {
  return {layer.width, layer.words, static_cast<std::uint32_t>(layer.drawn), layer.bias, layer.slope};
}

void launch(const Walk& plan, Order order, const float* places, double* weights, Stream stream) {
  if (plan.steps < 1 || plan.steps > walk_steps) throw std::runtime_error("a walk has 1 to 256 steps");
  WalkArguments args{};
  args.slabs = static_cast<const __half*>(plan.slabs);
  args.visible = arguments_of(plan.visible);
  args.hidden = arguments_of(plan.hidden);
  args.padded = padded_rows(plan.rows);
  args.tiles = static_cast<int>(args.padded / tile_rows);
  args.steps = plan.steps;
  args.weights = weights;
  args.rows = static_cast<int>(plan.rows);
  args.means = static_cast<__half*>(plan.means.table);
  args.data = plan.data.words;
  args.data_rows = static_cast<int>(plan.data.rows);
  args.data_tiles = static_cast<int>(padded_rows(plan.data.rows) / tile_rows);
  args.data_means = static_cast<__half*>(plan.data.means.table);
  for (int step = 0; step < plan.steps; ++step)
    for (int layer = 0; layer < 2; ++layer) args.keys[step][layer] = plan.keys[step][layer];
  if (places != nullptr) std::copy(places, places + plan.steps + 1, args.places);
  args.places[plan.steps + 1] = args.places[plan.steps];  // so that the last kept layer adds nothing yet
  const Kernel kernel = kernel_of(plan.shape, order);
  const int teams = std::min(walk_teams(plan.shape), std::max(args.tiles, args.data_tiles));
  if (teams < 1) throw std::runtime_error("this device cannot hold a walk");
  void* parameters[] = {&args};
  // Teams wait for each other's words, so all must run at once: what a cooperative launch makes sure of.
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(teams * team), dim3(128 * warpgroups),
                                    parameters, shared_bytes(plan.shape), stream),
        "launch of a walk");
}

}  // namespace

WalkShape walk_shape(int visible, int hidden) {
  WalkShape found;
  if (visible < 1 || hidden < 1 || visible % 4 != 0 || hidden % 4 != 0) return found;
  for_each_shape([&](auto compiled) {
    const WalkShape& shape = compiled.shape;
    if (visible <= shape.visible_slab * shape.visible_slabs && hidden <= shape.hidden_slab * shape.hidden_slabs)
      found = shape;
    return found.valid();
  });
  return found;
}

namespace {

// What a walk asks of a device, once: the answer takes as long as a launch.
struct DeviceFacts {
  int processors = 0, major = 0, shared = 0;
};

DeviceFacts device_facts() {
  static std::mutex mutex;
  static std::map<int, DeviceFacts> known;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  const std::lock_guard lock(mutex);
  const auto [entry, fresh] = known.try_emplace(device);
  if (fresh) {
    const auto ask = [&](int& answer, cudaDeviceAttr what) {
      check(cudaDeviceGetAttribute(&answer, what, device), "asking about the device");
    };
    ask(entry->second.major, cudaDevAttrComputeCapabilityMajor);
    ask(entry->second.processors, cudaDevAttrMultiProcessorCount);
    ask(entry->second.shared, cudaDevAttrMaxSharedMemoryPerBlockOptin);
  }
  return entry->second;
}

}  // namespace

int walk_teams(const WalkShape& shape) {
  const DeviceFacts facts = device_facts();
  return facts.major == 9 && static_cast<std::size_t>(facts.shared) >= shared_bytes(shape) + 64
             ? facts.processors / team
             : 0;
}

void arrange_weights(const WalkShape& shape, const float* weights, int visible, int hidden, std::int64_t stride,
                     void* slabs, Stream stream) {
  arrange_kernel<<<dim3(16, team), 256, 0, stream>>>(shape, weights, visible, hidden, stride,
                                                     static_cast<__half*>(slabs));
  check_launch("weights of a walk");
}

void pack_states(const float* table, std::int64_t rows, int width, int slab, int tag, std::uint32_t* words,
                 Stream stream) {
  pack_kernel<<<blocks_for(padded_rows(rows) * row_words), 256, 0, stream>>>(table, rows, padded_rows(rows), width,
                                                                             slab, tag % 2 * tag_bit, words);
  check_launch("states of a walk");
}

void unpack_states(const std::uint32_t* words, std::int64_t rows, int width, int slab, float* table,
                   std::int64_t stride, Stream stream) {
  unpack_kernel<<<blocks_for(rows * width), 256, 0, stream>>>(words, rows, width, slab, table, stride);
  check_launch("states of a walk");
}

void walk(const Walk& plan, Stream stream) {
  launch(plan, plan.means.table == nullptr ? Order::sweep : Order::learn, nullptr, nullptr, stream);
}

void anneal_walk(const Walk& plan, bool keep_visible, const float* places, double* weights, Stream stream) {
  launch(plan, keep_visible ? Order::keep_visible : Order::keep_hidden, places, weights, stream);
}

}  // namespace harmonium::cuda
