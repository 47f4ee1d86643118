#include "harmonium/core/tensor_pool.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>
#include <new>
#include <vector>

namespace harmonium {

namespace {

// Sizes are rounded up to eighths of a power of two, so that at most an eighth of a block lies waste.
struct SizeClass {
  explicit SizeClass(std::size_t bytes) {
    constexpr std::size_t least = 64;
    const std::size_t wanted = bytes < least ? least : bytes;
    const int shift = std::bit_width(wanted - 1) - 4;  // leaves four leading bits
    const std::size_t eighths = (wanted + (std::size_t{1} << shift) - 1) >> shift;
    size = eighths << shift;
    index = static_cast<std::size_t>(shift) * 8 + eighths - 8;
  }
  std::size_t size, index;
};

constexpr std::size_t header_bytes = 64;                     // a cache line, so that data stays aligned
constexpr std::int64_t most_idle = std::int64_t{512} << 20;  // bytes kept for later

struct Header {
  std::size_t size, index;
};
static_assert(sizeof(Header) <= header_bytes);

class TensorPool final : public c10::Allocator {
 public:
  // The interface changed between the LibTorch of Debian and today's.
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3)
  c10::DataPtr allocate(std::size_t bytes) override { return take(bytes); }
  void copy_data(void* to, const void* from, std::size_t count) const override { std::memcpy(to, from, count); }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return take(bytes); }
#endif
  // A block's context is its data, so that memory may be asked for and given back as a bare pointer: convolutions on
  // the CPU (oneDNN) do so.
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }

  static TensorPool& instance() {
    static TensorPool* const pool = new TensorPool;  // never destroyed: tensors may outlive every static
    return *pool;
  }

  void release_idle() const {
    const std::scoped_lock lock(mutex_);
    for (std::vector<void*>& idle : idle_) {
      for (void* block : idle) c10::free_cpu(block);
      idle.clear();
    }
    counts_.bytes_idle = 0;
  }

  [[nodiscard]] TensorPoolCounts counts() const {
    const std::scoped_lock lock(mutex_);
    return counts_;
  }

 private:
  [[nodiscard]] c10::DataPtr take(std::size_t bytes) const {
    const c10::Device cpu(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &give_back, cpu};
    const SizeClass size(bytes);
    void* block = idle_block(size);
    if (block == nullptr) {
      block = new_block(header_bytes + size.size);
      *static_cast<Header*>(block) = {.size = size.size, .index = size.index};
    }
    {
      const std::scoped_lock lock(mutex_);
      ++counts_.requests;
      counts_.bytes_in_use += static_cast<std::int64_t>(size.size);
      counts_.most_in_use = std::max(counts_.most_in_use, counts_.bytes_in_use);
    }
    void* const data = static_cast<char*>(block) + header_bytes;
    return {data, data, &give_back, cpu};
  }

  // Null if there is none.
  [[nodiscard]] void* idle_block(const SizeClass& size) const {
    const std::scoped_lock lock(mutex_);
    std::vector<void*>& idle = idle_[size.index];
    if (idle.empty()) return nullptr;
    void* const block = idle.back();
    idle.pop_back();
    counts_.bytes_idle -= static_cast<std::int64_t>(size.size);
    return block;
  }

  // Where memory is short, what lies idle goes back first; then LibTorch refuses with its own message.
  [[nodiscard]] void* new_block(std::size_t bytes) const {
    {
      const std::scoped_lock lock(mutex_);
      ++counts_.from_system;
    }
    try {
      return c10::alloc_cpu(bytes);
    } catch (const c10::Error&) {
      release_idle();
      return c10::alloc_cpu(bytes);
    }
  }

  // Called by destructors, so nothing here may throw: where the list of idle blocks cannot grow, the block goes back.
  static void give_back(void* data) noexcept {
    if (data == nullptr) return;
    void* const block = static_cast<char*>(data) - header_bytes;
    const Header header = *static_cast<const Header*>(block);
    TensorPool& pool = instance();
    const auto size = static_cast<std::int64_t>(header.size);
    {
      const std::scoped_lock lock(pool.mutex_);
      pool.counts_.bytes_in_use -= size;
      if (pool.counts_.bytes_idle + size <= most_idle && pool.keep_idle(header.index, block)) {
        pool.counts_.bytes_idle += size;
        return;
      }
    }
    c10::free_cpu(block);
  }

  [[nodiscard]] bool keep_idle(std::size_t index, void* block) noexcept {
    try {
      idle_[index].push_back(block);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  mutable std::mutex mutex_;
  mutable std::array<std::vector<void*>, 64 * 8> idle_;  // by index of their size
  mutable TensorPoolCounts counts_;
};

constexpr std::uint8_t pool_priority = 1;  // above the default

struct PoolScopes {
  std::mutex mutex;
  int count = 0;
  c10::Allocator* before = nullptr;
};
PoolScopes& pool_scopes() {
  static PoolScopes scopes;
  return scopes;
}

}  // namespace

void use_tensor_pool() {
#if !defined(HARMONIUM_SANITIZED)
  c10::SetCPUAllocator(&TensorPool::instance(), pool_priority);
#endif
}

TensorPoolScope::TensorPoolScope() {
  PoolScopes& scopes = pool_scopes();
  const std::scoped_lock lock(scopes.mutex);
  if (scopes.count++ > 0) return;
  scopes.before = c10::GetCPUAllocator();
  use_tensor_pool();
}

TensorPoolScope::~TensorPoolScope() {
  PoolScopes& scopes = pool_scopes();
  const std::scoped_lock lock(scopes.mutex);
  if (--scopes.count > 0 || scopes.before == c10::GetCPUAllocator()) return;
  c10::SetCPUAllocator(scopes.before, pool_priority);
  trim_tensor_pool();
}

void trim_tensor_pool() { TensorPool::instance().release_idle(); }

TensorPoolCounts tensor_pool_counts() { return TensorPool::instance().counts(); }

}  // namespace harmonium
