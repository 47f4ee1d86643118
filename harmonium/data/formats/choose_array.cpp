#include "harmonium/data/formats/choose_array.h"

#include <algorithm>
#include <array>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"

namespace harmonium {

namespace {

// In order of preference; compared without regard to case.
constexpr std::array<std::string_view, 10> usual_data_names{"x",       "data",   "images",       "train",     "x_train",
                                                            "train_x", "trainx", "train_images", "traindata", "fea"};

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

bool is_usable_matrix(const ArrayInfo& array) {
  return array.is_usable && std::ranges::count_if(array.shape, [](std::int64_t n) { return n > 1; }) >= 2;
}

std::string list_of_arrays(const std::vector<ArrayInfo>& arrays) {
  constexpr std::size_t most = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(arrays.size(), most); ++i) {
    const ArrayInfo& array = arrays[i];
    text += format("{}{} ({}{}{})", i == 0 ? "" : ", ", printable(array.name), array.kind,
                   array.kind.empty() ? "" : " ", shape_text(array.shape));
  }
  return arrays.size() > most ? format("{} and {} more", text, arrays.size() - most) : text;
}

}  // namespace

std::size_t choose_array(const std::vector<ArrayInfo>& arrays, const std::string& wanted, const std::string& where) {
  require(!arrays.empty(), "{}: holds no arrays", where);
  if (!wanted.empty()) {
    const auto found = std::ranges::find(arrays, wanted, &ArrayInfo::name);
    require(found != arrays.end(), "{}: has no array named {}; there are: {}", where, printable(wanted),
            list_of_arrays(arrays));
    require(found->is_usable, "{}: {} is a {}, not a numeric matrix; there are: {}", where, printable(wanted),
            found->kind, list_of_arrays(arrays));
    return static_cast<std::size_t>(found - arrays.begin());
  }
  std::vector<std::size_t> matrices, usable;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].is_usable) usable.push_back(i);
    if (is_usable_matrix(arrays[i])) matrices.push_back(i);
  }
  if (matrices.size() == 1) return matrices.front();
  if (usable.size() == 1) return usable.front();
  for (const std::string_view name : usual_data_names) {
    const auto has_name = [&](std::size_t i) { return in_lower_case(arrays[i].name) == name; };
    const auto found = std::ranges::find_if(matrices, has_name);
    if (found != matrices.end()) return *found;
  }
  fail("{}: {}: {}; choose one by writing PATH:NAME", where,
       matrices.empty() ? "no array here is obviously a data set" : "several arrays could be the data set",
       list_of_arrays(arrays));
}

std::optional<std::size_t> find_labels(const std::vector<ArrayInfo>& arrays, std::size_t chosen) {
  const std::string name = in_lower_case(arrays[chosen].name);
  std::vector<std::string> candidates;
  if (name.starts_with("x")) candidates.push_back(format("y{}", name.substr(1)));
  if (name.ends_with("x")) candidates.push_back(format("{}y", name.substr(0, name.size() - 1)));
  if (name.ends_with("images")) candidates.push_back(format("{}labels", name.substr(0, name.size() - 6)));
  for (const char* common : {"labels", "label", "y", "target", "gnd"}) candidates.emplace_back(common);
  const std::int64_t rows = arrays[chosen].shape.empty() ? 0 : arrays[chosen].shape.front();
  for (const std::string& candidate : candidates) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const auto& shape = arrays[i].shape;
      const bool is_vector = arrays[i].is_usable && !shape.empty() && std::ranges::count(shape, rows) >= 1 &&
                             std::ranges::count(shape, 1) >= static_cast<std::int64_t>(shape.size()) - 1;
      if (i != chosen && is_vector && in_lower_case(arrays[i].name) == candidate) return i;
    }
  }
  return std::nullopt;
}

}  // namespace harmonium
