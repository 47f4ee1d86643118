#include "harmonium/data/formats/npy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/gzip.h"
#include "harmonium/data/formats/npy_header.h"

namespace harmonium {

namespace {

constexpr std::string_view npy_magic = "\x93NUMPY";

struct NpyType {
  std::string_view code;
  at::ScalarType stored;  // same bytes
  at::ScalarType result;  // differs where the bytes are an unsigned number that tensors do not have
};
constexpr std::array<NpyType, 11> npy_types{{{"b1", at::kBool, at::kBool},
                                             {"u1", at::kByte, at::kByte},
                                             {"i1", at::kChar, at::kChar},
                                             {"i2", at::kShort, at::kShort},
                                             {"u2", at::kShort, at::kInt},
                                             {"i4", at::kInt, at::kInt},
                                             {"u4", at::kInt, at::kLong},
                                             {"i8", at::kLong, at::kLong},
                                             {"f2", at::kHalf, at::kHalf},
                                             {"f4", at::kFloat, at::kFloat},
                                             {"f8", at::kDouble, at::kDouble}}};

// The part of the file after the fixed bytes, split into header text and values.
struct NpyParts {
  std::string_view header, values;
  std::size_t header_start = 0;
};

NpyParts split_npy(std::string_view bytes, const std::string& where) {
  require(is_npy(bytes), "{}: not an NPY file (byte 0 is not \\x93NUMPY)", where);
  require(bytes.size() >= 10, "{}: the file ends at byte {}, inside the fixed NPY header", where, bytes.size());
  const int major = static_cast<unsigned char>(bytes[6]);
  require(major >= 1 && major <= 3, "{}: NPY version {} at byte 6 is unknown; versions 1 to 3 are read", where, major);
  const std::size_t start = major == 1 ? 10 : 12;
  require(bytes.size() >= start, "{}: the file ends at byte {}, inside the fixed NPY header", where, bytes.size());
  const std::uint32_t length = major == 1 ? load<std::uint16_t>(bytes, 8, std::endian::little)
                                          : load<std::uint32_t>(bytes, 8, std::endian::little);
  require(length <= bytes.size() - start, "{}: the header at byte {} claims {} bytes, but the file ends at byte {}",
          where, start, length, bytes.size());
  return {bytes.substr(start, length), bytes.substr(start + length), start};
}

const NpyType* find_npy_type(std::string_view descr) {
  if (descr.size() != 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos) return nullptr;
  const auto* type = std::ranges::find(npy_types, descr.substr(1), &NpyType::code);
  return type == npy_types.end() ? nullptr : type;
}

}  // namespace

bool is_npy(std::string_view bytes) { return bytes.starts_with(npy_magic); }

at::Tensor parse_npy(std::string_view bytes, const std::string& where) {
  const NpyParts parts = split_npy(bytes, where);
  NpyHeader header = parse_npy_header(parts.header, parts.header_start, where);
  if (header.descr.starts_with("|S") && header.shape.empty()) {
    // A text, which numpy pads with zeros to the length that its type names.
    const std::string text(parts.values.substr(0, parts.values.find('\0')));
    require(header.descr == format("|S{}", parts.values.size()),
            "{}: a text of type '{}' in {} bytes; the file is damaged, get it again", where, printable(header.descr),
            parts.values.size());
    const std::array length{static_cast<std::int64_t>(text.size())};
    return tensor_from_bytes(text, at::kByte, length, std::endian::little);
  }
  const NpyType* type = find_npy_type(header.descr);
  require(type != nullptr,
          "{}: the type '{}' in the header at byte {} is not supported; save the array as uint8, int32, int64, float32 "
          "or float64",
          where, printable(header.descr), parts.header_start);

  const auto needed = bytes_needed(header.shape, c10::elementSize(type->stored));
  require(needed.has_value(), "{}: the shape {} in the header at byte {} is absurd", where, shape_text(header.shape),
          parts.header_start);
  const std::size_t present = parts.values.size(), start = bytes.size() - present;
  require(
      *needed <= present,
      "{}: the header claims {} values = {} bytes, but the file ends at byte {}, after {} of them; it was cut short "
      "or is damaged, get it again",
      where, shape_text(header.shape), *needed, bytes.size(), present);
  require(*needed == present, "{}: {} bytes too many, from byte {}: the header claims only {} values", where,
          present - *needed, start + *needed, shape_text(header.shape));

  // Fortran order is C order with the sizes reversed.
  if (header.fortran_order) std::ranges::reverse(header.shape);
  const std::endian order = header.descr[0] == '>' ? std::endian::big : std::endian::little;
  at::Tensor tensor = tensor_from_bytes(parts.values, type->stored, header.shape, order);
  if (header.fortran_order) {
    std::vector<std::int64_t> axes;
    for (std::int64_t axis = tensor.dim() - 1; axis >= 0; --axis) axes.push_back(axis);
    tensor = tensor.permute(axes).contiguous();
  }
  if (type->stored == type->result) return tensor;
  const std::int64_t mask = type->stored == at::kShort ? 0xFFFF : 0xFFFFFFFF;
  return tensor.to(at::kLong).bitwise_and(mask).to(type->result);
}

std::string encode_npy(const at::Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");
  const auto* type = std::ranges::find_if(
      npy_types, [&](const NpyType& t) { return t.result == tensor.scalar_type() && t.stored == t.result; });
  require(type != npy_types.end(), "encode_npy: tensors of type {} cannot be written",
          c10::toString(tensor.scalar_type()));
  const at::Tensor values = tensor.contiguous().cpu();

  std::string shape;
  for (const std::int64_t size : values.sizes()) shape += format("{}, ", size);
  if (values.dim() > 1) shape.resize(shape.size() - 2);
  if (values.dim() == 1) shape.resize(shape.size() - 1);  // "(3,)", Python's tuple of one
  const char order = values.element_size() == 1 ? '|' : '<';
  std::string header = format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}", order, type->code, shape);
  // The values begin at a multiple of 64 bytes, and the header ends in a line feed, as numpy writes it.
  constexpr std::size_t fixed = 10, alignment = 64;
  header.append(alignment - 1 - (fixed + header.size()) % alignment, ' ');
  header += '\n';

  std::string bytes(npy_magic);
  bytes += {'\1', '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  bytes += header;
  bytes.append(static_cast<const char*>(values.data_ptr()), static_cast<std::size_t>(values.nbytes()));
  return bytes;
}

at::Tensor read_npy(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  if (is_gzip(bytes)) bytes = gunzip(bytes, path.string());
  return parse_npy(bytes, path.string());
}

void write_npy(const std::filesystem::path& path, const at::Tensor& tensor) {
  write_file_atomically(path, encode_npy(tensor));
}

}  // namespace harmonium
