// Updates of directed nets by Adam on a device, each as large as its published recipe.
#include <chrono>
#include <cmath>

#include "bench/gpu/gpu_bench.h"
#include "harmonium/core/error.h"
#include "harmonium/gradients/objectives/ladder_bound.h"
#include "harmonium/models/autoregressive/masked_net.h"
#include "harmonium/models/autoregressive/pixel_net.h"
#include "harmonium/training/objectives/surrogate_ascent.h"
#include "harmonium/training/training.h"

namespace harmonium::bench {

namespace {

// What is climbed, in nats per row.
using MeanBound = std::function<at::Tensor(const Moments& leaves, const at::Tensor& rows, const Key& key)>;

Training directed_training(const Dataset& train, Moments parameters, std::int64_t batch, MeanBound bound) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (const auto& [name, value] : parameters.entries())
    (name.ends_with(".weights") ? weights : bias).names.push_back(name);
  auto objective = std::make_unique<SurrogateAscent>(
      std::move(parameters), std::vector{weights, bias}, "log_likelihood",
      [bound = std::move(bound)](const Moments& leaves, const std::vector<at::Tensor>& rows, const Step& step) {
        const at::Tensor mean = bound(leaves, rows.front(), step.key);
        return SurrogateAscent::Value{.climbed = mean, .shown = mean};
      });
  auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
  return {std::move(objective),
          std::move(optimizer),
          BatchStream(train, {.batch = batch, .binarization = Binarization::stochastic}, Key(2), gpu),
          {.rate_bias = 1e-4, .rate_weights = 1e-4, .schedule = Schedule::constant},
          {.updates = 1'000'000, .averaging = 1000}};
}

GpuLines timed(const std::string& what, Training training, int updates) {
  const auto advance = [&] {
    for (int i = 0; i < updates; ++i) training.step();
  };
  advance();
  const double seconds = device_median(advance, 5) / updates;
  training.check();
  const double nats = training.take_measurements().at("log_likelihood");
  require(std::isfinite(nats) && nats < 0, "{}: a log-likelihood of {} nats", what, nats);
  const auto start = std::chrono::steady_clock::now();
  constexpr int unwaited = 10;  // so few that the device's queue does not fill up
  for (int i = 0; i < unwaited; ++i) training.step();
  const double host = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / unwaited;
  training.wait();
  return {{what, seconds * 1e6, "µs"}, {"… of the host's time", host * 1e6, "µs"}};
}

}  // namespace

GpuLines gpu_directed(const GpuSubject& subject) {
  const Dataset& train = subject.train;
  const at::Tensor means = train.column_means().to(at::kFloat);
  const auto placed = [&](auto model) {
    initialize(model, Key(1), means);
    return model.to(at::TensorOptions().device(gpu));
  };
  GpuLines all;
  const auto add = [&](const GpuLines& lines) { all.insert(all.end(), lines.begin(), lines.end()); };

  const auto vae = placed(Vae({}));
  add(timed("VAE 784-200-200-50, batch 100: update",
            directed_training(train, vae.parameters(), 100,
                              [vae](const Moments& leaves, const at::Tensor& rows, const Key& key) {
                                return elbo_terms(vae, leaves, rows, key).bound();
                              }),
            200));
  const auto made = placed(MaskedNet({}));
  add(timed("MADE 784-500-784, batch 100: update",
            directed_training(train, made.parameters(), 100,
                              [made](const Moments& leaves, const at::Tensor& rows, const Key&) {
                                return made.log_prob(leaves, rows, 0).mean();
                              }),
            200));
  const auto pixels = placed(PixelNet({}));
  add(timed("pixel net of 8 blocks and 64 channels, batch 128: update",
            directed_training(train, pixels.parameters(), 128,
                              [pixels](const Moments& leaves, const at::Tensor& rows, const Key&) {
                                return pixels.log_prob(leaves, rows).mean();
                              }),
            20));
  const auto time_ladder = [&](const std::string& what, std::vector<std::int64_t> latent,
                               std::vector<std::int64_t> scales, std::int64_t blocks) {
    const auto ladder = placed(Ladder({.height = 28,
                                       .width = 28,
                                       .latent = std::move(latent),
                                       .scales = std::move(scales),
                                       .channels = 64,
                                       .blocks = blocks}));
    add(timed(what,
              directed_training(train, ladder.parameters(), 64,
                                [ladder](const Moments& leaves, const at::Tensor& rows, const Key& key) {
                                  return ladder_terms(ladder, leaves, rows, key).bound();
                                }),
              20));
  };
  time_ladder("ladder of 3 levels, 4 blocks a level, batch 64: update", {32, 32, 32}, {2, 3, 4}, 4);
  time_ladder("ladder of 6 levels, 2 blocks a level, batch 64: update", {32, 32, 32, 32, 32, 32}, {2, 2, 3, 3, 4, 4},
              2);
  return all;
}

}  // namespace harmonium::bench
