#include "harmonium/training/classification_error.h"

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/inference/label_inference.h"

namespace harmonium {

ClassificationError::ClassificationError(Dataset data, Binarization binarization)
    : data_(std::move(data)),
      binarization_(binarization == Binarization::threshold ? binarization : Binarization::none) {
  require(data_.labels.defined(), "{}: the classification error needs labels, and the data have none", data_.name);
}

double ClassificationError::measure(const BoltzmannMachine& machine) const {
  constexpr std::int64_t rows_at_once = 2000;
  std::int64_t wrong = 0;
  for (std::int64_t first = 0; first < data_.rows(); first += rows_at_once) {
    const Dataset piece = data_.slice(first, std::min(first + rows_at_once, data_.rows()));
    const at::Tensor values = binarize(piece.to_float(), binarization_, Key(0)).to(machine.scalar_type());
    wrong += on_cpu(infer_labels(machine, values).argmax(1)).ne(piece.labels).sum().item<std::int64_t>();
  }
  return static_cast<double>(wrong) / static_cast<double>(data_.rows());
}

}  // namespace harmonium
