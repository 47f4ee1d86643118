#include "harmonium/training/batch_stream.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/packed_sequences.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

BatchStream::BatchStream(Dataset data, const BatchOptions& options, const Key& key, at::Device device)
    : data_(std::move(data)), options_(options), key_(key) {
  require(data_.rows() > 0, "{}: there are no rows to train on", data_.name);
  require(options.batch >= 1, "the batch size must be at least 1, not {}", options.batch);
  if (options.classes > 0)
    require(data_.labels.defined(), "{}: this model needs labels, and the data have none", data_.name);
  bytes_become_ = what_bytes_become(device);
  data_.values = data_.values.to(device);
  step_ = data_.step().to(device);
  if (data_.labels.defined()) data_.labels = data_.labels.to(device);
}

const at::Tensor& BatchStream::order(std::int64_t epoch) {
  const auto known = std::ranges::find(orders_, epoch, &std::pair<std::int64_t, at::Tensor>::first);
  if (known != orders_.end()) return known->second;
  std::erase_if(orders_, [&](const auto& entry) { return entry.first < epoch - 1; });
  orders_.emplace_back(
      epoch, permutation(key_.fold_in(0).fold_in(static_cast<std::uint64_t>(epoch)), cases(), data_.values.device()));
  return orders_.back().second;
}

at::Tensor BatchStream::rows_of(std::int64_t update) {
  const std::int64_t rows = cases();
  std::vector<at::Tensor> pieces;
  for (std::int64_t position = update * options_.batch, left = options_.batch; left > 0;) {
    const std::int64_t offset = position % rows, take = std::min(left, rows - offset);
    pieces.push_back(order(position / rows).narrow(0, offset, take));
    position += take;
    left -= take;
  }
  return pieces.size() == 1 ? pieces.front() : at::cat(pieces);
}

bool BatchStream::from_bytes() const {
  return options_.binarization == Binarization::stochastic && options_.shrink == 0 &&
         data_.values.scalar_type() == at::kByte && data_.values.is_contiguous();
}

std::optional<BatchStream::Bytes> BatchStream::what_bytes_become(at::Device device) const {
  if (options_.classes > 0 || options_.sequences) return std::nullopt;
  if (from_bytes()) return Bytes::bits;
  // Whether all are 0 or 1 is a look at all of them, which only the way of a device asks for.
  if (device.is_cpu() || data_.values.scalar_type() != at::kByte || !data_.values.is_contiguous()) return std::nullopt;
  if (options_.shrink == 0 && data_.is_binary()) return Bytes::bits;
  return options_.binarization == Binarization::none ? std::optional(Bytes::grays) : std::nullopt;
}

BatchStream::ByteBatch BatchStream::byte_batch(std::int64_t update) {
  return {.bytes = data_.values,
          .rows = rows_of(update),
          .scale = data_.scale * (1 - 2 * options_.shrink),
          .offset = options_.shrink,
          .drawn = bits_of_bytes(),
          .key = key_of(update)};
}

std::vector<at::Tensor> BatchStream::batch(std::int64_t update) {
  at::Tensor chosen = rows_of(update), alive;
  if (options_.sequences) {
    const PackedSequences packed = pack(data_, chosen);
    chosen = packed.rows.to(data_.values.device());
    alive = at::tensor(packed.alive, at::kLong);
  }
  const Key key = key_of(update);
  const at::Tensor values = from_bytes() ? sample_bernoulli(key, data_.values, chosen.contiguous(), data_.scale)
                                         : binarize(shrunk(data_.gather(chosen)), options_.binarization, key, step_);
  if (options_.sequences) return {values, alive};
  if (options_.classes == 0) return {values};
  return {values, at::one_hot(data_.labels.index_select(0, chosen), options_.classes).to(at::kFloat)};
}

at::Tensor BatchStream::expected_values(std::int64_t begin, std::int64_t end) const {
  const at::Tensor values = shrunk(data_.slice(begin, end).to_float());
  return options_.binarization == Binarization::stochastic ? values
                                                           : binarize(values, options_.binarization, key_, step_);
}

at::Tensor BatchStream::shrunk(at::Tensor values) const {
  return options_.shrink == 0 ? values : values.mul_(1 - 2 * options_.shrink).add_(options_.shrink);
}

double BatchStream::epoch(std::int64_t update) const {
  return static_cast<double>(update) * static_cast<double>(options_.batch) / static_cast<double>(cases());
}

}  // namespace harmonium
