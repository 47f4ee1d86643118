#include "harmonium/training/best_model.h"
#include "harmonium/core/error.h"

namespace harmonium {

NamedTensors BestModel::state() const {
  if (empty()) return {};
  NamedTensors tensors = {{"best.error", at::full({1}, error_, at::kDouble)},
                          {"best.update", at::full({1}, update_, at::kLong)}};
  for (const auto& [name, value] : parameters_.entries()) tensors.emplace_back("best.parameters/" + name, value);
  return tensors;
}

void BestModel::restore(const NamedTensors& tensors, const Moments& shape) {
  *this = {};
  bool there = false;
  for (const auto& [name, value] : tensors) there = there || name == "best.error";
  if (!there) return;
  for (const auto& [name, value] : shape.entries()) {
    const at::Tensor found = find_tensor(tensors, "best.parameters/" + name, "the best model so far");
    require(found.sizes() == value.sizes(), "the best model so far: tensor '{}' has the wrong shape", name);
    parameters_.insert(name, found.clone());
  }
  error_ = find_tensor(tensors, "best.error", "the best model so far").item<double>();
  update_ = find_tensor(tensors, "best.update", "the best model so far").item<std::int64_t>();
}

}  // namespace harmonium
