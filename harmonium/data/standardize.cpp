#include "harmonium/data/standardize.h"

#include <algorithm>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

constexpr std::int64_t rows_of_a_look = 20'000;

// "3, 17, 18 and 5 more", counted from 1.
std::string columns_in_words(const at::Tensor& which) {
  constexpr std::int64_t most = 8;
  const at::Tensor places = which.nonzero().view({-1});
  std::string words;
  for (std::int64_t i = 0; i < std::min(most, places.size(0)); ++i)
    words += (words.empty() ? "" : ", ") + std::to_string(places[i].item<std::int64_t>() + 1);
  if (places.size(0) > most) words += format(" and {} more", places.size(0) - most);
  return words;
}

}  // namespace

Standardization standardization_of(const Dataset& data) {
  require_all_values(data, "@scale standardize");
  require(data.rows() > 1, "{}: @scale standardize needs at least two rows", data.name);
  const at::Tensor mean = data.column_means();
  at::Tensor squares = at::zeros_like(mean);
  for (std::int64_t first = 0; first < data.rows(); first += rows_of_a_look)
    squares += (data.slice(first, std::min(first + rows_of_a_look, data.rows())).to_float().to(at::kDouble) - mean)
                   .square()
                   .sum(0);
  const at::Tensor deviation = (squares / static_cast<double>(data.rows())).sqrt();
  const at::Tensor constant = deviation.le(1e-12 * (1 + mean.abs()));
  require(
      !constant.any().item<bool>(),
      "{}: @scale standardize: columns {} (counted from 1) have the same value in every row, and a density has no end "
      "there. Leave them out",
      data.name, columns_in_words(constant));
  constexpr double farthest = 1000;  // float32 keeps four digits of the deviation then
  const at::Tensor far = mean.abs().gt(farthest * deviation);
  require(
      !far.any().item<bool>(),
      "{}: @scale standardize: in columns {} (counted from 1) the mean is more than {} deviations from 0, and numbers "
      "of single precision cannot show what varies. Subtract a constant from the data first",
      data.name, columns_in_words(far), farthest);
  return {mean, deviation};
}

Dataset standardized(Dataset data, const Standardization& by) {
  data.values = ((data.to_float().to(at::kDouble) - by.mean) / by.deviation).to(at::kFloat);
  data.moved_step = (data.scale / by.deviation).to(at::kFloat);
  data.scale = data.divided_by = 1.0;
  data.whole_numbers = false;
  return data;
}

}  // namespace harmonium
