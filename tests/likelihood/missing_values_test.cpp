#include "harmonium/likelihood/missing_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"

namespace harmonium {
namespace {

TEST(MissingValues, AreSummedOutAsEnumerationOfAllUnitsDoes) {
  BoltzmannMachine machine = make_rbm("bernoulli:3", "bernoulli:2");
  std::uint64_t stream = 0;
  for (auto& [name, value] : machine.parameters().entries())
    value.copy_((uniform(Key(3).fold_in(stream++), value.sizes()) - 0.5) * 2);
  const BoltzmannMachine precise = machine.to(at::kDouble);
  const float gap = std::numeric_limits<float>::quiet_NaN();
  const at::Tensor rows = at::tensor({1.F, gap, 0.F, gap, gap, gap, 0.F, 1.F, 1.F}).view({3, 3});
  const at::Tensor found = log_unnormalized_of_known(precise, rows);

  // A second derivation: Σ over all units of exp(bias·v + hidden·h + v W h), those that are known held.
  const auto& entries = precise.parameters().entries();
  at::Tensor weights, visible, hidden;
  for (const auto& [name, value] : entries) {
    if (value.dim() == 2) weights = value;
    if (value.dim() == 1 && value.numel() == 3) visible = value;
    if (value.dim() == 1 && value.numel() == 2) hidden = value;
  }
  for (std::int64_t row = 0; row < 3; ++row) {
    double sum = 0;
    for (int code = 0; code < 32; ++code) {
      const at::Tensor v = at::tensor({code & 1, code >> 1 & 1, code >> 2 & 1}).to(at::kDouble);
      const at::Tensor h = at::tensor({code >> 3 & 1, code >> 4 & 1}).to(at::kDouble);
      const at::Tensor known = rows[row].to(at::kDouble);
      if (!at::where(known.isnan(), v, known).equal(v)) continue;
      sum += std::exp((v.dot(visible) + h.dot(hidden) + v.matmul(weights).dot(h)).item<double>());
    }
    EXPECT_NEAR(found[row].item<double>(), std::log(sum), 1e-9) << row;
  }
}

TEST(MissingValues, TooManyInARowAreRefusedNamingTheRow) {
  const BoltzmannMachine machine = make_rbm("bernoulli:20", "bernoulli:2");
  at::Tensor rows = at::zeros({2, 20});
  rows[1].fill_(std::numeric_limits<float>::quiet_NaN());
  try {
    (void)log_unnormalized_of_known(machine, rows);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("row 1 (counted from 0) lacks 20 values"), std::string::npos);
  }
}

}  // namespace
}  // namespace harmonium
