// Steps of annealed importance sampling: ours, and the matrix products of the same steps alone.
#include "bench/reference/plain_torch.h"
#include "bench/subject.h"
#include "harmonium/core/format.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/likelihood/ais.h"
#include "harmonium/likelihood/schedule.h"

namespace harmonium::bench {

namespace {

// One step written out: log f_1(v) − log f_0(v) with the base's weights zero.
at::Tensor plain_first_step(const BoltzmannMachine& machine, const BoltzmannMachine& base, const at::Tensor& v) {
  const auto &p = machine.parameters(), &q = base.parameters();
  const at::Tensor field = at::addmm(p["hidden.bias"], v, p["visible_hidden.weights"]);
  return v.mv(p["visible.bias"] - q["visible.bias"]).to(at::kDouble) + softplus_row_sums(field) -
         softplus_row_sums(q["hidden.bias"].expand_as(field).contiguous());
}

}  // namespace

Lines annealing(const Options& options) {
  const Subject what = subject(options);
  const std::int64_t chains = options.smoke ? 20 : 400, steps = options.smoke ? 4 : 60;
  const BoltzmannMachine machine = trained_machine(options, what);
  const BaseModel base(
      machine.with_parameters(base_rate_parameters(machine, {{what.images.column_means().to(at::kFloat)}})),
      "base rates");

  State first;
  const at::Tensor weights =
      anneal(AnnealingPath(base, {machine}, {0, 1}), Way::up, chains,
             [&](std::int64_t, std::int64_t count, const Key& key) { return first = base.draw(key, count); },
             {.chains_at_once = chains});
  validate((weights - plain_first_step(machine, base.machine(), first.layers[0])).abs().max().item<double>() < 1e-2,
           "weights of a path of one step");

  const AnnealingPath path(base, {machine}, linear_schedule(steps));
  const State drawn = base.draw(Key(2), chains);
  const PlainSweep products{.w = machine.parameters()["visible_hidden.weights"],
                            .a = {},
                            .b = {},
                            .v = drawn.layers[0],
                            .h = drawn.layers[1]};
  const std::vector<double> times =
      medians(options, {[&] { (void)ais(path, chains, {.chains_at_once = chains}); }, with_own_memory([&] {
                          for (std::int64_t k = 0; k < steps; ++k) products.products_alone();
                        })});
  const double per_step = 1e3 / static_cast<double>(steps);
  return {
      {format("AIS step, 784×{}, {} chains, machine of {}", what.hidden, chains, what.name), per_step * times[0], "ms"},
      {"… its two matrix products alone", per_step * times[1], "ms"},
      {"… time of a step in times of the two products", times[0] / times[1], "×", "≤ 0.8"}};
}

}  // namespace harmonium::bench
