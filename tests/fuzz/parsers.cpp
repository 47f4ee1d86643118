// Data files and pictures.
#include <zlib.h>

#include <string_view>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/gzip.h"
#include "harmonium/data/formats/idx.h"
#include "harmonium/data/formats/make_dataset.h"
#include "harmonium/data/formats/mat.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/data/formats/npz.h"
#include "harmonium/data/formats/png.h"
#include "harmonium/data/formats/read_dataset.h"
#include "harmonium/data/formats/safetensors.h"
#include "harmonium/data/formats/sparse.h"
#include "harmonium/data/formats/text_table.h"
#include "tests/fuzz/targets.h"

namespace harmonium {

namespace {

// Mutations rarely keep a checksum right, and libpng looks no further when one is wrong: repair them all.
std::string with_right_checksums(std::string_view png) {
  std::string bytes(png);
  for (std::size_t at = 8; at + 12 <= bytes.size();) {
    const std::size_t length = load<std::uint32_t>(bytes, at, std::endian::big);
    if (length > bytes.size() - at - 12) break;
    const auto checksum = static_cast<std::uint32_t>(
        ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data() + at + 4), static_cast<uInt>(length + 4)));
    for (std::size_t i = 0; i < 4; ++i) bytes[at + 8 + length + i] = static_cast<char>(checksum >> (24 - 8 * i));
    at += 12 + length;
  }
  return bytes;
}

void fuzz_idx(std::string_view bytes) {
  allow_errors([&] { (void)make_dataset(parse_idx(bytes, "fuzz"), "fuzz"); });
}

void fuzz_npy(std::string_view bytes) {
  allow_errors([&] { (void)make_dataset(parse_npy(bytes, "fuzz"), "fuzz"); });
}

void fuzz_npz(std::string_view bytes) {
  allow_errors([&] { (void)parse_npz(bytes, "fuzz"); });
  allow_errors([&] { (void)parse_dataset(bytes, "fuzz"); });
}

// The parts of a sparse matrix without the archive around them, whose checksums mutations would break: byte 0 names the
// format, bytes 1 and 2 how many of the numbers that follow (four bytes each, after two for the shape) are the first
// and the second kind of places; what is left are the values.
void fuzz_sparse(std::string_view bytes) {
  if (bytes.size() < 11) return;
  constexpr const char* formats[] = {"csr", "csc", "coo", "bsr"};
  const std::string format_name = formats[static_cast<unsigned char>(bytes[0]) % 4];
  const std::size_t first = static_cast<unsigned char>(bytes[1]), second = static_cast<unsigned char>(bytes[2]);
  std::size_t at = 3;
  const auto numbers = [&](std::size_t count) {
    std::vector<std::int64_t> values;
    for (; count > 0 && at + 4 <= bytes.size(); --count, at += 4)
      values.push_back(load<std::int32_t>(bytes, at, std::endian::little));
    return at::tensor(values, at::kLong);
  };
  NamedTensors arrays = {{"shape", numbers(2)}};
  arrays.emplace_back(format_name == "coo" ? "row" : "indices", numbers(first));
  arrays.emplace_back(format_name == "coo" ? "col" : "indptr", numbers(second));
  const auto as_bytes = [](std::string_view text) {
    std::vector<std::int64_t> values;
    for (const char each : text) values.push_back(static_cast<unsigned char>(each));
    return at::tensor(values, at::kLong);
  };
  arrays.emplace_back("format", as_bytes(format_name));
  arrays.emplace_back("data", as_bytes(bytes.substr(at)));
  allow_errors([&] { (void)dense_matrix(arrays, "fuzz"); });
}

void fuzz_csv(std::string_view bytes) {
  for (const char* labels : {"none", "first", "last", "2", "name"})
    allow_errors([&] {
      const TextTable table = parse_text_table(bytes, "fuzz");
      (void)make_dataset(table.values, "fuzz", {.label_column = labels}, table.header);
    });
}

void fuzz_amat(std::string_view bytes) {
  allow_errors([&] { (void)parse_dataset(bytes, "fuzz"); });
}

void fuzz_png(std::string_view bytes) {
  allow_errors([&] { (void)decode_png(bytes, "fuzz"); });
  allow_errors([&] { (void)decode_png(with_right_checksums(bytes), "fuzz"); });
}

void fuzz_mat(std::string_view bytes) {
  allow_errors([&] {
    for (const MatVariable& variable : list_mat(bytes, "fuzz")) {
      if (variable.is_readable) allow_errors([&] { (void)read_mat_variable(bytes, variable, "fuzz"); });
    }
  });
  allow_errors([&] { (void)parse_dataset(bytes, "fuzz"); });
}

void fuzz_safetensors(std::string_view bytes) {
  // What was accepted must survive being written and read again.
  allow_errors([&] {
    const TensorFile file = parse_safetensors(bytes, "fuzz");
    const std::string encoded = encode_safetensors(file);
    if (encode_safetensors(parse_safetensors(encoded, "fuzz")) != encoded) __builtin_trap();
  });
}

void fuzz_gzip(std::string_view bytes) {
  constexpr std::uint64_t limit = 1 << 24;
  allow_errors([&] {
    if (gunzip(bytes, "fuzz", limit).size() > limit) __builtin_trap();
  });
  allow_errors([&] { (void)inflate_zlib(bytes, "fuzz", limit); });
}

}  // namespace

std::vector<FuzzTarget> format_targets() {
  return {{"idx", fuzz_idx},   {"npy", fuzz_npy},
          {"npz", fuzz_npz},   {"sparse", fuzz_sparse},
          {"csv", fuzz_csv},   {"amat", fuzz_amat},
          {"png", fuzz_png},   {"mat", fuzz_mat},
          {"gzip", fuzz_gzip}, {"safetensors", fuzz_safetensors, true}};
}

std::vector<FuzzTarget> all_targets() {
  std::vector<FuzzTarget> all = format_targets();
  for (const auto& more : {model_targets(), record_targets()}) all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace harmonium
