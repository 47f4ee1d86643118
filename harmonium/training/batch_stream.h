// Batches by number: update u of a seed is always the same rows with the same random bits, whatever came before.
//
// Rows are visited in a fresh random order every epoch; a batch may straddle two epochs. Where rows are frames of
// sequences and the model wants these, whole sequences are, and a batch holds their frames as pack() puts them
// (data/packed_sequences.h). Nothing needs saving for a resume. Gray values are binarized, or dequantized, anew at
// every update unless told otherwise.
#pragma once

#include <optional>
#include <vector>

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"

namespace harmonium {

struct BatchOptions {
  std::int64_t batch = 100;
  Binarization binarization = Binarization::none;
  double shrink = 0;         // values x become x(1 − 2·shrink) + shrink, as published recipes do with gray values
  std::int64_t classes = 0;  // > 0: batches carry a one-hot label as a second tensor
  bool sequences = false;  // `batch` counts sequences; batches carry PackedSequences::alive (int64) as a second tensor
};

class BatchStream {
 public:
  // The data are copied to the device once; orders of epochs are made there, and batches never leave it.
  BatchStream(Dataset data, const BatchOptions& options, const Key& key, at::Device device = at::kCPU);

  // One float32 tensor per observed layer: values, and labels where asked for.
  [[nodiscard]] std::vector<at::Tensor> batch(std::int64_t update);
  // The numbers of its rows in the data, int64; of its sequences, where batches are made of these.
  [[nodiscard]] at::Tensor rows_of(std::int64_t update);
  // Whether batches are made of a table of bytes and nothing else, and such a batch before it is made: its numbers are
  // byte·scale + offset, or bits that are 1 with that probability (which bits that stay as they are may be taken for).
  struct ByteBatch {
    at::Tensor bytes;
    at::Tensor rows;
    double scale, offset;
    bool drawn;
    Key key;
  };
  [[nodiscard]] bool of_bytes() const { return bytes_become_.has_value(); }
  [[nodiscard]] bool bits_of_bytes() const { return bytes_become_ == Bytes::bits; }
  [[nodiscard]] ByteBatch byte_batch(std::int64_t update);
  // The key of a batch's random numbers.
  [[nodiscard]] Key key_of(std::int64_t update) const {
    return key_.fold_in(1).fold_in(static_cast<std::uint64_t>(update));
  }
  // Rows begin … end−1 as batches see them on average: gray values that are binarized by chance stay gray.
  [[nodiscard]] at::Tensor expected_values(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] const Dataset& data() const { return data_; }
  [[nodiscard]] const BatchOptions& options() const { return options_; }
  [[nodiscard]] double epoch(std::int64_t update) const;

 private:
  enum class Bytes { bits, grays };
  [[nodiscard]] bool from_bytes() const;
  [[nodiscard]] std::optional<Bytes> what_bytes_become(at::Device device) const;
  [[nodiscard]] const at::Tensor& order(std::int64_t epoch);
  [[nodiscard]] std::int64_t cases() const { return options_.sequences ? data_.cases() : data_.rows(); }
  [[nodiscard]] at::Tensor shrunk(at::Tensor values) const;

  Dataset data_;
  BatchOptions options_;
  Key key_;
  at::Tensor step_;                    // of the data, on the device
  std::optional<Bytes> bytes_become_;  // where batches are made of bytes
  // The orders of the current epoch and the next, enough for a batch on the border.
  std::vector<std::pair<std::int64_t, at::Tensor>> orders_;
};

}  // namespace harmonium
