#include "harmonium/sessions/class_samples.h"

#include "harmonium/core/error.h"
#include "harmonium/sessions/progress.h"

namespace harmonium {

Picture ClassSamples::picture(std::int64_t columns) const {
  if (columns == 0 || columns > of_each()) columns = of_each();
  const at::Tensor shown = visible.view({classes, of_each(), -1}).narrow(1, 0, columns).flatten(0, 1);
  return tile_images(shown, image, {.columns = columns});
}

std::int64_t count_classes(const Model& model, const std::string& path) {
  const Generator* generator = model.generator();
  if (generator == nullptr || generator->classes() == 0)
    cannot(model, path,
           "has no label to hold: train one with --model classification_rbm, classification_dbn, or dbm and --labels "
           "top");
  return generator->classes();
}

ClassSamples draw_class_samples(const Model& model, const std::string& path, const ClassSamplesPlan& plan) {
  require(plan.of_each >= 1 && plan.sweeps >= 1, "{} samples of each class after {} sweeps: both must be at least 1",
          plan.of_each, plan.sweeps);
  ClassSamples result{.classes = count_classes(model, path), .visible = {}};
  const at::Tensor labels = at::arange(result.classes, at::kLong).repeat_interleave(plan.of_each);
  const Generator& generator = *model.generator();
  limit_threads(plan.common, generator.products(labels.size(0)));
  ProgressBar bar("sampling", plan.common.json);
  result.visible = generator.draw({.count = labels.size(0),
                                   .sweeps = plan.sweeps,
                                   .means = plan.means,
                                   .labels = labels,
                                   .seed = plan.seed,
                                   .progress = [&](std::int64_t done, std::int64_t total) {
                                     if (interrupted()) throw RunFailure("interrupted; nothing was written");
                                     bar.show(done, total, 0, "");
                                   }});
  result.image = model.info().image.value_or(near_square_shape(result.visible.size(1)));
  return result;
}

}  // namespace harmonium
