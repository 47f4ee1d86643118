// The reference: what a careful user of LibTorch would write for a binary RBM, in the library's own operations and
// nothing else. It is kept for the benchmarks only.
#pragma once

#include <ATen/ATen.h>

namespace harmonium::bench {

// A Gibbs sweep, and its two matrix products alone.
struct PlainSweep {
  at::Tensor w, a, b;  // weights, visible and hidden biases
  at::Tensor v, h;
  void operator()();
  void products_alone() const;
};

// FANG as MATH writes it down: PCD-1, particles by their expectation, statistics every 10th update and a refit every
// 100th.
class PlainFang {
 public:
  PlainFang(at::Tensor images, std::int64_t hidden, std::int64_t batch);
  void update();
  [[nodiscard]] const at::Tensor& weights() const { return w_; }

 private:
  void observe(double share);
  void refit();

  at::Tensor images_;  // gray, in [0, 1]
  std::int64_t batch_, update_ = 0;
  at::Tensor w_, a_, b_, mean_w_, mean_a_, mean_b_, h_;
  at::Tensor second_, mean_, inverse_, alpha_, beta_, variance_;
};

}  // namespace harmonium::bench
