#include "harmonium/data/binarize.h"

#include <algorithm>

#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// Part of the meaning of a seed: chunk c of a table draws from key.fold_in(c). Bounds the memory for floats.
constexpr std::int64_t chunk_rows = 1024;

}  // namespace

at::Tensor binarize(const at::Tensor& gray, Binarization binarization, const Key& key, const at::Tensor& step) {
  switch (binarization) {
    case Binarization::none:
    case Binarization::levels:
      return gray;
    case Binarization::threshold:
      return gray.ge(0.5).to(gray.scalar_type());
    case Binarization::stochastic:
      return sample_bernoulli(key, gray);
    case Binarization::dequantized: {
      const at::Tensor noise = uniform(key, gray.sizes(), gray.options());
      return gray + (step.dim() == 2 ? noise.matmul(step) : noise * step);
    }
  }
  throw std::logic_error("unknown binarization");
}

Dataset binarize(const Dataset& data, Binarization binarization, std::uint64_t seed) {
  // Bits that someone drew before stay what they are, and the record of how they were made stays true.
  if (binarization == Binarization::none || data.binarization != Binarization::none) return data;
  if (binarization == Binarization::levels) {
    (void)gray_levels(data);
    return data;
  }
  const bool noisy = binarization == Binarization::dequantized;
  if (!noisy)
    require_unit_interval(data);
  else if (!data.moved_step.defined())
    require_whole_numbers(data);
  Dataset bits = data;
  bits.values = at::empty({data.rows(), data.columns()}, noisy ? at::kFloat : at::kByte);
  bits.scale = 1.0;
  if (noisy) bits.whole_numbers = false;
  bits.binarization = binarization;
  bits.binarization_seed = binarization == Binarization::threshold ? std::nullopt : std::optional(seed);
  const Key root(seed);
  for (std::int64_t begin = 0; begin < data.rows(); begin += chunk_rows) {
    const Dataset chunk = data.slice(begin, std::min(begin + chunk_rows, data.rows()));
    const Key key = root.fold_in(static_cast<std::uint64_t>(begin / chunk_rows));
    bits.values.narrow(0, begin, chunk.rows()).copy_(binarize(chunk.to_float(), binarization, key, data.step()));
  }
  return bits;
}

Dataset with_noise(const Dataset& data, Binarization binarization, const Key& key) {
  return binarization == Binarization::dequantized ? binarize(data, binarization, key.bits()) : data;
}

}  // namespace harmonium
