#include <algorithm>
#include <chrono>
#include <fstream>

#include "bench/gpu/gpu_bench.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/digits.h"

namespace harmonium::bench {

namespace {

Dataset read_images(const std::string& path) {
  constexpr std::int64_t header = 16, pixels = 784;
  std::ifstream file(path, std::ios::binary);
  require(file.good(), "{}: cannot be read", path);
  const std::vector<char> all{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = static_cast<std::int64_t>(all.size()) - header;
  require(bytes > 0 && bytes % pixels == 0, "{}: not images of 28×28 bytes (unpack it first)", path);
  at::Tensor values = at::empty({bytes / pixels, pixels}, at::kByte);
  std::copy(all.begin() + header, all.end(), reinterpret_cast<char*>(values.data_ptr<std::uint8_t>()));
  return {.name = path, .values = values, .scale = 1.0 / 255};
}

// The small digits at hand, drawn large.
Dataset large_digits(const Dataset& small) {
  const std::int64_t rows = small.rows();
  const at::Tensor large = at::upsample_bilinear2d(small.to_float().view({rows, 1, 8, 8}), {28, 28}, false);
  return {.name = "large digits",
          .values = large.mul(255).to(at::kByte).reshape({rows, 784}).contiguous(),
          .scale = 1.0 / 255};
}

}  // namespace

GpuSubject gpu_subject(const std::string& folder) {
  if (folder.empty()) {
    const Split split = digits_split();
    return {large_digits(split.train), large_digits(split.test)};
  }
  return {read_images(folder + "/train-images-idx3-ubyte"), read_images(folder + "/t10k-images-idx3-ubyte")};
}

double device_median(const std::function<void()>& work, int turns) {
  std::vector<double> times;
  const at::Tensor marker = at::zeros({1}, at::TensorOptions().device(at::kCUDA));
  for (int turn = -1; turn < turns; ++turn) {
    wait_for_device(marker);
    const auto start = std::chrono::steady_clock::now();
    work();
    wait_for_device(marker);
    if (turn >= 0) times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

}  // namespace harmonium::bench
