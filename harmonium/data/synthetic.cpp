#include "harmonium/data/synthetic.h"

#include <algorithm>
#include <functional>

#include "harmonium/core/error.h"
#include "harmonium/data/bars_and_stripes.h"
#include "harmonium/data/capsule_scenes.h"
#include "harmonium/data/corpus.h"
#include "harmonium/data/random_rbm.h"
#include "harmonium/data/rectangles_and_triangles.h"
#include "harmonium/data/shifter.h"

namespace harmonium {

namespace {

// Streams below Key(seed); the place of a part in this list is the name of its stream.
const std::vector<std::string> drawn_parts = {"train", "valid", "test"};
constexpr std::uint64_t teacher_stream = 1000;

struct Generator {
  SyntheticInfo info;
  std::function<Dataset(const SyntheticOptions&, const Key&)> draw;
  std::function<Dataset(const SyntheticOptions&)> list_all;  // empty where the patterns cannot be listed
  std::function<std::optional<double>(const SyntheticOptions&)> entropy;
};

BarsAndStripesOptions bars_options(const SyntheticOptions& options) {
  BarsAndStripesOptions result;
  if (options.size != 0) result.side = options.size;
  return result;
}

ShifterOptions shifter_options(const SyntheticOptions& options) {
  ShifterOptions result;
  if (options.size != 0) result.width = options.size;
  return result;
}

RectanglesAndTrianglesOptions outline_options(const SyntheticOptions& options) {
  RectanglesAndTrianglesOptions result;
  if (options.size != 0) result.side = options.size;
  return result;
}

CorpusOptions corpus_options(const SyntheticOptions& options) {
  CorpusOptions result;
  if (options.size != 0) result.words = options.size;
  return result;
}

CapsuleScenesOptions scene_options(const SyntheticOptions& options) {
  CapsuleScenesOptions result;
  if (options.size != 0) result.side = options.size;
  return result;
}

RandomRbm teacher(const SyntheticOptions& options) {
  RandomRbmOptions result;
  if (options.size != 0) result.visible = options.size;
  return RandomRbm(Key(options.seed).fold_in(teacher_stream), result);
}

const std::vector<Generator>& generators() {
  static const std::vector<Generator> table = {
      {{"bars_and_stripes", "square pictures of whole columns or whole rows (4x4)", {"train", "valid", "test", "all"}},
       [](const SyntheticOptions& o, const Key& key) { return bars_and_stripes(o.rows, key, bars_options(o)); },
       [](const SyntheticOptions& o) { return bars_and_stripes(bars_options(o)); },
       [](const SyntheticOptions& o) { return bars_and_stripes_entropy(bars_options(o)); }},
      {{"shifter",
        "bits, their copy shifted by -1, 0 or 1, and a code of the shift (8 + 8 + 3)",
        {"train", "valid", "test", "all"}},
       [](const SyntheticOptions& o, const Key& key) { return shifter(o.rows, key, shifter_options(o)); },
       [](const SyntheticOptions& o) { return shifter(shifter_options(o)); },
       [](const SyntheticOptions& o) { return shifter_entropy(shifter_options(o)); }},
      {{"rectangles_and_triangles",
        "outlines of a rectangle and a triangle in one picture (28x28)",
        {"train", "valid", "test"}},
       [](const SyntheticOptions& o, const Key& key) {
         return rectangles_and_triangles(o.rows, key, outline_options(o));
       },
       {},
       [](const SyntheticOptions&) { return std::nullopt; }},
      {{"random_rbm", "exact samples of a random RBM with 8 hidden units (16 visible)", {"train", "valid", "test"}},
       [](const SyntheticOptions& o, const Key& key) { return teacher(o).sample(o.rows, key); },
       {},
       [](const SyntheticOptions& o) -> std::optional<double> {
         const RandomRbm rbm = teacher(o);
         return rbm.weights().size(0) <= 20 ? std::optional(rbm.entropy()) : std::nullopt;
       }},
      {{"corpus", "word counts of documents about 8 topics (200 words)", {"train", "valid", "test"}},
       [](const SyntheticOptions& o, const Key& key) {
         return corpus(o.rows, key, Key(o.seed).fold_in(teacher_stream), corpus_options(o));
       },
       {},
       [](const SyntheticOptions&) { return std::nullopt; }},
      {{"capsule_scenes",
        "composites of 4 parts, moved, turned and bent; the class is which of 3 (14x14)",
        {"train", "valid", "test"}},
       [](const SyntheticOptions& o, const Key& key) {
         return CapsuleScenes(Key(o.seed).fold_in(teacher_stream), scene_options(o)).draw(o.rows, key).data;
       },
       {},
       [](const SyntheticOptions&) { return std::nullopt; }},
  };
  return table;
}

const Generator& find_generator(const std::string& name) {
  const auto found = std::ranges::find(generators(), name, [](const Generator& g) { return g.info.name; });
  require(found != generators().end(), "there is no generated data set called '{}'", name);
  return *found;
}

}  // namespace

const std::vector<SyntheticInfo>& synthetic_sets() {
  static const std::vector<SyntheticInfo> infos = [] {
    std::vector<SyntheticInfo> result;
    for (const Generator& generator : generators()) result.push_back(generator.info);
    return result;
  }();
  return infos;
}

Dataset synthetic(const std::string& name, const std::string& part, const SyntheticOptions& options) {
  const Generator& generator = find_generator(name);
  Dataset data;
  if (const auto stream = std::ranges::find(drawn_parts, part); stream != drawn_parts.end()) {
    data = generator.draw(options, Key(options.seed).fold_in(static_cast<std::uint64_t>(stream - drawn_parts.begin())));
  } else {
    require(part == "all" && generator.list_all, "{} has no part '{}'", name, part);
    data = generator.list_all(options);
  }
  data.name = format("{}:{}", name, part);
  return data;
}

std::optional<double> synthetic_entropy(const std::string& name, const SyntheticOptions& options) {
  return find_generator(name).entropy(options);
}

}  // namespace harmonium
