// A Gibbs sweep of a 784×500 binary RBM with 2000 chains: ours, the plain LibTorch expression, and its matrix products
// alone.
#include <cstdio>

#include "bench/timing.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "harmonium/models/builders.h"
#include "harmonium/samplers/gibbs.h"

using namespace harmonium;

int main() {
  bench::use_all_cores();
  const std::int64_t chains = 2000;
  BoltzmannMachine machine = make_rbm("bernoulli:784", "bernoulli:500");
  initialize(machine, Key(1), 0.05);
  const at::Tensor w = machine.parameters()["visible_hidden.weights"], a = machine.parameters()["visible.bias"],
                   b = machine.parameters()["hidden.bias"];
  State state = machine.independent_sample(Key(2), chains);

  // Validate: a drawn unit is 1 exactly where its uniform lies below the plain expression's probability.
  const at::Tensor field = machine.field(1, state);
  const at::Tensor expected =
      uniform(Key(3), field.sizes()).lt(at::sigmoid(at::addmm(b, state.layers[0], w))).to(at::kFloat);
  const double disagreement = sample_logistic(Key(3), field).ne(expected).to(at::kDouble).mean().item<double>();
  if (disagreement > 1e-5) {  // rounding of the two sigmoids may differ in the last bit
    std::printf("sweep: fused and plain samples disagree in %.2g of units\n", disagreement);
    return 1;
  }

  State plain = state.clone();
  std::uint64_t step = 0;
  const auto times = bench::medians({[&] { (void)gibbs(machine, state, Key(4).fold_in(step++)); },
                                     [&] {
                                       plain.layers[0] =
                                           at::bernoulli(at::sigmoid(at::addmm(a, plain.layers[1], w.t())));
                                       plain.layers[1] = at::bernoulli(at::sigmoid(at::addmm(b, plain.layers[0], w)));
                                     },
                                     [&] {
                                       const at::Tensor v = plain.layers[1].mm(w.t());
                                       const at::Tensor h = plain.layers[0].mm(w);
                                     }},
                                    15);
  std::printf(
      "Gibbs sweep 784x500, 2000 chains: %.1f ms; plain LibTorch %.1f ms (ratio %.2f); its two matrix products %.1f ms "
      "(ratio %.2f)\n",
      1e3 * times[0], 1e3 * times[1], times[1] / times[0], 1e3 * times[2], times[2] / times[0]);
  return 0;
}
