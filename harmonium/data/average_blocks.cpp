#include "harmonium/data/average_blocks.h"

#include "harmonium/core/error.h"

namespace harmonium {

Dataset average_blocks(const Dataset& data, std::int64_t factor) {
  require(factor >= 1, "{}: blocks of {} pixels a side cannot be averaged; give 1 or more", data.name, factor);
  require(data.image.has_value(), "{}: its rows are not pictures, so there are no blocks of pixels to average",
          data.name);
  const auto [height, width] = *data.image;
  require(height % factor == 0 && width % factor == 0, "{}: pictures of {} × {} do not divide into blocks of {} × {}",
          data.name, height, width, factor, factor);
  Dataset smaller = data;
  smaller.image = ImageShape{height / factor, width / factor};
  smaller.values = data.to_float()
                       .view({data.rows(), height / factor, factor, width / factor, factor})
                       .mean(at::IntArrayRef{2, 4})
                       .reshape({data.rows(), -1});
  smaller.scale = 1;
  smaller.binarization = Binarization::none;
  smaller.binarization_seed.reset();
  return smaller;
}

}  // namespace harmonium
