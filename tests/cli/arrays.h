// NPY and NPZ files, written and read here independently of the tool's own code.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace harmonium::testing {

struct Array {
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

namespace detail {

template <class T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

inline std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320U : 0);
  }
  return ~crc;
}

}  // namespace detail

// Version 1.0, float32, row by row.
inline std::string npy(const Array& array) {
  std::string shape;
  for (const std::size_t size : array.shape) shape += std::to_string(size) + ",";
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string values(array.values.size() * sizeof(float), '\0');
  std::memcpy(values.data(), array.values.data(), values.size());
  return "\x93NUMPY" + std::string("\x01\x00", 2) + detail::little_endian(static_cast<std::uint16_t>(header.size())) +
         header + values;
}

// Reads what npy() writes; an empty shape where the bytes are something else.
inline Array read_npy(const std::string& bytes) {
  Array array;
  if (!bytes.starts_with("\x93NUMPY") || bytes.size() < 10) return array;
  const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  if (header.find("'<f4'") == std::string::npos || header.find("'fortran_order': False") == std::string::npos)
    return array;
  const std::size_t open = header.find('('), close = header.find(')');
  std::size_t count = 1;
  for (std::size_t at = open + 1; at < close; at = header.find(',', at) + 1) {
    if (header.find_first_of("0123456789", at) > close) break;
    array.shape.push_back(std::stoul(header.substr(at)));
    count *= array.shape.back();
    if (header.find(',', at) > close) break;
  }
  if (bytes.size() != 10 + length + count * sizeof(float)) return {};
  array.values.resize(count);
  std::memcpy(array.values.data(), bytes.data() + 10 + length, count * sizeof(float));
  return array;
}

// A ZIP archive whose members are stored, not compressed.
inline std::string npz(const std::vector<std::pair<std::string, Array>>& arrays) {
  using detail::little_endian;
  std::string files, directory;
  for (const auto& [name, array] : arrays) {
    const std::string content = npy(array), file = name + ".npy";
    const auto size = static_cast<std::uint32_t>(content.size());
    const std::string common = little_endian<std::uint16_t>(20) +
                               std::string(8, '\0') +  // version, flags, method, time
                               little_endian(detail::crc32(content)) + little_endian(size) + little_endian(size) +
                               little_endian(static_cast<std::uint16_t>(file.size())) + std::string(2, '\0');
    directory += "PK\x01\x02" + little_endian<std::uint16_t>(20) + common + std::string(10, '\0') +
                 little_endian(static_cast<std::uint32_t>(files.size())) + file;
    files += "PK\x03\x04" + common + file + content;
  }
  const auto count = little_endian(static_cast<std::uint16_t>(arrays.size()));
  return files + directory + "PK\x05\x06" + std::string(4, '\0') + count + count +
         little_endian(static_cast<std::uint32_t>(directory.size())) +
         little_endian(static_cast<std::uint32_t>(files.size())) + std::string(2, '\0');
}

}  // namespace harmonium::testing
