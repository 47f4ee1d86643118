// A Gibbs sweep of a binary RBM with many chains: ours, the plain LibTorch one, and its matrix products alone.
#include <ATen/Parallel.h>

#include "bench/reference/plain_torch.h"
#include "bench/subject.h"
#include "harmonium/core/format.h"
#include "harmonium/kernels/binary_code.h"
#include "harmonium/kernels/logistic.h"
#include "harmonium/kernels/random.h"
#include "harmonium/samplers/gibbs.h"

namespace harmonium::bench {

namespace {

double deviating(const at::Tensor& layer) {
  const auto table = BinaryTable::of(layer);
  return table ? static_cast<double>(BinaryCode(*table).deviations) / static_cast<double>(layer.numel()) : 1;
}

}  // namespace

Lines gibbs_sweep(const Options& options) {
  const Subject what = subject(options);
  const std::int64_t chains = options.smoke ? 50 : 2000;
  const BoltzmannMachine machine = trained_machine(options, what);
  State state = states_of(machine, what, chains);
  const Moments& parameters = machine.parameters();
  PlainSweep plain{.w = parameters["visible_hidden.weights"],
                   .a = parameters["visible.bias"],
                   .b = parameters["hidden.bias"],
                   .v = state.layers[0],
                   .h = state.layers[1]};

  // A drawn unit is 1 exactly where its uniform lies below the plain expression's probability; fields that are added up
  // in another order may differ in their last digits, which turns a few draws in a hundred thousand.
  const at::Tensor probability = at::sigmoid(at::addmm(plain.b, state.layers[0], plain.w));
  const at::Tensor expected = uniform(Key(3), probability.sizes()).lt(probability).to(at::kFloat);
  const at::Tensor drawn = sample_logistic(Key(3), machine.field(1, state));
  validate(drawn.ne(expected).to(at::kDouble).mean().item<double>() < 1e-4, "draws of hidden units");

  const std::string size =
      format("784×{}, {} chains, states of {} ({:.0f} % and {:.0f} % deviate)", what.hidden, chains, what.name,
             100 * deviating(state.layers[0]), 100 * deviating(state.layers[1]));
  std::uint64_t step = 0;
  // A walk of several sweeps, as sampling and CD-k take it; ours keeps bits between them. And one sweep at a time, with
  // states as numbers before and after, as a PCD-1 update takes it.
  const std::int64_t walk = options.smoke ? 2 : 10;
  const auto ours = [&] { gibbs(machine, state, Key(4).fold_in(step++), walk); };
  const auto one_by_one = [&] {
    for (std::int64_t i = 0; i < walk; ++i) gibbs(machine, state, Key(4).fold_in(step++));
  };
  const auto repeated = [walk](const std::function<void()>& work) {
    return with_own_memory([=] {
      for (std::int64_t i = 0; i < walk; ++i) work();
    });
  };
  std::vector<double> times =
      medians(options, {ours, one_by_one, repeated([&] { plain(); }), repeated([&] { plain.products_alone(); })});
  for (double& time : times) time /= static_cast<double>(walk);
  Lines lines = {{"Gibbs sweep, " + size, 1e3 * times[0], "ms"},
                 {"… one at a time", 1e3 * times[1], "ms"},
                 {"… plain LibTorch", 1e3 * times[2], "ms"},
                 {"… its two matrix products alone", 1e3 * times[3], "ms"},
                 {"… times faster than plain LibTorch", times[2] / times[0], "×", "≥ 8"},
                 {"… one at a time: times faster", times[2] / times[1], "×"},
                 {"… time of a sweep in times of the two products", times[0] / times[3], "×", "≤ 0.5"}};
  const int threads = at::get_num_threads();
  if (threads > 1) {
    at::set_num_threads(1);
    const double one = medians(options, {ours})[0];
    at::set_num_threads(threads);
    const double all = medians(options, {ours})[0];
    lines.push_back({format("… speed of {} threads in that of one", threads), one / all, "×"});
  }
  return lines;
}

}  // namespace harmonium::bench
