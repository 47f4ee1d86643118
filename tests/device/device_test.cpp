// What happens where there is no CUDA, and that there is no silent fallback.
#include "harmonium/core/device.h"

#include <gtest/gtest.h>

#include "tests/support/machines.h"

namespace harmonium {
namespace {

TEST(FindDevice, GivesTheCpu) { EXPECT_TRUE(find_device("cpu").is_cpu()); }

TEST(FindDevice, NamesTheDevicesThereAre) {
  support::expect_mentions(support::message_of([] { (void)find_device("tpu"); }), {"tpu", "cpu", "cuda"});
}

TEST(FindDevice, SaysWhatIsMissingWhereThereIsNoCuda) {
  if (plain_options(cuda_complaint()).empty()) {
    EXPECT_TRUE(find_device("cuda").is_cuda());
    return;
  }
  const std::string message = support::message_of([] { (void)find_device("cuda"); });
  support::expect_mentions(message, {"device cuda", plain_options(cuda_complaint()), "device cpu"});
#if defined(HARMONIUM_CUDA)
  support::expect_mentions(message, {"no CUDA device found", "nvidia-smi"});
#elif !defined(HARMONIUM_TORCH_HAS_CUDA)
  support::expect_mentions(message, {"LibTorch is CPU only", "CMAKE_PREFIX_PATH"});
#endif
}

}  // namespace
}  // namespace harmonium
