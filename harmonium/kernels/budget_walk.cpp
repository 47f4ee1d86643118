#include "harmonium/kernels/budget_walk.h"

#include <ATen/ATen.h>

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "harmonium/core/error.h"
#include "harmonium/kernels/clones.h"

namespace harmonium {

namespace {

constexpr double most_field = 690;

// P_j(r) for r = 1 … k into chances (N × k). ratios and sums have room for k + 1 numbers. Gives log S̃_1(k).
HARMONIUM_CLONES double walk_back(const double* field, std::int64_t units, std::int64_t most, double* chances,
                                  double* ratios, double* sums) {
  std::fill_n(ratios, most, 1.0);
  sums[0] = 1;
  double log_sum = 0;
  for (std::int64_t j = units - 1; j >= 0; --j) {
    const double weight = std::exp(field[j]);
    double* chance = chances + j * most;
    for (std::int64_t r = 0; r < most; ++r) {
      chance[r] = weight * ratios[r];
      sums[r + 1] = 1 + chance[r];
    }
    log_sum += std::log1p(chance[most - 1]);
    for (std::int64_t r = 0; r < most; ++r) {
      const double share = 1 / sums[r + 1];
      chance[r] *= share;
      ratios[r] *= sums[r] * share;
    }
  }
  return log_sum;
}

// budget: distribution of r = 0 … k, and on: k numbers of room.
HARMONIUM_CLONES void walk_means(const double* chances, std::int64_t units, std::int64_t most, double* budget,
                                 double* on, double* means) {
  std::fill_n(budget, most, 0.0);
  budget[most] = 1;
  for (std::int64_t j = 0; j < units; ++j) {
    const double* chance = chances + j * most;
    for (std::int64_t r = 0; r < most; ++r) on[r] = budget[r + 1] * chance[r];
    constexpr std::int64_t lanes = 8;  // several sums at once, in an order of their own
    double sums[lanes] = {};
    std::int64_t r = 0;
    for (; r + lanes <= most; r += lanes)
      for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += on[r + lane];
    double total = 0;
    for (; r < most; ++r) total += on[r];
    for (const double sum : sums) total += sum;
    means[j] = total;
    for (r = 0; r < most; ++r) budget[r] += on[r];
    for (r = 0; r < most; ++r) budget[r + 1] -= on[r];
  }
}

void walk_draws(const double* chances, std::int64_t units, std::int64_t most, const double* uniforms, double* draws) {
  std::int64_t left = most;
  for (std::int64_t j = 0; j < units; ++j) {
    const bool on = left > 0 && uniforms[j] < chances[j * most + left - 1];
    draws[j] = on ? 1 : 0;
    left -= on ? 1 : 0;
  }
}

// Room of one thread.
struct Tables {
  Tables(std::int64_t units, std::int64_t most)
      : chances(static_cast<std::size_t>(units * most)),
        first(static_cast<std::size_t>(most + 1)),
        second(static_cast<std::size_t>(most + 1)) {}
  std::vector<double> chances, first, second;
};

// Calls visit(row, tables, log S̃) for every row, on several threads.
template <class Visit>
void for_rows(const at::Tensor& field, std::int64_t most, Visit visit) {
  require(field.dim() == 2 && field.scalar_type() == at::kDouble && most >= 1,
          "budgets are walked with rows of float64 and at least one unit that may be on");
  const at::Tensor rows = field.contiguous();
  const std::int64_t units = rows.size(1);
  constexpr std::int64_t worth_a_thread = 20'000;
  const std::int64_t grain = std::max<std::int64_t>(1, worth_a_thread / std::max<std::int64_t>(1, units * most));
  at::parallel_for(0, rows.size(0), grain, [&](std::int64_t begin, std::int64_t end) {
    Tables tables(units, most);
    for (std::int64_t row = begin; row < end; ++row) {
      const double log_sum = walk_back(rows.data_ptr<double>() + row * units, units, most, tables.chances.data(),
                                       tables.first.data(), tables.second.data());
      visit(row, tables, log_sum);
    }
  });
}

}  // namespace

bool budget_walk_serves(const at::Tensor& field) {
  return field.is_cpu() && (field.numel() == 0 || field.abs().max().item<double>() <= most_field);
}

at::Tensor budget_log_partition(const at::Tensor& field, std::int64_t most) {
  at::Tensor result = at::empty({field.size(0)}, at::kDouble);
  double* out = result.data_ptr<double>();
  for_rows(field, most, [out](std::int64_t row, Tables&, double log_sum) { out[row] = log_sum; });
  return result;
}

at::Tensor budget_means(const at::Tensor& field, std::int64_t most) {
  const std::int64_t units = field.size(1);
  at::Tensor result = at::empty(field.sizes(), at::kDouble);
  double* out = result.data_ptr<double>();
  for_rows(field, most, [=](std::int64_t row, Tables& tables, double) {
    walk_means(tables.chances.data(), units, most, tables.first.data(), tables.second.data(), out + row * units);
  });
  return result;
}

at::Tensor budget_draws(const at::Tensor& field, std::int64_t most, const at::Tensor& uniforms) {
  require(uniforms.sizes() == field.sizes() && uniforms.scalar_type() == at::kDouble,
          "draws take a uniform number for every unit");
  const at::Tensor given = uniforms.contiguous();
  const std::int64_t units = field.size(1);
  at::Tensor result = at::empty(field.sizes(), at::kDouble);
  double* out = result.data_ptr<double>();
  const double* u = given.data_ptr<double>();
  for_rows(field, most, [=](std::int64_t row, Tables& tables, double) {
    walk_draws(tables.chances.data(), units, most, u + row * units, out + row * units);
  });
  return result;
}

}  // namespace harmonium
