// Where tensors live and work is done: the CPU, or a CUDA device.
//
// Every tensor is made where those it works with are, so that a machine on a device keeps its whole training there;
// what belongs to the CPU by nature (enumeration, files, pictures) asks for a copy by on_cpu().
#pragma once

#include <ATen/ATen.h>

#include <string>

namespace harmonium {

// Empty where CUDA can be used; else what is missing and what to do about it.
[[nodiscard]] std::string cuda_complaint();
// "cpu" or "cuda". Fails with that complaint where there is no such device: nothing falls back in silence.
[[nodiscard]] at::Device find_device(const std::string& name);

// The tensor itself where it is on the CPU or undefined, else a copy there.
[[nodiscard]] inline at::Tensor on_cpu(const at::Tensor& x) { return x.defined() ? x.cpu() : x; }

// Returns when all that a device was asked to do before has been done, as clocks want it; at once on the CPU. One
// number of the tensor is fetched, which comes after everything else.
inline void wait_for_device(const at::Tensor& x) {
  if (!x.is_cpu() && x.numel() > 0) (void)x.reshape(-1).narrow(0, 0, 1).cpu();
}

// Products and convolutions on a device may be rounded to TF32 while this lives: for what only shapes a metric, or is
// noisy anyway.
class FastProducts {
 public:
  explicit FastProducts(at::Device device) : before_(at::globalContext().allowTF32CuBLAS()), device_(device) {
    allow(true);
  }
  ~FastProducts() { allow(before_); }
  FastProducts(const FastProducts&) = delete;
  FastProducts& operator=(const FastProducts&) = delete;

 private:
  void allow(bool tf32) const {
    if (!device_.is_cuda()) return;
    at::globalContext().setAllowTF32CuBLAS(tf32);
    at::globalContext().setAllowTF32CuDNN(tf32);
  }

  bool before_;
  at::Device device_;
};

}  // namespace harmonium
