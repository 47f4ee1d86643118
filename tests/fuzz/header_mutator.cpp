#include "tests/fuzz/header_mutator.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

namespace harmonium {

namespace {

using nlohmann::ordered_json;
using Random = std::minstd_rand;

constexpr std::size_t prefix = 8;

std::size_t below(Random& random, std::size_t count) { return random() % count; }

std::string other_text(const std::string& text, Random& random) {
  constexpr std::array<const char*, 14> others = {"",
                                                  "rbm",
                                                  "dbn",
                                                  "visible",
                                                  "hidden",
                                                  "label",
                                                  "bernoulli:9223372036854775807",
                                                  "softmax:2x3",
                                                  "gaussian:2",
                                                  "twin:3",
                                                  "counts:4",
                                                  "bernoulli:0",
                                                  "F64",
                                                  "I64"};
  std::string result = text;
  switch (below(random, 4)) {
    case 0:
      return others[below(random, others.size())];
    case 1:
      if (!result.empty()) result[below(random, result.size())] = static_cast<char>('0' + below(random, 75));
      return result;
    case 2:
      return result.substr(0, below(random, result.size() + 1));
    default: {  // a number in it
      const std::size_t place = result.find_first_of("0123456789");
      if (place == std::string::npos) return result + "1";
      const std::size_t end = std::min(result.size(), result.find_first_not_of("0123456789", place));
      constexpr std::array<const char*, 8> numbers = {"0", "1",  "2",          "3",
                                                      "5", "64", "1000000000", "99999999999999999999"};
      return result.substr(0, place) + numbers[below(random, numbers.size())] + result.substr(end);
    }
  }
}

void collect(ordered_json& value, std::vector<ordered_json*>& all) {
  all.push_back(&value);
  if (value.is_structured())
    for (ordered_json& each : value) collect(each, all);
}

// One change somewhere in a JSON value. Texts that are JSON themselves (a model's structure) are changed inside.
void change(ordered_json& root, Random& random, int depth = 0) {
  std::vector<ordered_json*> all;
  collect(root, all);
  ordered_json& one = *all[below(random, all.size())];
  if (one.is_string()) {
    const std::string text = one;
    ordered_json inner = depth == 0 ? ordered_json::parse(text, nullptr, false) : ordered_json();
    if (inner.is_structured()) {
      change(inner, random, 1);
      one = inner.dump();
    } else {
      one = other_text(text, random);
    }
  } else if (one.is_number()) {
    constexpr std::array<std::int64_t, 10> numbers = {0, 1, 2, 3, 4, 8, -1, 1 << 20, std::int64_t{1} << 40, INT64_MAX};
    const std::size_t choice = below(random, numbers.size() + 2);
    const auto old = one.is_number_integer() ? one.get<std::int64_t>() : 0;
    one = choice < numbers.size() ? numbers[choice] : old + (choice == numbers.size() && old < INT64_MAX ? 1 : 0);
  } else if (one.is_boolean()) {
    one = !one.get<bool>();
  } else if (one.is_array() && !one.empty()) {
    switch (below(random, 3)) {
      case 0:
        one.erase(below(random, one.size()));
        break;
      case 1:
        one.push_back(ordered_json(one[below(random, one.size())]));
        break;
      default:
        std::swap(one[0], one[one.size() - 1]);
    }
  } else if (one.is_object() && !one.empty()) {
    auto place = one.begin();
    std::advance(place, static_cast<std::ptrdiff_t>(below(random, one.size())));
    const std::string name = place.key();
    const ordered_json value = place.value();
    switch (below(random, 3)) {
      case 0:
        one.erase(name);
        break;
      case 1:
        one[other_text(name, random)] = value;
        break;
      default:
        one.erase(name);
        one[other_text(name, random)] = value;
    }
  }
}

// Offsets one after the other, as long as shapes and types say; the values are cut or repeated to fit.
void put_offsets_right(ordered_json& header, std::string& values) {
  constexpr std::size_t most = 1 << 16;
  std::size_t offset = 0;
  for (auto& [name, entry] : header.items()) {
    if (name == "__metadata__" || !entry.is_object() || !entry.contains("shape") || !entry.contains("dtype")) continue;
    std::size_t bytes = 4;
    if (entry["dtype"] == "F64" || entry["dtype"] == "I64") bytes = 8;
    if (entry["dtype"] == "U8" || entry["dtype"] == "BOOL") bytes = 1;
    for (const ordered_json& size : entry["shape"]) {
      if (!size.is_number_unsigned() || size.get<std::uint64_t>() > most) return;
      bytes *= size.get<std::size_t>();
      if (bytes > most) return;
    }
    entry["data_offsets"] = {offset, offset + bytes};
    offset += bytes;
  }
  if (offset > most) return;
  const std::string old = values.empty() ? std::string(1, '\0') : values;
  while (values.size() < offset) values += old;
  values.resize(offset);
}

}  // namespace

std::string mutate_header(std::string_view bytes, unsigned seed) {
  std::uint64_t length = 0;
  if (bytes.size() < prefix) return "";
  std::memcpy(&length, bytes.data(), prefix);
  if (length > bytes.size() - prefix) return "";
  ordered_json header = ordered_json::parse(bytes.substr(prefix, length), nullptr, false);
  if (!header.is_object()) return "";
  std::string values(bytes.substr(prefix + length));
  Random random(seed + 1);
  for (std::size_t times = 1 + below(random, 3); times > 0; --times) change(header, random);
  if (below(random, 4) != 0) put_offsets_right(header, values);
  const std::string text = header.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  length = text.size();
  std::string result(reinterpret_cast<const char*>(&length), prefix);
  return result + text + values;
}

}  // namespace harmonium
