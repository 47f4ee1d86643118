#include "harmonium/data/patches.h"

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"

namespace harmonium {

Dataset binary_patches(const Dataset& pictures, std::int64_t size) {
  require(pictures.image.has_value(), "{}: its rows are not pictures, so there are no patches to cut out",
          pictures.name);
  const auto [height, width] = *pictures.image;
  require(size >= 1 && size <= height && size <= width, "{}: pictures of {} × {} have no patches of {} × {}",
          pictures.name, height, width, size, size);
  const Dataset bits = binarize(pictures, Binarization::threshold, /*seed=*/0);
  const at::Tensor windows = bits.values.reshape({bits.rows(), height, width})
                                 .unfold(1, size, 1)
                                 .unfold(2, size, 1)  // rows × places down × places across × size × size
                                 .reshape({-1, size * size});
  Dataset patches = bits;
  patches.values = windows;
  patches.labels = at::Tensor();
  patches.image = ImageShape{size, size};
  return patches;
}

}  // namespace harmonium
