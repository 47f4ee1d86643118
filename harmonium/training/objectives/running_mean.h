// The mean of a number over updates since it was last taken. Sums stay where the numbers are, so that nobody waits for
// a device.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

namespace harmonium {

class RunningMean {
 public:
  // `name` is how metrics call it; `like`: a tensor where the numbers are.
  RunningMean(std::string name, const at::Tensor& like);

  void add(const at::Tensor& value);  // one number
  // The mean under its name, and begins again; nothing where nothing was added.
  [[nodiscard]] std::map<std::string, double> take();
  [[nodiscard]] at::Device device() const { return sum_.device(); }

  // Sum and number, for a checkpoint.
  [[nodiscard]] at::Tensor state() const;
  void restore(const at::Tensor& saved);

 private:
  std::string name_;
  at::Tensor sum_;
  std::int64_t count_ = 0;
};

}  // namespace harmonium
