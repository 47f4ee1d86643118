// Chains of a binary RBM on a CUDA device, kept as bits and walked many steps at a time (kernels/cuda/rbm_walk.h).
//
// Draws are those of kernels/logistic.h given the same fields; fields are sums of weights rounded to fp16, which moves
// them by about one part in two thousand of the weights. Where that is not wanted (Precision::exact), or where a
// machine does not fit, nobody serves and products are of fp32.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/kernels/cuda/rbm_layout.h"

namespace harmonium {

namespace cuda {
struct Walk;
}

enum class Precision { fast, exact };
// Of products on a device, for the whole process; fast unless told otherwise.
[[nodiscard]] Precision device_precision();
void set_device_precision(Precision precision);
// "fast" or "exact".
[[nodiscard]] Precision parse_precision(const std::string& name);

struct RbmParameters {
  const at::Tensor &weights, &visible_bias, &hidden_bias;
};

// Of the visible and of the hidden layer in one step.
using StepKeys = std::array<std::uint64_t, 2>;

class RbmChains {
 public:
  // Whether chains of a machine with these weights (visible × hidden) can be walked: float32 on a device with the
  // tensor cores for it, of a size that fits, and not to be exact.
  [[nodiscard]] static bool serve(const at::Tensor& weights);

  // `rows` chains, all units off.
  RbmChains(const at::Tensor& weights, std::int64_t rows);

  // Tables of 0s and 1s; undefined ones are left as they are.
  void set(const at::Tensor& visible, const at::Tensor& hidden);
  [[nodiscard]] at::Tensor visible() const;
  [[nodiscard]] at::Tensor hidden() const;
  // The same as fp16 into rows of a table, which may be part of a larger one.
  void copy_hidden_to(const at::Tensor& table) const;

  // Takes the weights in; to be called whenever they have changed, unless an update of them writes slabs() itself.
  void arrange(const at::Tensor& weights);
  [[nodiscard]] const at::Tensor& slabs() const { return slabs_; }
  [[nodiscard]] const cuda::WalkShape& shape() const { return shape_; }
  [[nodiscard]] const at::Tensor& visible_words() const { return visible_words_; }

  // Rows of data that are walked beside the chains: words (make_words) or gray values (make_grays) in, means of hidden
  // units out. And the means of the chains.
  struct Learning {
    at::Tensor data, data_means, means;
    std::int64_t data_rows;
  };
  // Sweeps: visible units given hidden ones, then hidden given visible.
  void sweep(const RbmParameters& parameters, const std::vector<StepKeys>& keys, const Learning* learning = nullptr);

  // Steps of annealing along fields base + t (slope + input), from places[0] to places[1], …; slopes are of the biases.
  struct Line {
    at::Tensor visible_base, visible_slope, hidden_base, hidden_slope;
    bool keep_visible;
  };
  // Adds each step's log f(to) − log f(from) to log_weights (float64), then draws the summed layer and the kept one.
  void anneal(const Line& line, const std::vector<float>& places, const std::vector<StepKeys>& keys,
              at::Tensor& log_weights);

  // Empty tables as the kernels want them.
  [[nodiscard]] at::Tensor make_words(std::int64_t rows) const;
  [[nodiscard]] at::Tensor make_grays(std::int64_t rows) const;
  [[nodiscard]] at::Tensor make_means(std::int64_t rows) const;

 private:
  [[nodiscard]] cuda::Walk plan(const float* visible_bias, const float* hidden_bias) const;
  template <class Launch>
  void in_pieces(const std::vector<StepKeys>& keys, cuda::Walk piece, Launch launch);

  std::int64_t rows_;
  std::int64_t visible_, hidden_;
  cuda::WalkShape shape_;
  at::Tensor slabs_, visible_words_, hidden_words_;
  int visible_drawn_ = 0, hidden_drawn_ = 0;  // only even or odd matters
};

}  // namespace harmonium
