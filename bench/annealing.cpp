// Steps of annealed importance sampling, 784×500, 400 chains: ours, and the matrix products of the same steps alone.
#include <cstdio>

#include "bench/timing.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/schedule.h"
#include "harmonium/models/builders.h"

using namespace harmonium;

namespace {

// One step written out: log f_1(v) − log f_0(v) with the base's weights zero.
at::Tensor plain_first_step(const BoltzmannMachine& machine, const BoltzmannMachine& base, const at::Tensor& v,
                            double beta) {
  const auto &p = machine.parameters(), &q = base.parameters();
  const at::Tensor a = at::lerp(q["visible.bias"], p["visible.bias"], beta) - q["visible.bias"];
  const at::Tensor b = at::lerp(q["hidden.bias"], p["hidden.bias"], beta);
  const at::Tensor field = b + beta * v.mm(p["visible_hidden.weights"]);
  return v.mv(a).to(at::kDouble) + softplus_row_sums(field) -
         softplus_row_sums(q["hidden.bias"].expand_as(field).contiguous());
}

}  // namespace

int main(int argc, char** argv) {
  bench::use_all_cores();
  const std::int64_t chains = argc > 1 ? std::atoll(argv[1]) : 400;
  constexpr std::int64_t steps = 60;
  BoltzmannMachine machine = make_rbm("bernoulli:784", "bernoulli:500");
  initialize(machine, Key(1), 0.05);
  const BaseModel base = uniform_base(machine);

  // Validate: the weights of a path of one step are the plain expression at the base's own draws.
  const AnnealingPath short_path(base, {machine}, {0, 1});
  State first;
  const at::Tensor weights = anneal(
      short_path, Way::up, chains,
      [&](std::int64_t, std::int64_t count, const Key& key) { return first = base.draw(key, count); },
      {.chains_at_once = chains});
  const double error =
      (weights - plain_first_step(machine, base.machine(), first.layers[0], 1)).abs().max().item<double>();
  if (error > 1e-2) {
    std::printf("annealing: weights differ from the plain expression by %.2g\n", error);
    return 1;
  }

  const AnnealingPath path(base, {machine}, linear_schedule(steps));
  const at::Tensor w = machine.parameters()["visible_hidden.weights"];
  const at::Tensor v = base.draw(Key(2), chains).layers[0], h = base.draw(Key(3), chains).layers[1];
  const auto times = bench::medians({[&] { (void)ais(path, chains, {.chains_at_once = chains}); },
                                     [&] {
                                       for (std::int64_t k = 0; k < steps; ++k) {
                                         const at::Tensor x = v.mm(w);
                                         const at::Tensor y = h.mm(w.t());
                                       }
                                     }},
                                    7);
  std::printf("AIS step 784x500, %lld chains: %.2f ms; its two matrix products alone %.2f ms; ratio %.2f (limit 1.3)\n",
              static_cast<long long>(chains), 1e3 * times[0] / steps, 1e3 * times[1] / steps, times[0] / times[1]);
  return 0;
}
