#include "harmonium/data/catalog/catalog.h"

#include <algorithm>
#include <filesystem>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/derived_sets.h"
#include "harmonium/data/catalog/file_sets.h"
#include "harmonium/data/catalog/nearest_name.h"
#include "harmonium/data/digits.h"
#include "harmonium/data/formats/read_dataset.h"
#include "harmonium/data/split.h"
#include "harmonium/data/synthetic.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

// Fixed for good: they decide which rows of a user's file are for testing, and which a limit keeps.
constexpr std::uint64_t path_split_seed = 0, limit_seed = 1;
constexpr double path_valid_share = 0.1, path_test_share = 0.1;

// Names of the streams of stochastic binarization. fit is a beginning of train and shares its bits.
std::uint64_t part_stream(const std::string& part) {
  if (part == "train" || part == "fit") return 0;
  if (part == "valid") return 1;
  return part == "test" ? 2 : 3;
}

bool is_split_part(const std::string& word) { return word == "train" || word == "valid" || word == "test"; }

// "a:b" → {"a", "b"} at the last colon; {"a", ""} without one.
std::pair<std::string, std::string> split_at_colon(const std::string& spec) {
  const auto colon = spec.rfind(':');
  if (colon == std::string::npos) return {spec, ""};
  return {spec.substr(0, colon), spec.substr(colon + 1)};
}

std::string listed(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : ", ") + word;
  return line;
}

const CatalogEntry* find_entry(const std::vector<CatalogEntry>& entries, const std::string& name) {
  const auto found = std::ranges::find(entries, name, &CatalogEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

Dataset choose_part(const Split& parts, const std::string& part) {
  if (part == "train") return parts.train;
  return part == "valid" ? parts.valid : parts.test;
}

Dataset open_named(const CatalogEntry& entry, const std::string& part, const CatalogOptions& options) {
  if (std::ranges::find(entry.parts, part, &CatalogPart::name) == entry.parts.end()) {
    std::vector<std::string> names;
    for (const auto& known : entry.parts) names.push_back(known.name);
    fail("{} has no part '{}'; it has {}", entry.name, part, listed(names));
  }
  if (entry.name == "digits") return part == "all" ? digits() : choose_part(digits_split(), part);
  if (const auto set = std::ranges::find(file_sets(), entry.name, &FileSet::name); set != file_sets().end())
    return open_file_set(*set, *std::ranges::find(set->parts, part, &FilePart::name));
  if (const auto derived = derived_sets(); find_entry(derived, entry.name) != nullptr)
    return open_derived_set(entry.name, part);
  return synthetic(entry.name, part, {.size = options.size, .rows = options.rows, .seed = options.seed});
}

// Links count although they may lead nowhere: reading says what is wrong with them.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

struct PathSpec {
  fs::path path;
  std::string array, part;
};

// Which of PATH, PATH:part, PATH:array and PATH:array:part a spec is; nothing where no such file exists.
std::optional<PathSpec> find_path(const std::string& spec) {
  if (is_there(spec)) return PathSpec{spec, "", ""};
  const auto [head, last] = split_at_colon(spec);
  if (is_there(head)) return is_split_part(last) ? PathSpec{head, "", last} : PathSpec{head, last, ""};
  const auto [path, array] = split_at_colon(head);
  if (is_split_part(last) && is_there(path)) return PathSpec{path, array, last};
  return std::nullopt;
}

Dataset open_path(const PathSpec& spec, const CatalogOptions& options) {
  const Dataset data = read_dataset(spec.path, {.array = spec.array, .part = spec.part, .reading = options.reading});
  if (spec.part.empty() || !data.own_parts.empty()) return data;
  const SplitSizes sizes = path_split_sizes(data.cases());
  Dataset part = choose_part(split(data, sizes, Key(path_split_seed)), spec.part);
  const char* cases = data.lengths.empty() ? "rows" : "sequences";
  require(part.rows() > 0, "{}: a table of {} {} has no {} part; 10 {} are needed", spec.path.string(), data.cases(),
          cases, spec.part, cases);
  part.remarks.push_back(
      format("{} of {} {}: the {} part of a shuffled 80/10/10 split", part.cases(), data.cases(), cases, spec.part));
  return part;
}

[[noreturn]] void fail_unknown(const std::string& spec, const std::vector<CatalogEntry>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  // Paths are compared without their suffix, names as well.
  const std::string nearest = nearest_name(split_at_colon(spec).first, names);
  fail("there is no data set and no file called '{}'{}; data sets: {}", spec,
       nearest.empty() ? "" : format(" (did you mean {}?)", nearest), listed(names));
}

Dataset limited(const Dataset& data, std::int64_t limit) {
  require(limit >= 0, "the limit of rows must be positive (or 0 for all), not {}", limit);
  if (limit == 0 || limit >= data.cases()) return data;
  const at::Tensor chosen = permutation(Key(limit_seed), data.cases()).narrow(0, 0, limit);
  return data.select_cases(std::get<0>(chosen.sort()));
}

std::vector<CatalogPart> synthetic_parts(const SyntheticInfo& info) {
  std::vector<CatalogPart> parts;
  for (const auto& part : info.parts) {
    // The list of all patterns has a length of its own; the drawn parts are as long as the user asks.
    const bool is_list = part == "all";
    parts.push_back({part, is_list ? std::optional(synthetic(info.name, part).rows()) : std::nullopt});
  }
  return parts;
}

}  // namespace

Dataset open_dataset(const std::string& spec, const CatalogOptions& options) {
  const auto entries = list_datasets();
  const auto [head, suffix] = split_at_colon(spec);
  Dataset data;
  std::string part;
  if (const CatalogEntry* entry = find_entry(entries, head)) {
    part = spec == head ? "train" : suffix;
    require(options.reading == Reading(),
            "{} is a data set with a name, which is read in its own way: @label_column, @scale, @shape, @transpose, "
            "@first_label, @first_category and @sequences are for files",
            spec);
    data = open_named(*entry, part, options);
  } else if (const auto path = find_path(spec)) {
    part = path->part;
    data = open_path(*path, options);
  } else {
    fail_unknown(spec, entries);
  }
  data.name = spec;
  if (!options.missing_values) require_all_values(data, "this");
  return binarize(limited(data, options.limit), options.binarization,
                  Key(options.seed).fold_in(part_stream(part)).bits());
}

SplitSizes path_split_sizes(std::int64_t rows) { return split_sizes(rows, path_valid_share, path_test_share); }

bool is_named(const std::string& spec) { return find_entry(list_datasets(), split_at_colon(spec).first) != nullptr; }

bool is_generated(const std::string& spec) {
  return std::ranges::find(synthetic_sets(), split_at_colon(spec).first, &SyntheticInfo::name) !=
         synthetic_sets().end();
}

Reading reading_for(const std::string& spec, const Reading& reading) { return is_named(spec) ? Reading() : reading; }

std::optional<std::string> part_beside(const std::string& spec, const Dataset& opened, const std::string& part) {
  if (is_named(spec)) return std::nullopt;
  const auto path = find_path(spec);
  if (!path || (!path->part.empty() && path->part != "train") || (path->part.empty() && !path->array.empty()))
    return std::nullopt;
  if (!opened.own_parts.empty()) {
    const bool has = std::ranges::find(opened.own_parts, part) != opened.own_parts.end();
    return has ? std::optional(path->path.string() + ":" + part) : std::nullopt;
  }
  // Eight rows for training are left of ten.
  if (path->part.empty() || opened.cases() < 8) return std::nullopt;
  return path->path.string() + ":" + (path->array.empty() ? "" : path->array + ":") + part;
}

std::vector<CatalogEntry> list_datasets() {
  std::vector<CatalogEntry> entries;
  entries.push_back({.name = "digits",
                     .description = "handwritten digits, 8x8 with 17 levels of gray",
                     .license = "CC BY 4.0 (Alpaydin, Kaynak 1998, doi 10.24432/C50P49)",
                     .columns = 64,
                     .parts = {{"train", 1297}, {"valid", 200}, {"test", 300}, {"all", 1797}},
                     .available = true,
                     .location = "built in"});
  for (const auto& info : synthetic_sets())
    entries.push_back({.name = info.name,
                       .description = info.description,
                       .license = "generated",
                       .columns = synthetic(info.name, "train", {.rows = 1}).columns(),
                       .parts = synthetic_parts(info),
                       .available = true,
                       .location = "built in"});
  for (const auto& set : file_sets()) {
    std::vector<CatalogPart> parts;
    for (const auto& part : set.parts) parts.push_back({part.name, part.rows});
    const auto folder = find_files(set.name, set.parts);
    entries.push_back({.name = set.name,
                       .description = set.description,
                       .license = set.license,
                       .columns = set.columns,
                       .parts = std::move(parts),
                       .available = folder.has_value(),
                       .location = folder ? folder->string() : how_to_get(set)});
  }
  for (CatalogEntry& entry : derived_sets()) entries.push_back(std::move(entry));
  return entries;
}

}  // namespace harmonium
