#include "harmonium/data/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"

namespace harmonium {

namespace {

using nlohmann::json;

constexpr std::size_t safetensors_prefix = 8;                  // the header's length
constexpr std::uint64_t max_safetensors_header = 100'000'000;  // the reference implementation's limit
constexpr std::string_view safetensors_metadata = "__metadata__";

struct SafetensorsType {
  std::string_view name;
  at::ScalarType type;
};
constexpr std::array<SafetensorsType, 6> safetensors_types{{{"F32", at::kFloat},
                                                            {"F64", at::kDouble},
                                                            {"I64", at::kLong},
                                                            {"I32", at::kInt},
                                                            {"U8", at::kByte},
                                                            {"BOOL", at::kBool}}};

json parse_safetensors_header(std::string_view text, const std::string& where) {
  // JSON leaves the meaning of a repeated name open, so two readers could see two different files: reject it.
  std::set<std::string> seen;
  const json::parser_callback_t reject_repeats = [&](int depth, json::parse_event_t event, json& value) {
    if (depth == 1 && event == json::parse_event_t::key) {
      const auto name = value.get<std::string>();
      require(seen.insert(name).second, "{}: the header names tensor '{}' twice", where, printable(name));
    }
    return true;
  };
  try {
    json header = json::parse(text, reject_repeats);
    require(header.is_object(), "{}: the header at byte {} is not a JSON object", where, safetensors_prefix);
    return header;
  } catch (const json::parse_error& error) {
    fail("{}: the JSON header is damaged at byte {}", where, safetensors_prefix + error.byte);
  } catch (const json::exception& error) {  // a number beyond all range
    fail("{}: the JSON header at byte {} is damaged: {}", where, safetensors_prefix, printable(error.what(), 100));
  }
}

struct SafetensorsEntry {
  std::string name;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;
};

std::uint64_t natural_number_of_json(const json& value, const std::string& where, const std::string& what) {
  require(value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 62,
          "{}: {} is not a natural number", where, what);
  return value.get<std::uint64_t>();
}

const json& field_of_json(const json& entry, const char* name, const std::string& where) {
  require(entry.is_object() && entry.contains(name), "{}: lacks \"{}\"", where, name);
  return entry[name];
}

SafetensorsEntry parse_safetensors_entry(const std::string& name, const json& value, std::uint64_t data_size,
                                         const std::string& where) {
  const std::string here = format("{}: tensor '{}'", where, printable(name, 80));
  SafetensorsEntry entry;
  entry.name = name;

  const json& dtype = field_of_json(value, "dtype", here);
  const auto* type =
      std::ranges::find(safetensors_types, dtype.is_string() ? dtype.get<std::string>() : "", &SafetensorsType::name);
  require(type != safetensors_types.end(), "{}: its dtype is not one of F32 F64 I64 I32 U8 BOOL", here);
  entry.type = type->type;

  const json& shape = field_of_json(value, "shape", here);
  require(shape.is_array() && shape.size() <= 32, "{}: its shape is not a list of at most 32 sizes", here);
  for (const json& size : shape)
    entry.shape.push_back(static_cast<std::int64_t>(natural_number_of_json(size, here, "a size of its shape")));

  const json& offsets = field_of_json(value, "data_offsets", here);
  require(offsets.is_array() && offsets.size() == 2, "{}: its data_offsets are not [begin, end]", here);
  entry.begin = natural_number_of_json(offsets[0], here, "its first data offset");
  entry.end = natural_number_of_json(offsets[1], here, "its second data offset");
  require(entry.begin <= entry.end && entry.end <= data_size,
          "{}: its data offsets [{}, {}] lie outside the {} bytes of values; the file was cut short or is damaged",
          here, entry.begin, entry.end, data_size);
  const auto needed = bytes_needed(entry.shape, c10::elementSize(entry.type));
  require(needed.has_value(), "{}: its shape {} is absurd", here, shape_text(entry.shape));
  require(*needed == entry.end - entry.begin, "{}: shape {} of {} needs {} bytes, its data offsets span {}", here,
          shape_text(entry.shape), type->name, *needed, entry.end - entry.begin);
  return entry;
}

// Tensors without bytes begin where their neighbour does, so a reader can only tell them apart by name: they are
// written in the order in which they will be read.
void sort_neighbours_without_bytes(std::vector<std::size_t>& order, const TensorFile& file) {
  const auto tensor = [&](std::size_t i) -> const at::Tensor& { return file.tensors[i].second; };
  for (auto begin = order.begin(); begin != order.end();) {
    auto end = std::next(begin);
    if (tensor(*begin).nbytes() == 0)
      end = std::find_if(begin, order.end(), [&](std::size_t i) {
        return tensor(i).nbytes() != 0 || tensor(i).element_size() != tensor(*begin).element_size();
      });
    std::sort(begin, end, [&](std::size_t a, std::size_t b) { return file.tensors[a].first < file.tensors[b].first; });
    begin = end;
  }
}

}  // namespace

bool TensorFile::contains(std::string_view name) const {
  return std::ranges::any_of(tensors, [&](const auto& entry) { return entry.first == name; });
}

const at::Tensor& TensorFile::get(std::string_view name) const {
  std::string names;
  for (const auto& [key, value] : tensors) {
    if (key == name) return value;
    names += (names.empty() ? "" : ", ") + printable(key);
  }
  fail("no tensor named {}; there are: {}", name, names);
}

std::string encode_safetensors(const TensorFile& file) {
  static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");
  std::vector<std::size_t> order(file.tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return file.tensors[i].second.element_size(); });
  sort_neighbours_without_bytes(order, file);

  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::set<std::string> seen{std::string(safetensors_metadata)};
  if (!file.metadata.empty()) header[std::string(safetensors_metadata)] = file.metadata;
  std::uint64_t offset = 0;
  for (const std::size_t i : order) {
    const auto& [name, tensor] = file.tensors[i];
    const auto* type = std::ranges::find(safetensors_types, tensor.scalar_type(), &SafetensorsType::type);
    require(type != safetensors_types.end(),
            "encode_safetensors: tensor {} has type {}; F32 F64 I64 I32 U8 BOOL can be written", name,
            c10::toString(tensor.scalar_type()));
    require(seen.insert(name).second, "encode_safetensors: two tensors are named {}", name);
    const std::uint64_t end = offset + static_cast<std::uint64_t>(tensor.nbytes());
    header[name] = {{"dtype", type->name}, {"shape", tensor.sizes().vec()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    fail("encode_safetensors: a name or the metadata is not valid UTF-8 text");
  }
  text.append((safetensors_prefix - text.size() % safetensors_prefix) % safetensors_prefix, ' ');

  const auto length = static_cast<std::uint64_t>(text.size());
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes.reserve(safetensors_prefix + text.size() + offset);
  bytes += text;
  for (const std::size_t i : order) {
    const at::Tensor values = file.tensors[i].second.contiguous().cpu();
    bytes.append(static_cast<const char*>(values.data_ptr()), static_cast<std::size_t>(values.nbytes()));
  }
  return bytes;
}

TensorFile parse_safetensors(std::string_view bytes, const std::string& where) {
  require(bytes.size() >= safetensors_prefix, "{}: the file ends at byte {}, inside the header's length", where,
          bytes.size());
  const auto length = load<std::uint64_t>(bytes, 0, std::endian::little);
  require(length <= std::min<std::uint64_t>(bytes.size() - safetensors_prefix, max_safetensors_header),
          "{}: byte 0 claims a header of {} bytes, the file ends at byte {}; it was cut short or is not a safetensors "
          "file",
          where, length, bytes.size());
  const json header = parse_safetensors_header(bytes.substr(safetensors_prefix, length), where);
  const std::string_view data = bytes.substr(safetensors_prefix + length);

  TensorFile file;
  std::vector<SafetensorsEntry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name != safetensors_metadata) {
      entries.push_back(parse_safetensors_entry(name, value, data.size(), where));
      continue;
    }
    require(value.is_object(), "{}: __metadata__ is not a JSON object", where);
    for (const auto& [key, text] : value.items()) {
      require(text.is_string(), "{}: __metadata__ entry '{}' is not text", where, printable(key));
      file.metadata[key] = text.get<std::string>();
    }
  }
  std::ranges::sort(entries, {}, [](const SafetensorsEntry& e) { return std::tie(e.begin, e.end, e.name); });

  // The format allows neither overlaps nor holes: a byte that no tensor owns could hide anything.
  std::uint64_t covered = 0;
  for (const SafetensorsEntry& entry : entries) {
    require(entry.begin == covered, "{}: tensor '{}' begins at byte {} of the values, expected {}: {}", where,
            printable(entry.name), entry.begin, covered, entry.begin < covered ? "tensors overlap" : "there is a hole");
    covered = entry.end;
    file.tensors.emplace_back(entry.name, tensor_from_bytes(data.substr(entry.begin, entry.end - entry.begin),
                                                            entry.type, entry.shape, std::endian::little));
  }
  require(covered == data.size(), "{}: {} bytes too many, from byte {}, belong to no tensor", where,
          data.size() - covered, safetensors_prefix + length + covered);
  return file;
}

TensorFile read_safetensors(const std::filesystem::path& path) {
  return parse_safetensors(read_file(path), path.string());
}

void write_safetensors(const std::filesystem::path& path, const TensorFile& file) {
  write_file_atomically(path, encode_safetensors(file));
}

}  // namespace harmonium
