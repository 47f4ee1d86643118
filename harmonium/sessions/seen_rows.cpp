#include "harmonium/sessions/seen_rows.h"

#include <algorithm>
#include <filesystem>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/runs/trained_rows.h"

namespace harmonium {

namespace {

// "digits:test", "faces.npz:x_test".
bool is_called_test(const std::string& spec) {
  const std::size_t colon = spec.rfind(':');
  if (colon == std::string::npos) return false;
  std::string word = spec.substr(colon + 1);
  std::ranges::transform(word, word.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return word.find("test") != std::string::npos || word.find("val") != std::string::npos;
}

// Whether data are the test or validation part of the split of a file that was learnt as a whole: then they were
// trained on even if rows repeat so much that digests could not tell. The sizes of the parts show that it was all of
// it.
bool is_part_of(const Dataset& data, const RowDigests& trained) {
  const std::size_t colon = data.name.rfind(':');
  if (colon == std::string::npos || is_named(data.name) || !data.own_parts.empty()) return false;
  const SplitSizes sizes = path_split_sizes(trained.rows);
  const std::string part = data.name.substr(colon + 1), whole = data.name.substr(0, colon);
  return std::filesystem::absolute(whole).string() == trained.source &&
         ((part == "test" && data.rows() == sizes.test) || (part == "valid" && data.rows() == sizes.valid));
}

}  // namespace

std::optional<RowsSeen> rows_trained_on(const std::string& path, const Dataset& data) {
  namespace fs = std::filesystem;
  const fs::path place = fs::absolute(path);
  for (const fs::path& folder : {place, place.parent_path(), place.parent_path().parent_path()})
    if (const auto trained = read_trained_rows(folder)) {
      RowsSeen seen = find_seen_rows(*trained, data);
      seen.certain = is_part_of(data, *trained) && seen.seen == seen.rows;
      return seen;
    }
  return std::nullopt;
}

std::string in_words(const RowsSeen& seen) {
  if (seen.seen == 0) return "";
  const char* about = seen.estimated ? "about " : "";
  if (seen.trained_on()) return format("{}{} of {} rows were trained on", about, seen.seen, seen.rows);
  return format("{}{} of {} rows equal a row that was trained on (rows repeat: about {:.0f} of fresh data would)",
                about, seen.seen, seen.rows, seen.expected);
}

void require_unseen(const RowsSeen& seen, const std::string& spec) {
  if (!seen.trained_on() || !is_called_test(spec) || is_generated(spec)) return;
  const std::string whole = spec.substr(0, spec.rfind(':'));
  fail("{}: {}, so this is no test. Train on {}:train and judge by {}, or go on deliberately with @allow_trained_rows",
       spec, in_words(seen), whole, spec);
}

}  // namespace harmonium
