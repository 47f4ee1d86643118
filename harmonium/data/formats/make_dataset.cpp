#include "harmonium/data/formats/make_dataset.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/formats/bytes.h"

namespace harmonium {

namespace {

std::optional<ImageShape> guess_square_image(std::int64_t columns) {
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(columns))));
  if (columns < 16 || side * side != columns) return std::nullopt;
  return ImageShape{side, side};
}

double scale_of_bytes(const at::Tensor& bytes, ValueRange range) {
  const auto largest = bytes.max().item<std::int64_t>();
  if (largest <= 1) return 1.0;
  return range == ValueRange::guess && largest <= 16 ? 1.0 / 16 : 1.0 / 255;
}

void require_finite_table(const at::Tensor& table, const std::string& where) {
  const float* values = table.data_ptr<float>();
  for (std::int64_t i = 0; i < table.numel(); ++i) {
    require(std::isfinite(values[i]), "{}: row {}, column {}: {} is not a finite number (of single precision)", where,
            i / table.size(1) + 1, i % table.size(1) + 1, values[i]);
  }
}

bool fits_bytes(const at::Tensor& table) {
  const float* values = table.data_ptr<float>();
  for (std::int64_t i = 0; i < table.numel(); ++i) {
    if (!(values[i] >= 0 && values[i] <= 255 && values[i] == std::trunc(values[i]))) return false;
  }
  return true;
}

}  // namespace

Dataset make_dataset(const at::Tensor& array, ValueRange range, const std::string& where) {
  const std::string shape = shape_text({array.sizes().data(), array.sizes().size()});
  require(array.dim() == 2 || array.dim() == 3,
          "{}: an array of {} is not a data set{}; expected rows × columns or images × height × width", where, shape,
          array.dim() == 1 ? " (are these the labels?)" : "");
  require(array.numel() > 0, "{}: the array of {} is empty", where, shape);

  Dataset data;
  if (array.dim() == 3) data.image = ImageShape{array.size(1), array.size(2)};
  const at::Tensor table = array.reshape({array.size(0), -1});
  if (array.dim() == 2) data.image = guess_square_image(table.size(1));

  if (table.scalar_type() == at::kByte || table.scalar_type() == at::kBool) {
    data.values = table.to(at::kByte);
  } else {
    data.values = table.to(at::kFloat).contiguous();
    require_finite_table(data.values, where);
    if (fits_bytes(data.values)) data.values = data.values.to(at::kByte);
  }
  if (data.values.scalar_type() == at::kByte) data.scale = scale_of_bytes(data.values, range);
  return data;
}

Dataset make_dataset(const at::Tensor& array, const std::string& where) {
  return make_dataset(array, array.scalar_type() == at::kByte ? ValueRange::bytes : ValueRange::guess, where);
}

}  // namespace harmonium
