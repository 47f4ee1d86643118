// Updates of training: how many a second, what a FANG update costs, what they take from the system, and what reading
// batches costs. scikit-learn's updates are timed by bench/run, in turns with this.
#include <cmath>

#include "bench/reference/plain_torch.h"
#include "bench/subject.h"
#include "harmonium/core/format.h"
#include "harmonium/core/tensor_pool.h"

namespace harmonium::bench {

namespace {

void advance(Training& training, int updates) {
  for (int i = 0; i < updates; ++i) training.step();
  training.check();
  validate(std::isfinite(training.gradient_norm()) && training.gradient_norm() > 0, "an update that does something");
}

}  // namespace

Lines pcd_updates(const Options& options) {
  const Subject what = subject(options);
  const int block = options.smoke ? 2 : 100;
  Training sgd = training_of(what, "sgd", 100);
  advance(sgd, options.smoke ? 2 : 500);
  const double time = medians(options, {[&] { advance(sgd, block); }})[0];
  return {{format("PCD-1 updates, 784×{}, batch 100, {}", what.hidden, what.name), block / time, "/s"}};
}

Lines updates(const Options& options) {
  const Subject what = subject(options);
  const int block = options.smoke ? 2 : 100;
  Training sgd = training_of(what, "sgd", 100), centering = training_of(what, "centering", 100),
           fang = training_of(what, "fang", 100);
  for (Training* each : {&sgd, &centering, &fang}) advance(*each, options.smoke ? 2 : 500);
  const std::vector<double> small = medians(
      options, {[&] { advance(sgd, block); }, [&] { advance(centering, block); }, [&] { advance(fang, block); }});
  Lines lines = {{format("PCD-1 updates, 784×{}, batch 100, {}", what.hidden, what.name), block / small[0], "/s"},
                 {"… with centering", block / small[1], "/s"},
                 {"… with FANG", block / small[2], "/s"}};

  const TensorPoolCounts before = tensor_pool_counts();
  for (Training* each : {&sgd, &centering, &fang}) advance(*each, block);
  const TensorPoolCounts after = tensor_pool_counts();
  const double per_update = 3.0 * block;
  lines.push_back({"… blocks of memory asked of the system, an update",
                   static_cast<double>(after.from_system - before.from_system) / per_update, "", "≤ 0"});
  lines.push_back({"… blocks of memory used again, an update",
                   static_cast<double>(after.requests - before.requests) / per_update, ""});

  BatchStream stream(what.images, {.batch = 100, .binarization = Binarization::stochastic}, Key(2));
  std::int64_t number = 500;
  const double reading = medians(options, {[&] {
                                   for (int i = 0; i < block; ++i) (void)stream.batch(number++);
                                 }})[0];
  lines.push_back({"… share of an update that goes into its batch", 100 * reading / small[0], "%", "≤ 3"});

  const std::int64_t large = options.smoke ? 30 : 2000;
  const int cycle = options.smoke ? 2 : 100;  // ten looks at the particles and one refit, wherever it begins
  Training ours = training_of(what, "fang", large), centered = training_of(what, "centering", large);
  PlainFang plain(what.images.first(20'000).to_float(), what.hidden, large);
  Options fewer = options;
  fewer.turns = 3;
  const std::vector<double> times =
      medians(fewer, {[&] { advance(ours, cycle); },
                      [&] {
                        for (int i = 0; i < cycle; ++i) plain.update();
                        validate(plain.weights().isfinite().all().item<bool>(), "a plain FANG that does not diverge");
                      },
                      [&] { advance(centered, cycle); }});
  lines.push_back({format("FANG updates, 784×{}, batch and particles {}", what.hidden, large), cycle / times[0], "/s"});
  lines.push_back({"… plain LibTorch", cycle / times[1], "/s"});
  lines.push_back({"… times faster than plain LibTorch", times[1] / times[0], "×", "≥ 3"});
  lines.push_back({"… cost in centering updates", times[0] / times[2], "×", "≤ 1.25"});
  return lines;
}

}  // namespace harmonium::bench
