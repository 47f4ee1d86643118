// Where a long estimate keeps what it has so far, so that one that was stopped can be taken up again.
#pragma once

#include <optional>
#include <string>

#include "harmonium/core/named_tensors.h"

namespace harmonium {

class Journal {
 public:
  virtual ~Journal() = default;
  // What was kept last under this name; nothing where there is none.
  [[nodiscard]] virtual std::optional<NamedTensors> find(const std::string& name) = 0;
  virtual void keep(const std::string& name, const NamedTensors& tensors) = 0;
  // Whether so much was done since the last keep() that it should be kept now. Asked after every step.
  [[nodiscard]] virtual bool due() = 0;
};

}  // namespace harmonium
