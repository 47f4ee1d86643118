// Micro-benchmarks of the kernels beside the plain expressions. Each pair is compared before any is timed.
//   harmonium_microbench [--smoke] [options of Google Benchmark]
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "harmonium/core/fast_arithmetic.h"
#include "harmonium/core/key.h"
#include "harmonium/core/tensor_pool.h"
#include "harmonium/kernels/anneal_logistic.h"
#include "harmonium/kernels/binary_product.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/render_tensors.h"
#include "harmonium/kernels/site_sweep.h"

namespace harmonium {
namespace {

using Work = std::function<at::Tensor()>;

struct Pair {
  std::string name;
  Work ours, plain;
  double tolerance;  // of the largest difference, in units of the largest number; below 0: random, compared by means
};

// Bits of which the given part deviate from majorities that are themselves on or off at random.
at::Tensor bits(std::uint64_t seed, std::int64_t rows, std::int64_t columns, double part) {
  const at::Tensor usual = uniform(Key(seed).fold_in(1), {columns}).lt(0.5);
  return uniform(Key(seed).fold_in(2), {rows, columns}).lt(part).logical_xor(usual).to(at::kFloat);
}

// The drawing of capsules, as large as published, forward and back. Compared are gradients of intensities: those of
// poses jump where rounding puts a pixel on the other side of a template's line.
Pair render_pair(bool smoke) {
  const std::int64_t rows = smoke ? 5 : 500, parts = 9, size = 11;
  const Canvas canvas{28, 28};
  const at::Tensor rest = at::tensor({0.0F, 0.0F, 2.0F, 2.0F, 0.0F, 0.0F}),
                   spread = at::tensor({0.3F, 0.3F, 0.5F, 0.5F, 0.3F, 1.0F});
  const DrawnParts drawn{.poses = pose_matrix(rest + spread * (uniform(Key(10), {rows, parts, 6}) - 0.5)),
                         .intensities = uniform(Key(11), {rows, parts, 1}),
                         .templates = uniform(Key(12), {parts, 1, size, size})};
  const at::Tensor target = uniform(Key(13), {rows, canvas.pixels()});
  return {"render_gradient", [=] { return render_error_gradient(drawn, target, canvas, {}).gradient.intensities; },
          [=] {
            const auto leaf = [](const at::Tensor& x) { return x.detach().requires_grad_(); };
            const DrawnParts leaves{
                .poses = leaf(drawn.poses), .intensities = leaf(drawn.intensities), .templates = leaf(drawn.templates)};
            (render_by_tensors(leaves, canvas, {}) - target).square().sum().backward();
            return leaves.intensities.grad();
          },
          1e-3};
}

std::vector<Pair> pairs(bool smoke) {
  const std::int64_t rows = smoke ? 40 : 2000, visible = smoke ? 90 : 784, hidden = smoke ? 70 : 500;
  const at::Tensor w = normal(Key(1), {visible, hidden}) * 0.1, b = normal(Key(2), {hidden});
  const at::Tensor field = normal(Key(3), {rows, hidden}), p = uniform(Key(4), {rows, hidden});
  std::vector<Pair> all = {
      {"logistic", [=] { return logistic(field); }, [=] { return at::sigmoid(field); }, 1e-6},
      {"sample", [=] { return sample_logistic(Key(5), field); }, [=] { return at::bernoulli(at::sigmoid(field)); }, -1},
      {"uniform",
       [=] {
         return uniform(Key(5), {rows, hidden});
       },
       [=] {
         return at::rand({rows, hidden});
       },
       -1},
      {"softplus_row_sums", [=] { return softplus_row_sums(field); },
       [=] { return at::softplus(field).sum(1, false, at::kDouble); }, 1e-6}};
  for (const double part : {0.05, 0.13, 0.25, 0.33}) {
    const at::Tensor v = bits(6, rows, visible, part), h = bits(7, rows, hidden, part);
    const std::string percent = std::to_string(static_cast<int>(100 * part)) + "%";
    all.push_back(
        {"product/" + percent, [=] { return add_product(b, v, w); }, [=] { return at::addmm(b, v, w); }, 1e-5});
    all.push_back({"product_transposed/" + percent, [=] { return add_product({}, h, w.t()); },
                   [=] { return h.mm(w.t()); }, 1e-5});
    all.push_back({"outer_product/" + percent, [=] { return mean_outer_product(v, p); },
                   [=] { return v.t().mm(p).div_(static_cast<double>(rows)); }, 1e-5});
  }
  const at::Tensor annealed = normal(Key(8), {rows, hidden});
  all.push_back({"annealing_step",
                 [=] {
                   at::Tensor weights = at::zeros({rows}, at::kDouble);
                   (void)anneal_logistic(Key(9), {annealed, b, 0.5}, {annealed, b, 0.6}, weights);
                   return weights;
                 },
                 [=] {
                   const at::Tensor after = b + 0.6 * annealed, before = b + 0.5 * annealed;
                   const at::Tensor drawn = at::bernoulli(at::sigmoid(after));
                   return (at::softplus(after) - at::softplus(before)).sum(1, false, at::kDouble);
                 },
                 1e-5});
  all.push_back(render_pair(smoke));
  return all;
}

bool agree(const Pair& pair) {
  const at::Tensor ours = pair.ours().to(at::kDouble), plain = pair.plain().to(at::kDouble);
  if (ours.sizes() != plain.sizes()) return false;
  if (pair.tolerance >= 0)
    return ((ours - plain).abs().max() <= pair.tolerance * plain.abs().max().clamp_min(1)).item<bool>();
  // Means of two independent sets of draws: six standard errors, a false alarm in 10⁹.
  const double error = 6 * std::sqrt((ours.var() + plain.var()).item<double>() / static_cast<double>(ours.numel()));
  return std::abs((ours.mean() - plain.mean()).item<double>()) < error;
}

// A sweep through a fully joined layer has no plain expression of its own; it is timed alone.
void site_sweeps(benchmark::State& state, bool smoke) {
  const std::int64_t units = smoke ? 10 : 100, rows = smoke ? 10 : 1000;
  const at::Tensor upper = normal(Key(1), {units, units}).triu(1) * 0.1, couplings = upper + upper.t();
  at::Tensor x = bits(2, rows, units, 0.2);
  std::uint64_t step = 0;
  for (auto _ : state) x = site_sweep(Key(3).fold_in(step++), x, {.field = x.mm(couplings), .couplings = couplings});
}

}  // namespace
}  // namespace harmonium

int main(int count, char** arguments) {
  using namespace harmonium;
  std::vector<char*> rest(arguments, arguments + count);
  const auto asked =
      std::ranges::find(rest, std::string("--smoke"), [](const char* each) { return std::string(each); });
  const bool smoke = asked != rest.end();
  char brief[] = "--benchmark_min_time=0.0001";
  if (smoke) *asked = brief;
  auto given = static_cast<int>(rest.size());
  benchmark::Initialize(&given, rest.data());
  if (benchmark::ReportUnrecognizedArguments(given, rest.data())) return 2;
  at::set_num_threads(static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  use_fast_arithmetic();
  use_tensor_pool();
  for (const Pair& pair : pairs(smoke)) {
    if (!agree(pair)) {
      std::fprintf(stderr, "harmonium_microbench: %s is not the plain expression\n", pair.name.c_str());
      return 1;
    }
    for (const bool ours : {true, false})
      benchmark::RegisterBenchmark((pair.name + (ours ? "/ours" : "/plain")).c_str(),
                                   [work = ours ? pair.ours : pair.plain](benchmark::State& state) {
                                     for (auto _ : state) benchmark::DoNotOptimize(work());
                                   })
          ->UseRealTime()
          ->Unit(benchmark::kMicrosecond);
  }
  benchmark::RegisterBenchmark("site_sweep/ours", site_sweeps, smoke)->UseRealTime()->Unit(benchmark::kMicrosecond);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
