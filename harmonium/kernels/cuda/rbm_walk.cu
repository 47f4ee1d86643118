#include "harmonium/kernels/cuda/rbm_walk.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include "harmonium/kernels/cuda/launch.cuh"
#include "harmonium/kernels/cuda/rbm_layers.cuh"

namespace harmonium::cuda {

namespace {

// learn: sweeps that end with means, and data beside them (bits or gray values).
enum class Order { sweep, learn, learn_grays, keep_visible, keep_hidden };

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
  constexpr bool learns = order == Order::learn || order == Order::learn_grays;
  const SlabsToCome coming(barriers);
  if constexpr (!learns) wait_for_kernel_before();
  const __half* slabs = args.slabs + static_cast<std::size_t>(rank) * shape.numbers();
  if constexpr (hidden_first) coming.ask_for(up_number, slabs, up, shape.up_numbers());
  coming.ask_for(down_number, slabs + shape.up_numbers(), down, shape.down_numbers());
  if constexpr (!hidden_first) coming.ask_for(up_number, slabs, up, shape.up_numbers());
  if constexpr (learns) wait_for_kernel_before();  // the slabs are older, and on their way already
  let_next_kernel_come();
  load_biases<VN>(args.visible, visible_bias);
  load_biases<HN>(args.hidden, hidden_bias);
  __syncthreads();
  const std::uint64_t up_slab = slab_descriptor<HN>(up), down_slab = slab_descriptor<VN>(down);
  constexpr Mode visible_mode = order == Order::sweep          ? Mode::sweep_in_pairs
                                : learns                       ? Mode::sweep
                                : order == Order::keep_visible ? Mode::anneal_kept
                                                               : Mode::anneal_summed;
  constexpr Mode hidden_mode = order == Order::sweep          ? Mode::sweep_in_pairs
                               : learns                       ? Mode::sweep
                               : order == Order::keep_visible ? Mode::anneal_summed
                                                              : Mode::anneal_kept;
  if constexpr (!learns) {
    coming.wait(down_number);
    coming.wait(up_number);
  }
  const auto visible = [&](int step, int hidden_draws) {
    if constexpr (learns) coming.wait(down_number);
    if (rank < VS)
      draw_layer<VN, HN / 16, HS, visible_mode>(args, args.hidden, args.visible, step, 0, down_slab, visible_bias,
                                                hidden_draws);
  };
  const auto hidden = [&](int step, int visible_draws) {
    if constexpr (learns) coming.wait(up_number);
    if (rank < HS)
      draw_layer<HN, VN / 16, VS, hidden_mode>(args, args.visible, args.hidden, step, 1, up_slab, hidden_bias,
                                               visible_draws);
  };
  if constexpr (learns)
    if (rank < HS)
      data_means<HN, VN / 16, VS, order == Order::learn_grays>(args, up_slab, hidden_bias,
                                                               [&] { coming.wait(up_number); });
  constexpr int apart = learns ? 1 : 0;  // the last step is another piece of code
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
  if constexpr (learns) {
    const int last = args.steps - 1;
    visible(last, last);
    coming.wait(up_number);
    if (rank < HS)
      draw_layer<HN, VN / 16, VS, Mode::sweep_and_means>(args, args.visible, args.hidden, last, 1, up_slab, hidden_bias,
                                                         last + 1);
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
      case Order::learn_grays:
        return walk_kernel<VN, VS, HN, HS, Order::learn_grays>;
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
  args.data = plan.data.units.words;
  args.grays = static_cast<const __half*>(plan.data.units.grays);
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
  // The eight of a team wait for each other's words, so all must run at once. Blocks are brought in by their number, a
  // multiprocessor each and no more than there are: if others take some of the device meanwhile, whole teams run, end
  // and make room for the rest. (A cooperative launch would promise as much, and never comes early.)
  launch_early(kernel, dim3(static_cast<unsigned>(teams * team)), 128 * warpgroups, shared_bytes(plan.shape), stream,
               args);
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

void walk(const Walk& plan, Stream stream) {
  const Order learning = plan.data.units.grays == nullptr ? Order::learn : Order::learn_grays;
  launch(plan, plan.means.table == nullptr ? Order::sweep : learning, nullptr, nullptr, stream);
}

void anneal_walk(const Walk& plan, bool keep_visible, const float* places, double* weights, Stream stream) {
  launch(plan, keep_visible ? Order::keep_visible : Order::keep_hidden, places, weights, stream);
}

}  // namespace harmonium::cuda
