// What a user's first program looks like: headers found, library linked, tensors and random streams at work.
#include <ATen/ATen.h>

#include <cstdio>

#include "harmonium/core/error.h"
#include "harmonium/core/key.h"
#include "harmonium/core/moments.h"
#include "harmonium/kernels/random.h"

int main() {
  int unused_on_purpose;

  const harmonium::PhiloxBlock block = harmonium::Key(0).block(0);
  std::printf("block %08x %08x %08x %08x\n", block[0], block[1], block[2], block[3]);

  const harmonium::Moments a = {{"bias", at::ones({3})}, {"weights", at::full({2, 2}, 2.0)}};
  std::printf("dot %g\n", harmonium::dot(a, a));

  const at::Tensor draws = harmonium::sample_bernoulli(harmonium::Key(1), at::full({1000}, 0.5));
  harmonium::require(draws.numel() == 1000, "{} draws", draws.numel());
}
