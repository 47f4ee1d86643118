#include "harmonium/data/formats/bytes.h"

#include "harmonium/core/format.h"

namespace harmonium {

namespace {

template <class T>
void reverse_each(void* data, std::int64_t count) {
  auto* values = static_cast<T*>(data);
  for (std::int64_t i = 0; i < count; ++i) values[i] = reverse_bytes(values[i]);
}

}  // namespace

std::optional<std::uint64_t> bytes_needed(std::span<const std::int64_t> shape, std::size_t item_size) {
  // A zero among the sizes must not excuse the others: 0 × 2⁶³ × 2⁶³ would overflow the strides of a tensor.
  std::int64_t total = static_cast<std::int64_t>(item_size);
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    is_empty |= size == 0;
    if (size > 0 && __builtin_mul_overflow(total, size, &total)) return std::nullopt;
  }
  return is_empty ? 0 : static_cast<std::uint64_t>(total);
}

at::Tensor tensor_from_bytes(std::string_view bytes, at::ScalarType type, std::span<const std::int64_t> shape,
                             std::endian order) {
  const bool is_bool = type == at::kBool;
  at::Tensor tensor = at::empty(at::IntArrayRef(shape.data(), shape.size()), is_bool ? at::kByte : type);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  if (order != std::endian::native) {
    switch (tensor.element_size()) {
      case 2:
        reverse_each<std::uint16_t>(tensor.data_ptr(), tensor.numel());
        break;
      case 4:
        reverse_each<std::uint32_t>(tensor.data_ptr(), tensor.numel());
        break;
      case 8:
        reverse_each<std::uint64_t>(tensor.data_ptr(), tensor.numel());
        break;
      default:
        break;
    }
  }
  // Any other byte in a bool is undefined behaviour for whoever reads it.
  return is_bool ? tensor.ne(0) : tensor;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  if (shape.empty()) return "a single number";
  std::string text;
  for (const std::int64_t size : shape) text += format("{}{}", text.empty() ? "" : "×", size);
  return text;
}

std::string printable(std::string_view text, std::size_t limit) {
  std::string safe(text.substr(0, limit));
  for (char& c : safe) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > limit ? safe + "…" : safe;
}

}  // namespace harmonium
