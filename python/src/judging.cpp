#include "judging.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "errors.h"
#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/families/belief_net_model.h"
#include "harmonium/families/machine_model.h"
#include "harmonium/families/real_values.h"
#include "harmonium/likelihood/belief_net_bound.h"
#include "harmonium/samplers/belief_net_samples.h"
#include "watch.h"

namespace harmonium::python {

namespace {

class PythonWatcher final : public Watcher {
 public:
  explicit PythonWatcher(const JudgeHooks& hooks) : hooks_(hooks) {}
  [[nodiscard]] Progress begin(const std::string& what) override {
    return [this, what](std::int64_t done, std::int64_t total) {
      watch_.tick([&] {
        if (hooks_.show) hooks_.show(what, done, total);
      });
    };
  }
  void say(const std::string& sentence) override {
    if (!hooks_.say) return;
    const py::gil_scoped_acquire gil;
    hooks_.say(in_python_words(sentence));
  }

 private:
  const JudgeHooks& hooks_;
  Watch watch_;
};

std::unique_ptr<Model> as_model(const PyModel& model) {
  if (model.is_stack()) return std::make_unique<BeliefNetModel>(model.get());
  return std::make_unique<MachineModel>(model.get().machines.front());
}

}  // namespace

EstimationOptions estimation_from(const py::dict& given) {
  EstimationOptions options;
  std::size_t used = 0;
  const auto take = [&](const char* name, auto& field) {
    if (!given.contains(name)) return;
    ++used;
    try {
      field = given[name].cast<std::decay_t<decltype(field)>>();
    } catch (const py::cast_error&) {
      throw py::type_error(format("{} cannot be {}", name, py::repr(given[name]).cast<std::string>()));
    }
  };
  take("method", options.method);
  take("chains", options.chains);
  take("betas", options.betas);
  take("schedule", options.schedule);
  take("base", options.base);
  take("sum_out", options.sum_out);
  take("knots", options.knots);
  take("raise_rows", options.raise_rows);
  take("raise_chains", options.raise_chains);
  take("gap", options.gap);
  take("minutes", options.minutes);
  take("seed", options.seed);
  take("thorough", options.thorough);
  if (used == given.size()) return options;
  std::string names;
  for (const auto& [name, value] : given) names += (names.empty() ? "" : ", ") + name.cast<std::string>();
  throw py::type_error(
      "an option is unknown among " + names +
      "; there are: method, chains, betas, schedule, base, sum_out, knots, raise_rows, raise_chains, gap, minutes");
}

Judgement judge(const PyModel& model, const Dataset& data, const std::string& binarize,
                const EstimationOptions& options, const JudgeHooks& hooks) {
  check(options);
  const std::unique_ptr<Model> whole = as_model(model);
  if (whole->density() == nullptr) cannot(*whole, "the model", "has no likelihood");
  const TestData test = make_test_data(
      data.name, data, {.binarize = protocol_for(binarize, whole->info()), .seed = options.seed}, whole->visible());
  PythonWatcher watcher(hooks);
  const ThreadScope threads(hooks.threads, whole->density()->products(options, true));
  const Evaluation found = whole->density()->judge({&test}, options, watcher, nullptr).front();
  require_finite(found);
  return {.value = *found.log_likelihood,
          .log_z = *found.log_z,
          .lower = found.raise,
          .upper_log_z = found.upper_log_z,
          .rows = found.n,
          .binarization = found.binarization,
          .verdict = found.verdict,
          .found = judgement(found)};
}

Estimate log_z(const PyModel& model, const EstimationOptions& options, const JudgeHooks& hooks) {
  const std::unique_ptr<Model> whole = as_model(model);
  if (whole->density() == nullptr) cannot(*whole, "the model", "has no likelihood");
  PythonWatcher watcher(hooks);
  const ThreadScope threads(hooks.threads, whole->density()->products(options, false));
  return *whole->density()->judge({}, options, watcher, nullptr).front().log_z;
}

at::Tensor belief_net_log_f(const PyModel& model, const at::Tensor& rows, std::uint64_t seed) {
  const BeliefNet net = model.get().net();
  at::Tensor result = at::empty({rows.size(0)}, at::kDouble);
  for_each_piece(rows, [&](std::int64_t first, const at::Tensor& piece) {
    result.narrow(0, first, piece.size(0))
        .copy_(belief_net_log_weights(net, piece, Key(seed).fold_in(static_cast<std::uint64_t>(first))));
  });
  return result;
}

at::Tensor sample(const PyModel& model, const SampleRequest& request) {
  require(request.count >= 1, "the number of samples must be at least 1, not {}", request.count);
  require(request.sweeps >= 1, "the number of sweeps must be at least 1, not {}", request.sweeps);
  require(!request.label || (model.classes() > 0 && *request.label >= 0 && *request.label < model.classes()),
          "there is no class {} to hold: the model has {}", request.label.value_or(0), model.classes());
  const ThreadScope threads(request.threads,
                            static_cast<double>(request.count) *
                                static_cast<double>(model.get().machines.back().machine.parameters().dimension()));
  if (model.is_stack()) {
    const BeliefNetSamples drawn =
        sample_belief_net(model.get().net(), Key(request.seed), request.count, request.sweeps, request.label);
    return request.means ? drawn.means : drawn.visible;
  }
  const TrainedMachine& one = model.get().machines.front();
  const BoltzmannMachine& machine = one.machine;
  SamplerOptions sampler;
  sampler.name = request.sampler;
  check(sampler);
  const SamplerKind& kind = find_sampler(sampler.name);
  require(!kind.needs_data || !one.data_moments.empty(), "sampler {} is steered by data, and the model knows none",
          sampler.name);
  KnownUnits known;
  if (request.label) {
    require(kind.clamps, "sampler {} cannot hold a class; gibbs can", sampler.name);
    known.resize(machine.layers().size());
    known[machine.observed()[1]] =
        at::one_hot(at::full({1}, *request.label, at::kLong), model.classes()).to(at::kFloat);
  }
  // Streams as in the tool's `sample`: the same seed draws the same.
  const Key key(request.seed), steps = key.fold_in(1);
  const auto chains = make_chains(sampler, {.machine = machine,
                                            .data_moments = one.data_moments,
                                            .start = machine.independent_sample(key.fold_in(0), request.count),
                                            .start_matters = false,
                                            .data = nullptr,
                                            .known = known,
                                            .key = key.fold_in(2)});
  Watch watch;
  const std::int64_t sweeps = kind.markov ? request.sweeps : 1;
  for (std::int64_t sweep = 0; sweep < sweeps; ++sweep) {
    chains->step(steps.fold_in(static_cast<std::uint64_t>(sweep)));
    watch.tick();
  }
  const State state = chains->state();
  if (!request.means) return state.layers[0].clone();
  return machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0));
}

}  // namespace harmonium::python
