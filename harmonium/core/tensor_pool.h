// Memory of tensors, used again: LibTorch takes the memory of every result from the system and gives it back, which for
// large tensors means a page fault for every 4 KiB, thousands a step. With the pool a training step in steady state
// asks the system for nothing.
//
// A program opts in, once, before it makes tensors worth the name; a library must not.
#pragma once

#include <cstdint>

namespace harmonium {

struct TensorPoolCounts {
  std::int64_t requests = 0;     // blocks handed out
  std::int64_t from_system = 0;  // of which new ones
  std::int64_t bytes_in_use = 0, bytes_idle = 0;
  std::int64_t most_in_use = 0;  // bytes, at any time so far
};

// From now on tensors on the CPU take their memory from the pool. Does nothing in sanitized builds, where memory that
// is used again would hide mistakes.
void use_tensor_pool();
// The same while one of these lives, for a library in somebody else's program: what was there before comes back with
// the end of the last one, and idle memory goes back to the system. Tensors of other threads come from the pool
// meanwhile.
class TensorPoolScope {
 public:
  TensorPoolScope();
  ~TensorPoolScope();
  TensorPoolScope(const TensorPoolScope&) = delete;
  TensorPoolScope& operator=(const TensorPoolScope&) = delete;
};
// Gives back what lies idle: worth it where preparations end and long work begins.
void trim_tensor_pool();
[[nodiscard]] TensorPoolCounts tensor_pool_counts();

}  // namespace harmonium
