#include "harmonium/data/formats/choose_array.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

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

// "X_train" is the part train of "x"; "trainlabels" that of "labels".
struct PartName {
  std::string part, stem;
};
std::optional<PartName> part_name(std::string_view name) {
  struct Word {
    std::string_view word;
    const char* part;
  };
  constexpr std::array<Word, 8> words{{{"training", "train"},
                                       {"train", "train"},
                                       {"validation", "valid"},
                                       {"valid", "valid"},
                                       {"val", "valid"},
                                       {"dev", "valid"},
                                       {"testing", "test"},
                                       {"test", "test"}}};
  const std::string lower = in_lower_case(name);
  for (const auto& [word, part] : words) {
    const bool first = lower.starts_with(word), last = lower.ends_with(word);
    if (!first && !last) continue;
    std::string stem = first ? lower.substr(word.size()) : lower.substr(0, lower.size() - word.size());
    std::erase_if(stem, [](char c) { return c == '_' || c == '-' || c == '.'; });
    return PartName{part, stem};
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 12> data_stems{"",     "x",        "data", "images", "image",   "img",
                                                      "imgs", "features", "fea",  "inputs", "samples", "setx"};
constexpr std::array<std::string_view, 11> label_stems{"y",      "labels", "label",   "lab",  "targets", "target",
                                                       "target", "class",  "classes", "lbls", "sety"};

bool is_one_of(std::span<const std::string_view> words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_vector_of(const ArrayInfo& array, std::int64_t rows) {
  return array.is_usable && !array.shape.empty() && std::ranges::count(array.shape, rows) >= 1 &&
         std::ranges::count(array.shape, 1) >= static_cast<std::int64_t>(array.shape.size()) - 1;
}

}  // namespace

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

std::vector<ArrayPart> find_parts(const std::vector<ArrayInfo>& arrays) {
  std::vector<ArrayPart> parts;
  for (const char* part : {"train", "valid", "test"}) {
    std::vector<ArrayPart> found;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const auto name = part_name(arrays[i].name);
      if (name && name->part == part && is_one_of(data_stems, name->stem) && arrays[i].is_usable &&
          arrays[i].shape.size() >= 2)
        found.push_back({part, i});
    }
    if (found.size() > 1) return {};
    parts.insert(parts.end(), found.begin(), found.end());
  }
  if (parts.size() < 2 || parts.front().part != "train") return {};
  return parts;
}

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
  const std::int64_t rows = arrays[chosen].shape.empty() ? 0 : arrays[chosen].shape.front();
  std::vector<std::string> candidates;
  if (name.starts_with("x")) candidates.push_back(format("y{}", name.substr(1)));
  if (name.ends_with("x")) candidates.push_back(format("{}y", name.substr(0, name.size() - 1)));
  if (name.ends_with("images")) candidates.push_back(format("{}labels", name.substr(0, name.size() - 6)));
  const auto named = [&](const std::string& candidate) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      if (i != chosen && is_vector_of(arrays[i], rows) && in_lower_case(arrays[i].name) == candidate) return i;
    return std::nullopt;
  };
  for (const std::string& candidate : candidates)
    if (const auto found = named(candidate)) return found;
  if (const auto part = part_name(name)) {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const auto other = part_name(arrays[i].name);
      if (i != chosen && other && other->part == part->part && is_one_of(label_stems, other->stem) &&
          is_vector_of(arrays[i], rows))
        return i;
    }
  }
  for (const char* common : {"labels", "label", "y", "target", "targets", "gnd"})
    if (const auto found = named(common)) return found;
  return std::nullopt;
}

std::optional<std::size_t> find_lengths(const std::vector<ArrayInfo>& arrays, std::size_t chosen) {
  const std::string name = in_lower_case(arrays[chosen].name);
  const auto found = [&](const auto& fits) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::vector<std::int64_t>& shape = arrays[i].shape;
      const bool vector = arrays[i].is_usable && !shape.empty() &&
                          std::ranges::count(shape, 1) >= static_cast<std::int64_t>(shape.size()) - 1;
      if (i != chosen && vector && fits(in_lower_case(arrays[i].name))) return i;
    }
    return std::nullopt;
  };
  const auto of_name = [&](const std::string& each) { return each == name + "_lengths" || each == "lengths_" + name; };
  if (const auto own = found(of_name)) return own;
  if (const auto part = part_name(name)) {
    const auto of_part = [&](const std::string& each) {
      const auto other = part_name(each);
      return other && other->part == part->part && other->stem == "lengths";
    };
    return found(of_part);
  }
  return found([](const std::string& each) { return each == "lengths"; });
}

}  // namespace harmonium
