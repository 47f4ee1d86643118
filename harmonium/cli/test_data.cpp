#include "harmonium/cli/test_data.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"

namespace harmonium::cli {

namespace {

// The observed layers of a machine as the rows of a table set them.
State observed_state(const BoltzmannMachine& machine, const Dataset& data, const std::string& spec) {
  std::vector<at::Tensor> values = {data.to_float()};
  if (machine.observed().size() == 2) {
    require(data.labels.defined(), "the model has a label layer, and {} has no labels", spec);
    values.push_back(at::one_hot(data.labels, machine.unit(machine.observed()[1]).width()).to(at::kFloat));
  }
  const std::string complaint = machine.unit(0).complaint(values[0]);
  require(complaint.empty(), "{}: {}", spec, complaint);
  return machine.observe(values);
}

std::string protocol_text(Binarization binarization, std::uint64_t seed, int draws) {
  if (binarization != Binarization::stochastic) return to_string(binarization);
  if (draws == 1) return format("stochastic (seed {})", seed);
  return format("stochastic (seeds {}–{})", seed, seed + static_cast<std::uint64_t>(draws) - 1);
}

}  // namespace

TestData open_test_data(const JudgingData& from, const TestDataOptions& options, const BoltzmannMachine& machine) {
  return make_test_data(from.spec, open_dataset(from.spec, {.limit = from.limit, .label_column = options.label_column}),
                        options, machine);
}

TestData make_test_data(const std::string& spec, Dataset data, const TestDataOptions& options,
                        const BoltzmannMachine& machine) {
  require(options.draws >= 1, "--draws {}: give the number of draws to average over, 1 or more", options.draws);
  require(data.columns() == machine.unit(0).width(), "{} has {} columns, the model has {} visible units", spec,
          data.columns(), machine.unit(0).width());
  const bool binary_units = machine.unit(0).spec().starts_with("bernoulli");
  Binarization binarization = Binarization::none;
  if (options.binarize != "auto")
    binarization = parse_binarization(options.binarize);
  else if (binary_units && !data.is_binary())
    binarization = Binarization::stochastic;
  if (binary_units && binarization == Binarization::none) require_binary(data);
  require(
      options.draws == 1 || binarization == Binarization::stochastic,
      "--draws {}: only stochastic binarization draws anything, and {} is judged with binarization {}; leave --draws "
      "out, or add --binarize stochastic",
      options.draws, spec, to_string(binarization));
  TestData test{.spec = spec,
                .state = observed_state(machine, binarize(data, binarization, options.seed), spec),
                .rows = data.rows(),
                .binarization = protocol_text(binarization, options.seed, options.draws),
                .draws = options.draws,
                .seed = options.seed};
  if (options.draws > 1) test.gray = std::move(data);
  return test;
}

MeanMarginal mean_log_marginal(const BoltzmannMachine& machine, const TestData& test) {
  // Minutes for who asks for one number; mean field to where it settles, which training does not wait for.
  constexpr MarginalOptions options{.most_work = 1e11, .mean_field = {.most_sweeps = 1000, .tolerance = 1e-5}};
  MeanMarginal result;
  const auto add = [&](const State& rows) {
    LogMarginal one = log_marginal(machine, rows, options);
    result.draws.push_back(one.log_f.mean().item<double>());
    one.log_f.reset();
    one.sweeps = std::max(one.sweeps, result.how.sweeps);
    one.change = std::max(one.change, result.how.change);
    one.converged = one.converged && result.how.converged;
    result.how = std::move(one);
  };
  add(test.state);
  for (int draw = 1; draw < test.draws; ++draw) {
    const Dataset bits = binarize(test.gray, Binarization::stochastic, test.seed + static_cast<std::uint64_t>(draw));
    add(observed_state(machine, bits, test.spec));
  }
  return result;
}

}  // namespace harmonium::cli
