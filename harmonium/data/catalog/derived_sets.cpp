#include "harmonium/data/catalog/derived_sets.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/file_sets.h"
#include "harmonium/data/patches.h"
#include "harmonium/data/split.h"

namespace harmonium {

namespace {

constexpr const char* patches_name = "mnist_patches";
constexpr std::int64_t patch_size = 5, image_stride = 10, patch_count = 4'032'000;
constexpr double share_of_valid = 0.2, share_of_test = 0.2;
constexpr std::uint64_t patch_split_seed = 0;  // fixed for good: it decides which windows are for testing

const FileSet& mnist() { return *std::ranges::find(file_sets(), "mnist", &FileSet::name); }

}  // namespace

std::vector<CatalogEntry> derived_sets() {
  const SplitSizes sizes = split_sizes(patch_count, share_of_valid, share_of_test);
  const auto folder = find_files(mnist().name, mnist().parts);
  return {{.name = patches_name,
           .description = "5x5 windows of MNIST images, binarized at one half",
           .license = mnist().license,
           .columns = patch_size * patch_size,
           .parts = {{"train", sizes.train}, {"valid", sizes.valid}, {"test", sizes.test}},
           .available = folder.has_value(),
           .location = folder ? folder->string() : mnist().how_to_get}};
}

Dataset open_derived_set(const std::string& name, const std::string& part) {
  require(name == patches_name, "there is no data set called '{}'", name);
  std::vector<at::Tensor> rows;
  Dataset pictures;
  for (const char* origin : {"train", "test"}) {
    pictures = open_file_set(mnist(), *std::ranges::find(mnist().parts, origin, &FilePart::name));
    rows.push_back(pictures.values.slice(0, 0, pictures.rows(), image_stride));
  }
  pictures.values = at::cat(rows);
  pictures.labels = at::Tensor();
  pictures.name = name;
  const Dataset patches = binary_patches(pictures, patch_size);
  const Split parts = split(patches, split_sizes(patches.rows(), share_of_valid, share_of_test), Key(patch_split_seed));
  if (part == "train") return parts.train;
  return part == "valid" ? parts.valid : parts.test;
}

}  // namespace harmonium
