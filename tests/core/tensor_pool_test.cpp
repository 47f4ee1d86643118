#include "harmonium/core/tensor_pool.h"

#include <ATen/ATen.h>
#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

namespace harmonium {
namespace {

class TensorPoolTest : public testing::Test {
 protected:
  void SetUp() override {
#if defined(HARMONIUM_SANITIZED)
    GTEST_SKIP() << "sanitized builds go without";
#endif
    use_tensor_pool();
    const std::int64_t before = tensor_pool_counts().requests;
    (void)at::empty({3});
    ASSERT_EQ(tensor_pool_counts().requests, before + 1) << "tensors do not come from the pool";
  }
};

TEST_F(TensorPoolTest, UsesMemoryAgain) {
  const auto step = [] {
    const at::Tensor a = at::ones({100, 1000}), b = a + 1, c = b.mm(b.t());
    return c[99][99].item<float>();
  };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(step(), 4000);
  const TensorPoolCounts before = tensor_pool_counts();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(step(), 4000);
  const TensorPoolCounts after = tensor_pool_counts();
  EXPECT_GE(after.requests, before.requests + 30);
  EXPECT_EQ(after.from_system, before.from_system);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.bytes_idle, before.bytes_idle);
}

TEST_F(TensorPoolTest, GivesBackWhatLiesIdle) {
  const at::Tensor kept = at::full({1000}, 3.0F);
  (void)at::empty({1 << 20});
  EXPECT_GE(tensor_pool_counts().bytes_idle, 4 << 20);
  EXPECT_GE(tensor_pool_counts().most_in_use, tensor_pool_counts().bytes_in_use + (4 << 20));
  trim_tensor_pool();
  EXPECT_EQ(tensor_pool_counts().bytes_idle, 0);
  EXPECT_TRUE(kept.eq(3).all().item<bool>());
}

// Gives many blocks back where not a byte more is to be had: the list of idle blocks cannot grow.
[[noreturn]] void give_back_without_memory() {
  std::vector<c10::DataPtr> blocks;
  constexpr std::size_t count = 300'000, size = 64;
  blocks.reserve(count);
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(c10::GetCPUAllocator()->allocate(size));
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit now{pages * 4096, pages * 4096};
  if (::setrlimit(RLIMIT_AS, &now) != 0) ::_exit(2);
  blocks.clear();
  const TensorPoolCounts counts = tensor_pool_counts();
  ::_exit(counts.bytes_idle < static_cast<std::int64_t>(count * size) ? 0 : 3);  // some went to the system instead
}

using TensorPoolDeathTest = TensorPoolTest;

TEST_F(TensorPoolDeathTest, GivesBlocksToTheSystemWhereItCannotKeepThem) {
  trim_tensor_pool();
  EXPECT_EXIT(give_back_without_memory(), testing::ExitedWithCode(0), "");
}

TEST_F(TensorPoolTest, HandsOutWholeAlignedBlocksOfAnySize) {
  std::vector<at::Tensor> all;
  for (std::int64_t n : {0, 1, 63, 64, 65, 127, 128, 1000, 4095, 4096, 4097, 1 << 20, (1 << 20) + 1}) {
    all.push_back(at::empty({n}, at::kByte));
    if (n == 0) continue;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all.back().data_ptr()) % 64, 0U) << n;
    all.back().fill_(static_cast<int>(all.size()));
  }
  // Blocks that overlapped would have been written over by their neighbours.
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(all[i].eq(static_cast<int>(i) + 1).all().item<bool>()) << i;
}

TEST_F(TensorPoolTest, TakesBackMemoryThatWasAskedForAsABarePointer) {
  const std::int64_t before = tensor_pool_counts().bytes_in_use;
  c10::Allocator* const pool = c10::GetCPUAllocator();
  void* const bare = pool->raw_allocate(1000);
  EXPECT_GE(tensor_pool_counts().bytes_in_use, before + 1000);
  pool->raw_deallocate(bare);
  EXPECT_EQ(tensor_pool_counts().bytes_in_use, before);
}

// Their library asks for bare memory where shapes are such that it lays weights out anew.
TEST_F(TensorPoolTest, ServesConvolutions) {
  for (const std::int64_t channels : {1, 16, 32}) {
    const at::Tensor x = at::ones({20, channels, 9, 9}).contiguous(at::MemoryFormat::ChannelsLast),
                     W = at::ones({channels, channels, 2, 3});
    EXPECT_EQ(at::conv2d(x, W)[19][0][7][6].item<float>(), static_cast<float>(6 * channels));
  }
}

TEST_F(TensorPoolTest, WastesNoMoreThanAnEighth) {
  for (std::int64_t n = 64; n < 100'000; n += 7) {
    const std::int64_t before = tensor_pool_counts().bytes_in_use;
    const at::Tensor block = at::empty({n}, at::kByte);
    const std::int64_t taken = tensor_pool_counts().bytes_in_use - before;
    ASSERT_GE(taken, n);
    ASSERT_LE(8 * taken, 9 * n + 8 * 64) << n;
  }
}

TEST_F(TensorPoolTest, ServesThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> right(4);
  for (std::size_t t = 0; t < right.size(); ++t)
    threads.emplace_back([&right, t] {
      for (int i = 0; i < 200; ++i) {
        const at::Tensor mine = at::full({1000 + i}, static_cast<float>(t));
        right[t] += mine.eq(static_cast<float>(t)).all().item<bool>() ? 1 : 0;
      }
    });
  for (std::thread& each : threads) each.join();
  for (const int count : right) EXPECT_EQ(count, 200);
}

TEST(TensorPoolScope, LeavesTheAllocatorAsItFoundIt) {
#if defined(HARMONIUM_SANITIZED)
  GTEST_SKIP() << "sanitized builds go without";
#endif
  c10::SetCPUAllocator(c10::GetDefaultCPUAllocator(), 1);
  const auto from_pool = [] {
    const std::int64_t before = tensor_pool_counts().requests;
    (void)at::empty({3});
    return tensor_pool_counts().requests > before;
  };
  EXPECT_FALSE(from_pool());
  at::Tensor survivor;
  {
    const TensorPoolScope outer;
    {
      const TensorPoolScope inner;
      EXPECT_TRUE(from_pool());
    }
    EXPECT_TRUE(from_pool());
    survivor = at::ones({1000});
  }
  EXPECT_FALSE(from_pool());
  EXPECT_EQ(tensor_pool_counts().bytes_idle, 0);
  EXPECT_EQ(survivor.sum().item<float>(), 1000);
}

}  // namespace
}  // namespace harmonium
