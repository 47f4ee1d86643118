#include "harmonium/core/device.h"

#include "harmonium/core/error.h"

namespace harmonium {

std::string cuda_complaint() {
#if defined(HARMONIUM_CUDA)
  if (!at::hasCUDA())
    return "no CUDA device found: LibTorch sees none. Check that nvidia-smi lists one, that its driver is not older "
           "than "
           "LibTorch's CUDA, and that CUDA_VISIBLE_DEVICES does not hide it; or use @device cpu";
  return {};
#elif defined(HARMONIUM_TORCH_HAS_CUDA)
  return "this build has no CUDA kernels: no nvcc was found when it was configured. Install the CUDA toolkit, "
         "configure "
         "and build again; or use @device cpu";
#else
  return "this build's LibTorch is CPU only. Configure and build with one that has CUDA (for example "
         "-DCMAKE_PREFIX_PATH=\"$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')\" of a CUDA "
         "PyTorch); "
         "or use @device cpu";
#endif
}

at::Device find_device(const std::string& name) {
  if (name == "cpu") return {at::kCPU};
  require(name == "cuda", "@device {}: there are cpu and cuda", name);
  const std::string complaint = cuda_complaint();
  require(complaint.empty(), "@device cuda: {}", complaint);
  // Convolutions as products are: in float32 unless somebody asks for TF32, and the same bits every time.
  at::globalContext().setAllowTF32CuDNN(at::globalContext().allowTF32CuBLAS());
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  return {at::kCUDA, 0};
}

}  // namespace harmonium
