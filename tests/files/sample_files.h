// Small valid files of every format, made here byte by byte: what the tests damage and the fuzzers start from.
#pragma once

#include <ATen/ATen.h>
#include <zip.h>
#include <zlib.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harmonium/data/formats/gzip.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/data/formats/png.h"
#include "harmonium/data/formats/safetensors.h"

namespace harmonium::samples {

inline std::string big_endian(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string idx(unsigned char type, const std::vector<std::uint32_t>& shape, std::string_view values) {
  std::string bytes{'\0', '\0', static_cast<char>(type), static_cast<char>(shape.size())};
  for (const std::uint32_t size : shape) bytes += big_endian(size);
  return bytes.append(values);
}

// NPY of version 1 or 2 around any header text.
inline std::string npy(std::string_view header, std::string_view values, int version = 1) {
  std::string bytes = "\x93NUMPY";
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes += {static_cast<char>(version), '\0', static_cast<char>(length), static_cast<char>(length >> 8)};
  if (version > 1) bytes += {static_cast<char>(length >> 16), static_cast<char>(length >> 24)};
  return bytes.append(header).append(values);
}

// A ZIP archive of the given members.
inline std::string zip(const std::vector<std::pair<std::string, std::string>>& members) {
  zip_source_t* source = ::zip_source_buffer_create(nullptr, 0, 0, nullptr);
  ::zip_source_keep(source);
  zip_t* archive = ::zip_open_from_source(source, ZIP_TRUNCATE, nullptr);
  for (const auto& [name, bytes] : members)
    ::zip_file_add(archive, name.c_str(), ::zip_source_buffer(archive, bytes.data(), bytes.size(), 0), 0);
  if (::zip_close(archive) != 0) throw std::runtime_error("cannot make a ZIP archive");
  zip_stat_t stat;
  ::zip_source_stat(source, &stat);
  std::string result(stat.size, '\0');
  ::zip_source_open(source);
  ::zip_source_read(source, result.data(), result.size());
  ::zip_source_close(source);
  ::zip_source_free(source);
  return result;
}

inline std::string npz(const std::vector<std::pair<std::string, at::Tensor>>& arrays) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [name, array] : arrays) members.emplace_back(name + ".npy", encode_npy(array));
  return zip(members);
}

// What scipy.sparse.save_npz writes. `places` are indices and indptr, or row and col.
inline std::string sparse_npz(const std::string& format_name, const std::vector<std::int64_t>& shape,
                              const std::vector<std::pair<std::string, std::vector<std::int32_t>>>& places,
                              const at::Tensor& values) {
  std::vector<std::pair<std::string, std::string>> members;
  for (const auto& [name, numbers] : places)
    members.emplace_back(name + ".npy", encode_npy(at::tensor(numbers, at::kInt)));
  members.emplace_back("format.npy", npy("{'descr': '|S3', 'fortran_order': False, 'shape': (), }\n", format_name));
  members.emplace_back("shape.npy", encode_npy(at::tensor(shape, at::kLong)));
  members.emplace_back("data.npy", encode_npy(values));
  return zip(members);
}

// One element of a MATLAB file, padded to eight bytes.
inline std::string mat_element(std::uint32_t type, std::string_view data) {
  std::string bytes = raw<std::uint32_t>({type, static_cast<std::uint32_t>(data.size())});
  bytes.append(data);
  bytes.append((8 - data.size() % 8) % 8, '\0');
  return bytes;
}

inline std::string mat_matrix(std::uint32_t class_and_flags, const std::vector<std::int32_t>& shape,
                              std::string_view name, std::string_view parts) {
  return mat_element(14, mat_element(6, raw<std::uint32_t>({class_and_flags, 0})) + mat_element(5, raw(shape)) +
                             mat_element(1, name) + std::string(parts));
}

inline std::string mat_double(std::string_view name, const std::vector<std::int32_t>& shape,
                              const std::vector<double>& values) {
  return mat_matrix(6, shape, name, mat_element(9, raw(values)));
}

inline std::string mat_sparse(std::string_view name, const std::vector<std::int32_t>& shape,
                              const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& starts,
                              const std::vector<double>& values) {
  return mat_matrix(5, shape, name,
                    mat_element(5, raw(rows)) + mat_element(5, raw(starts)) + mat_element(9, raw(values)));
}

// A cell of sequences of two columns.
inline std::string mat_sequences(std::string_view name) {
  const std::string inside = mat_double("", {1, 2}, {0, 1}) + mat_double("", {3, 2}, {1, 0, 1, 0, 1, 1});
  return mat_matrix(1, {1, 2}, name, inside);
}

inline std::string mat_compressed(std::string_view element) {
  std::string packed(::compressBound(element.size()), '\0');
  uLongf size = packed.size();
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(element.data()),
             element.size());
  packed.resize(size);
  return raw<std::uint32_t>({15, static_cast<std::uint32_t>(size)}) + packed;
}

inline std::string mat(std::string_view elements) {
  std::string bytes = "MATLAB 5.0 MAT-file";
  bytes.resize(124, ' ');
  bytes.append("\0\1IM", 4);
  return bytes.append(elements);
}

inline std::string png(std::int64_t height = 4, std::int64_t width = 5, std::int64_t channels = 1) {
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(height * width * channels));
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(37 * i);
  return encode_png(pixels.data(), height, width, channels);
}

inline TensorFile tensor_file() {
  return {{{"weights", at::arange(6, at::kFloat).view({2, 3})},
           {"step", at::full({}, 7, at::kLong)},
           {"mask", at::tensor({1, 0, 1}).to(at::kBool)}},
          {{"format", "harmonium"}}};
}

// Valid files by the name of the parser that reads them.
inline std::vector<std::pair<std::string, std::string>> all() {
  const at::Tensor bytes = at::arange(24, at::kByte).view({2, 3, 4});
  const at::Tensor reals = at::linspace(-1, 1, 6, at::kFloat).view({2, 3});
  const std::string dense = mat_double("x", {2, 3}, {0, 1, 2, 3, 4, 0.5});
  const std::string sparse = mat_sparse("counts", {3, 4}, {0, 2, 1}, {0, 1, 2, 2, 3}, {1, 2, 3});
  return {
      {"idx", idx(0x08, {2, 3, 4}, std::string(24, '\7'))},
      {"idx", idx(0x0D, {1, 2}, std::string("\x3f\x80\0\0\xbf\x80\0\0", 8))},
      {"npy", encode_npy(bytes)},
      {"npy", encode_npy(reals)},
      {"npy",
       npy("{'descr': '>i4', 'fortran_order': True, 'shape': (1, 2), }\n", std::string("\0\0\0\1\0\0\0\2", 8), 2)},
      {"npz", npz({{"x", bytes}, {"y", at::tensor({1, 2})}})},
      {"npz", sparse_npz("csr", {2, 3}, {{"indices", {2, 0, 1}}, {"indptr", {0, 1, 3}}}, at::tensor({1.0, 2.0, 3.0}))},
      {"npz", sparse_npz("coo", {2, 3}, {{"row", {1, 0}}, {"col", {2, 1}}}, at::tensor({4, 5}, at::kLong))},
      {"csv", "a,b,c\n1,2.5,-3e2\n4,5,6\r\n"},
      {"csv", "1;2\n3;4\n"},
      {"amat", "0 1 0 \n1 0 1 \n"},
      {"amat", "0.25 -1.5e-3\n7 +8\n"},
      {"png", png()},
      {"png", png(3, 2, 3)},
      {"mat", mat(dense)},
      {"mat", mat(dense + sparse)},
      {"mat", mat(mat_compressed(sparse))},
      {"mat", mat(mat_sequences("traindata") + mat_compressed(mat_sequences("testdata")))},
      {"npz", npz({{"x", reals}, {"lengths", at::tensor({1, 1})}})},
      {"safetensors", encode_safetensors(tensor_file())},
      {"gzip", gzip("some text, some text, some text")},
      {"gzip", gzip("a") + gzip("b")},
  };
}

}  // namespace harmonium::samples
