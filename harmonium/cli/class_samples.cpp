#include "harmonium/cli/class_samples.h"

#include "harmonium/cli/sample_session.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/models/classification.h"
#include "harmonium/samplers/belief_net_samples.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

namespace {

// The layer that holds the class, with the model's name in the complaint where there is none.
std::size_t label_of(const BoltzmannMachine& machine, const std::string& path) {
  try {
    return label_layer(machine);
  } catch (const Error& error) {
    fail("{}: {}", path, error.what());
  }
}

// The machine of a model that holds the label: the top one of a belief net.
BoltzmannMachine labelled_machine(const std::string& path) {
  return is_stack_file(path) ? read_stack_model(path).net().top() : read_model(path).machine;
}

}  // namespace

Picture ClassSamples::picture(std::int64_t columns) const {
  if (columns == 0 || columns > of_each()) columns = of_each();
  const at::Tensor shown = visible.view({classes, of_each(), -1}).narrow(1, 0, columns).flatten(0, 1);
  return tile_images(shown, image, {.columns = columns});
}

std::int64_t count_classes(const std::string& model) {
  const BoltzmannMachine machine = labelled_machine(model);
  return machine.unit(label_of(machine, model)).width();
}

ClassSamples draw_class_samples(const std::string& model, const ClassSamplesPlan& plan) {
  require(plan.of_each >= 1 && plan.sweeps >= 1, "{} samples of each class after {} sweeps: both must be at least 1",
          plan.of_each, plan.sweeps);
  ClassSamples result{.classes = count_classes(model), .visible = {}};
  const at::Tensor labels = at::arange(result.classes, at::kLong).repeat_interleave(plan.of_each);
  if (is_stack_file(model)) {
    require(plan.common.device == "cpu", "--device {}: belief nets are sampled on the CPU", plan.common.device);
    const StackModel source = read_stack_model(model);
    const BeliefNet net = source.net();
    limit_threads(plan.common, static_cast<double>(labels.size(0) * net.top().parameters().dimension()));
    const BeliefNetSamples drawn = sample_belief_net(net, Key(plan.seed), labels, plan.sweeps);
    result.visible = plan.means ? drawn.means : drawn.visible;
    result.image = source.image.value_or(near_square_shape(result.visible.size(1)));
    return result;
  }
  Model source = read_model(model);
  source.machine = source.machine.to(find_device(plan.common.device));
  const BoltzmannMachine& machine = source.machine;
  KnownUnits known(machine.layers().size());
  known[label_of(machine, model)] = at::one_hot(labels, result.classes).to(machine.options());
  DrawPlan draws;
  draws.sampler.name = "gibbs";
  draws.chains = labels.size(0);
  draws.sweeps = plan.sweeps;
  draws.means = plan.means;
  draws.seed = plan.seed;
  limit_threads(plan.common, static_cast<double>(draws.chains * machine.parameters().dimension()));
  result.visible = draw(source, draws, nullptr, nullptr, known, "sampling", plan.common.json).visible;
  result.image = source.image.value_or(near_square_shape(result.visible.size(1)));
  return result;
}

}  // namespace harmonium::cli
