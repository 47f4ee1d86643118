#include "harmonium/data/binarize.h"

#include <algorithm>

#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

// Part of the meaning of a seed: chunk c of a table draws from key.fold_in(c). Bounds the memory for floats.
constexpr std::int64_t chunk_rows = 1024;

}  // namespace

at::Tensor binarize(const at::Tensor& gray, Binarization binarization, const Key& key) {
  switch (binarization) {
    case Binarization::none:
      return gray;
    case Binarization::threshold:
      return gray.ge(0.5).to(gray.scalar_type());
    case Binarization::stochastic:
      return sample_bernoulli(key, gray);
  }
  throw std::logic_error("unknown binarization");
}

Dataset binarize(const Dataset& data, Binarization binarization, std::uint64_t seed) {
  // Bits that someone drew before stay what they are, and the record of how they were made stays true.
  if (binarization == Binarization::none || data.binarization != Binarization::none) return data;
  require_unit_interval(data);
  Dataset bits = data;
  bits.values = at::empty({data.rows(), data.columns()}, at::kByte);
  bits.scale = 1.0;
  bits.binarization = binarization;
  bits.binarization_seed = binarization == Binarization::stochastic ? std::optional(seed) : std::nullopt;
  const Key root(seed);
  for (std::int64_t begin = 0; begin < data.rows(); begin += chunk_rows) {
    const Dataset chunk = data.slice(begin, std::min(begin + chunk_rows, data.rows()));
    const Key key = root.fold_in(static_cast<std::uint64_t>(begin / chunk_rows));
    bits.values.narrow(0, begin, chunk.rows()).copy_(binarize(chunk.to_float(), binarization, key));
  }
  return bits;
}

}  // namespace harmonium
