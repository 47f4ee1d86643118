// Reads safetensors files without the library, so that a mistake of its reader cannot hide one of its writer.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace harmonium::testing {

struct StoredTensor {
  std::vector<std::int64_t> shape = {};
  std::vector<float> values = {};
};

struct StoredTensors {
  std::map<std::string, StoredTensor> tensors = {};
  std::map<std::string, std::string> metadata = {};
};

// 8 bytes with the length of the header (the least first), a header in JSON, numbers. Models hold float32 only.
inline StoredTensors parse_stored_tensors(const std::string& bytes) {
  const auto require = [](bool good, const std::string& what) {
    if (!good) throw std::runtime_error("not a file of tensors: " + what);
  };
  require(bytes.size() >= 8, "too short");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  require(length <= bytes.size() - 8, "the header ends behind the file");
  const auto header = nlohmann::json::parse(bytes.substr(8, length));
  const std::string numbers = bytes.substr(8 + length);
  StoredTensors result;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      result.metadata = entry.get<std::map<std::string, std::string>>();
      continue;
    }
    require(entry.at("dtype") == "F32", name + " is not of float32");
    const auto place = entry.at("data_offsets").get<std::vector<std::size_t>>();
    require(place.size() == 2 && place[0] <= place[1] && place[1] <= numbers.size(), name + " ends behind the file");
    StoredTensor tensor{.shape = entry.at("shape"),
                        .values = std::vector<float>((place[1] - place[0]) / sizeof(float))};
    std::size_t count = 1;
    for (const std::int64_t size : tensor.shape) count *= static_cast<std::size_t>(size);
    require(count == tensor.values.size(), name + " has another number of values than its shape says");
    if (count > 0) std::memcpy(tensor.values.data(), numbers.data() + place[0], count * sizeof(float));
    result.tensors[name] = std::move(tensor);
  }
  return result;
}

}  // namespace harmonium::testing
