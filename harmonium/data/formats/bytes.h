// What all binary formats share: integers at an offset, overflow-safe sizes, tensors from raw bytes of either order.
//
// Nothing here trusts a number found in a file. A size is multiplied with an overflow check, and a tensor is allocated
// only after its bytes are known to be present, so a hostile header costs an error message and not memory.
#pragma once

#include <ATen/ATen.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

namespace harmonium {

template <class T>
[[nodiscard]] T reverse_bytes(T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t i = 0; i < sizeof(T) / 2; ++i) std::swap(bytes[i], bytes[sizeof(T) - 1 - i]);
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// The number of type T at `offset`, written in `order`; the caller has checked that it lies inside `bytes`.
template <class T>
[[nodiscard]] T load(std::string_view bytes, std::size_t offset, std::endian order) {
  static_assert(std::is_arithmetic_v<T>);
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return order == std::endian::native ? value : reverse_bytes(value);
}

// Product of the sizes times `item_size`, or nothing where it does not fit a signed 64-bit integer.
[[nodiscard]] std::optional<std::uint64_t> bytes_needed(std::span<const std::int64_t> shape, std::size_t item_size);

// A contiguous tensor of `shape` from exactly bytes_needed(shape) raw bytes in `order`. For kBool every byte that is
// not zero is true.
[[nodiscard]] at::Tensor tensor_from_bytes(std::string_view bytes, at::ScalarType type,
                                           std::span<const std::int64_t> shape, std::endian order);

// "60000×28×28", for messages.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);
// Text of a file made safe to print: control and non-ASCII bytes become '?', long text is cut.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit = 40);

}  // namespace harmonium
