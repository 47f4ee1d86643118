#include <algorithm>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"
#include "harmonium/data/formats/png.h"

namespace harmonium {

at::Tensor read_png_folder(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator it(folder, failure), end; !failure && it != end; it.increment(failure)) {
    std::error_code vanished;
    if (it->is_regular_file(vanished)) paths.push_back(it->path());
  }
  require(!failure, "cannot list the folder {}: {}", folder.string(), failure.message());
  std::ranges::sort(paths);

  std::vector<std::uint8_t> pixels;
  std::filesystem::path first;
  std::int64_t count = 0, height = 0, width = 0;
  for (const auto& path : paths) {
    const std::string bytes = read_file(path);
    if (!is_png(bytes) && path.extension() != ".png") continue;
    const GrayImage image = decode_png(bytes, path.string());
    if (count == 0) {
      first = path;
      height = image.height;
      width = image.width;
    }
    require(image.height == height && image.width == width,
            "{}: {}×{} pixels, but {} has {}×{}; all pictures of a folder must have one size", path.string(),
            image.height, image.width, first.filename().string(), height, width);
    pixels.insert(pixels.end(), image.pixels.begin(), image.pixels.end());
    ++count;
  }
  require(count > 0, "{}: no PNG pictures in this folder", folder.string());
  const std::vector<std::int64_t> shape{count, height, width};
  return tensor_from_bytes({reinterpret_cast<const char*>(pixels.data()), pixels.size()}, at::kByte, shape,
                           std::endian::native);
}

}  // namespace harmonium
