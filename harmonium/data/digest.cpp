#include "harmonium/data/digest.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "harmonium/core/device.h"
#include "harmonium/core/format.h"
#include "harmonium/core/sha256.h"

namespace harmonium {

namespace {

constexpr std::int64_t digest_piece = std::int64_t{1} << 20;  // bytes

std::string tensor_digest(const at::Tensor& tensor) {
  if (!tensor.defined()) return "none";
  const at::Tensor whole = on_cpu(tensor).contiguous();
  std::string shape;
  for (const std::int64_t size : whole.sizes()) shape += format("{} ", size);
  const auto bytes = static_cast<std::int64_t>(whole.nbytes());
  const char* const data = static_cast<const char*>(whole.data_ptr());
  std::vector<std::string> pieces(static_cast<std::size_t>((bytes + digest_piece - 1) / digest_piece));
  at::parallel_for(0, static_cast<std::int64_t>(pieces.size()), 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i * digest_piece;
      const auto length = static_cast<std::size_t>(std::min(digest_piece, bytes - first));
      pieces[static_cast<std::size_t>(i)] = sha256(std::string_view(data + first, length));
    }
  });
  std::string all = format("{}{}", shape, at::toString(whole.scalar_type()));
  for (const std::string& piece : pieces) all += " " + piece;
  return sha256(all);
}

}  // namespace

std::string dataset_digest(const Dataset& data) {
  return sha256(
      format("values {} scale {} labels {}", tensor_digest(data.values), data.scale, tensor_digest(data.labels)));
}

}  // namespace harmonium
