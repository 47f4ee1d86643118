#include "harmonium/kernels/rbm_chains.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <atomic>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/kernels/cuda/glue.h"
#include "harmonium/kernels/cuda/rbm_walk.h"

namespace harmonium {

namespace {

std::atomic<Precision> chosen_precision = Precision::fast;

}  // namespace

Precision device_precision() { return chosen_precision; }
void set_device_precision(Precision precision) { chosen_precision = precision; }

Precision parse_precision(const std::string& name) {
  require(name == "fast" || name == "exact", "unknown precision '{}'; there are: fast, exact", name);
  return name == "fast" ? Precision::fast : Precision::exact;
}

#ifdef HARMONIUM_CUDA

namespace {

std::uint32_t* words_of(const at::Tensor& x) { return reinterpret_cast<std::uint32_t*>(x.data_ptr<std::int32_t>()); }

cuda::WalkShape shape_of(const at::Tensor& weights) {
  return cuda::walk_shape(static_cast<int>(weights.size(0)), static_cast<int>(weights.size(1)));
}

const float* numbers(const at::Tensor& x) {
  require(x.is_cuda() && x.is_contiguous() && x.scalar_type() == at::kFloat,
          "a walk wants contiguous float32 on the device");
  return x.data_ptr<float>();
}

}  // namespace

bool RbmChains::serve(const at::Tensor& weights) {
  if (!weights.is_cuda() || weights.scalar_type() != at::kFloat || device_precision() == Precision::exact) return false;
  if (weights.size(0) > 4096 || weights.size(1) > 4096) return false;
  const cuda::WalkShape shape = shape_of(weights);
  return shape.valid() && cuda::walk_teams(shape) > 0;
}

RbmChains::RbmChains(const at::Tensor& weights, std::int64_t rows)
    : rows_(rows), visible_(weights.size(0)), hidden_(weights.size(1)), shape_(shape_of(weights)) {
  // Kernels count units of all rows by 32 bits.
  require(rows >= 1 && rows * std::max(visible_, hidden_) < std::int64_t{1} << 32,
          "{} chains are too many for one walk", rows);
  slabs_ = at::empty({cuda::team * shape_.numbers()}, weights.options().dtype(at::kHalf));
  visible_words_ = make_words(rows);
  hidden_words_ = make_words(rows);
  visible_words_.zero_();
  hidden_words_.zero_();
}

at::Tensor RbmChains::make_words(std::int64_t rows) const {
  return at::empty({cuda::padded_rows(rows), cuda::row_words}, slabs_.options().dtype(at::kInt));
}

at::Tensor RbmChains::make_grays(std::int64_t rows) const {
  return at::empty({cuda::padded_rows(rows), shape_.visible_slab * shape_.visible_slabs}, slabs_.options());
}

at::Tensor RbmChains::make_means(std::int64_t rows) const {
  return at::empty({cuda::padded_rows(rows), cuda::team * shape_.hidden_slab}, slabs_.options());
}

void RbmChains::set(const at::Tensor& visible, const at::Tensor& hidden) {
  const auto pack = [&](const at::Tensor& table, std::int64_t width, int slab, int drawn, const at::Tensor& words) {
    if (!table.defined()) return;
    require(table.dim() == 2 && table.size(0) == rows_ && table.size(1) == width, "chains of {} units want {} rows",
            width, rows_);
    const at::Tensor ready = table.to(words.device(), at::kFloat).contiguous();
    cuda::pack_states(ready.data_ptr<float>(), rows_, static_cast<int>(width), slab, drawn, words_of(words),
                      cuda::stream_of(words));
  };
  pack(visible, visible_, shape_.visible_slab, visible_drawn_, visible_words_);
  pack(hidden, hidden_, shape_.hidden_slab, hidden_drawn_, hidden_words_);
}

at::Tensor RbmChains::visible() const {
  at::Tensor table = at::empty({rows_, visible_}, slabs_.options().dtype(at::kFloat));
  cuda::unpack_states(words_of(visible_words_), rows_, static_cast<int>(visible_), shape_.visible_slab,
                      table.data_ptr<float>(), cuda::stream_of(table));
  return table;
}

at::Tensor RbmChains::hidden() const {
  at::Tensor table = at::empty({rows_, hidden_}, slabs_.options().dtype(at::kFloat));
  cuda::unpack_states(words_of(hidden_words_), rows_, static_cast<int>(hidden_), shape_.hidden_slab,
                      table.data_ptr<float>(), cuda::stream_of(table));
  return table;
}

void RbmChains::copy_hidden_to(const at::Tensor& table) const {
  require(table.is_cuda() && table.scalar_type() == at::kHalf && table.dim() == 2 && table.size(0) == rows_ &&
              table.size(1) == hidden_ && table.stride(1) == 1,
          "hidden units of {} chains go into a table of {} columns", rows_, hidden_);
  cuda::unpack_halves(words_of(hidden_words_), rows_, static_cast<int>(hidden_), shape_.hidden_slab, table.data_ptr(),
                      table.stride(0), cuda::stream_of(table));
}

void RbmChains::arrange(const at::Tensor& weights) {
  cuda::arrange_weights(shape_, numbers(weights), static_cast<int>(visible_), static_cast<int>(hidden_), hidden_,
                        slabs_.data_ptr(), cuda::stream_of(weights));
}

// Launches of at most walk_steps each; `launch` sees what a piece has of the plan, and where it begins.
template <class Launch>
void RbmChains::in_pieces(const std::vector<StepKeys>& keys, cuda::Walk piece, Launch launch) {
  for (std::size_t first = 0; first < keys.size(); first += cuda::walk_steps) {
    piece.steps = static_cast<int>(std::min<std::size_t>(cuda::walk_steps, keys.size() - first));
    piece.keys = reinterpret_cast<const std::uint64_t(*)[2]>(keys.data() + first);
    piece.visible.drawn = visible_drawn_;
    piece.hidden.drawn = hidden_drawn_;
    launch(piece, first);
    visible_drawn_ = (visible_drawn_ + piece.steps) % 2;
    hidden_drawn_ = (hidden_drawn_ + piece.steps) % 2;
  }
}

cuda::Walk RbmChains::plan(const float* visible_bias, const float* hidden_bias) const {
  return {.shape = shape_,
          .slabs = slabs_.data_ptr(),
          .visible = {static_cast<int>(visible_), words_of(visible_words_), 0, visible_bias},
          .hidden = {static_cast<int>(hidden_), words_of(hidden_words_), 0, hidden_bias},
          .rows = rows_,
          .steps = 0,
          .keys = nullptr};
}

void RbmChains::sweep(const RbmParameters& parameters, const std::vector<StepKeys>& keys, const Learning* learning) {
  in_pieces(keys, plan(numbers(parameters.visible_bias), numbers(parameters.hidden_bias)),
            [&](cuda::Walk piece, std::size_t first) {
              if (learning != nullptr && first + static_cast<std::size_t>(piece.steps) == keys.size()) {
                piece.means = {learning->means.data_ptr()};
                const at::Tensor& data = learning->data;
                piece.data = {data.scalar_type() == at::kHalf ? cuda::DataUnits{.grays = data.data_ptr()}
                                                              : cuda::DataUnits{.words = words_of(data)},
                              learning->data_rows,
                              {learning->data_means.data_ptr()}};
              }
              cuda::walk(piece, cuda::stream_of(slabs_));
            });
}

void RbmChains::anneal(const Line& line, const std::vector<float>& places, const std::vector<StepKeys>& keys,
                       at::Tensor& log_weights) {
  require(places.size() == keys.size() + 1 && !keys.empty(), "a walk of {} steps wants one place more, not {}",
          keys.size(), places.size());
  at::Tensor parts = at::zeros({cuda::team * 4, cuda::padded_rows(rows_)}, slabs_.options().dtype(at::kDouble));
  cuda::Walk whole = plan(numbers(line.visible_base), numbers(line.hidden_base));
  whole.visible.slope = numbers(line.visible_slope);
  whole.hidden.slope = numbers(line.hidden_slope);
  in_pieces(keys, whole, [&](const cuda::Walk& piece, std::size_t first) {
    // The kept layer's own part of a first step: later ones are added as the layer is drawn.
    const at::Tensor kept = line.keep_visible ? visible() : hidden();
    const at::Tensor own = kept.mv(line.keep_visible ? line.visible_slope : line.hidden_slope).to(at::kDouble);
    log_weights.add_(own, static_cast<double>(places[first + 1]) - static_cast<double>(places[first]));
    cuda::anneal_walk(piece, line.keep_visible, places.data() + first, parts.data_ptr<double>(),
                      cuda::stream_of(slabs_));
  });
  log_weights.add_(parts.sum(0).narrow(0, 0, rows_));
}

#else

namespace {

[[noreturn]] void no_chains() { fail("chains on a CUDA device: {}", cuda_complaint()); }

}  // namespace

bool RbmChains::serve(const at::Tensor&) { return false; }
RbmChains::RbmChains(const at::Tensor&, std::int64_t) { no_chains(); }
at::Tensor RbmChains::make_words(std::int64_t) const { no_chains(); }
at::Tensor RbmChains::make_grays(std::int64_t) const { no_chains(); }
at::Tensor RbmChains::make_means(std::int64_t) const { no_chains(); }
void RbmChains::set(const at::Tensor&, const at::Tensor&) { no_chains(); }
at::Tensor RbmChains::visible() const { no_chains(); }
at::Tensor RbmChains::hidden() const { no_chains(); }
void RbmChains::copy_hidden_to(const at::Tensor&) const { no_chains(); }
void RbmChains::arrange(const at::Tensor&) { no_chains(); }
void RbmChains::sweep(const RbmParameters&, const std::vector<StepKeys>&, const Learning*) { no_chains(); }
void RbmChains::anneal(const Line&, const std::vector<float>&, const std::vector<StepKeys>&, at::Tensor&) {
  no_chains();
}

#endif

}  // namespace harmonium
