#include "harmonium/data/formats/idx.h"

#include <vector>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/gzip.h"

namespace harmonium {

namespace {

std::optional<at::ScalarType> idx_type(unsigned char code) {
  switch (code) {
    case 0x08:
      return at::kByte;
    case 0x09:
      return at::kChar;
    case 0x0B:
      return at::kShort;
    case 0x0C:
      return at::kInt;
    case 0x0D:
      return at::kFloat;
    case 0x0E:
      return at::kDouble;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool is_idx(std::string_view bytes) {
  return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && idx_type(static_cast<unsigned char>(bytes[2])) &&
         bytes[3] != 0;
}

at::Tensor parse_idx(std::string_view bytes, const std::string& where) {
  require(is_idx(bytes), "{}: not an IDX file: bytes 0–3 must be 00 00, a type (08 … 0E) and a number of dimensions",
          where);
  const at::ScalarType type = *idx_type(static_cast<unsigned char>(bytes[2]));
  const std::size_t dimensions = static_cast<unsigned char>(bytes[3]), header = 4 + 4 * dimensions;
  require(dimensions <= 8, "{}: byte 3 claims {} dimensions; at most 8 make sense", where, dimensions);
  require(bytes.size() >= header, "{}: the file ends at byte {}, inside its header of {} bytes", where, bytes.size(),
          header);
  std::vector<std::int64_t> shape;
  for (std::size_t d = 0; d < dimensions; ++d) shape.push_back(load<std::uint32_t>(bytes, 4 + 4 * d, std::endian::big));

  const auto needed = bytes_needed(shape, c10::elementSize(type));
  const std::size_t present = bytes.size() - header;
  require(needed.has_value(), "{}: the sizes {} at byte 4 are absurd", where, shape_text(shape));
  require(
      *needed <= present,
      "{}: the header at byte 4 claims {} values = {} bytes, but the file ends at byte {}, after {} of them; it was "
      "cut short or is damaged, get it again",
      where, shape_text(shape), *needed, bytes.size(), present);
  require(*needed == present, "{}: {} bytes too many, from byte {}: the header claims only {} values", where,
          present - *needed, header + *needed, shape_text(shape));
  return tensor_from_bytes(bytes.substr(header), type, shape, std::endian::big);
}

at::Tensor read_idx_labels(const std::filesystem::path& path) {
  std::string bytes = read_file(path);
  if (is_gzip(bytes)) bytes = gunzip(bytes, path.string());
  const at::Tensor labels = parse_idx(bytes, path.string());
  require(labels.dim() == 1 && !labels.is_floating_point(),
          "{}: {} values are not labels; expected a 1-D IDX file of integers", path.string(),
          shape_text({labels.sizes().data(), labels.sizes().size()}));
  return labels.to(at::kLong);
}

}  // namespace harmonium
