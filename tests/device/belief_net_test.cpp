// Belief nets trained by up–down on the device beside the CPU, in float64: the same draws, so the same parameters.
#include "tests/support/belief_net.h"
#include "harmonium/training/make_training.h"
#include "tests/device/support.h"

namespace harmonium {
namespace {

Dataset labelled_rows() {
  Dataset data{.name = "all rows", .values = support::to_rows(support::all_bits(4)).to(at::kByte)};
  data.labels = data.values.select(1, 0).to(at::kLong);
  return data;
}

Training tuning_net_on(at::Device device, const std::string& gradient, const std::string& optimizer) {
  return make_training(moved_to(support::small_untied_net(true), device),
                       BatchStream(labelled_rows(), {.batch = 10, .classes = 3}, Key(2), device),
                       make_negative_phase(gradient, {.sweeps = 3, .sweeps_final = 10, .particles = 50}), optimizer,
                       {.rate_bias = 0.01, .rate_weights = 0.01, .momentum = optimizer == "sgd" ? 0.5 : 0.0},
                       {.updates = 30, .averaging = 10, .seed = 5});
}

TEST_F(OnDevice, UpDownComesToTheSameNetAndGoesOnFromACheckpointOfEither) {
  for (const std::string gradient : {"cd", "pcd"})
    for (const std::string optimizer : {"sgd", "adam"}) {
      SCOPED_TRACE(gradient + " " + optimizer);
      Training here = tuning_net_on(at::kCPU, gradient, optimizer), there = tuning_net_on(cuda_, gradient, optimizer);
      NamedTensors saved;
      while (!here.finished()) {
        if (there.update() == 11)
          for (const auto& [name, value] : there.state()) saved.emplace_back(name, on_cpu(value).clone());
        here.step();
        there.step();
      }
      EXPECT_EQ(belief_net_of(there).top().device(), cuda_);
      constexpr double close = 1e-6;
      expect_near(there.parameters(), here.parameters(), close);
      expect_near(there.averaged(), here.averaged(), close);
      const at::Tensor rows = labelled_rows().values.to(at::kDouble);
      expect_near(log_label_probabilities(averaged_belief_net(there), rows),
                  log_label_probabilities(averaged_belief_net(here), rows), close);
      Training crossed = tuning_net_on(at::kCPU, gradient, optimizer);
      crossed.restore(11, saved);
      while (!crossed.finished()) crossed.step();
      expect_near(crossed.parameters(), here.parameters(), close);
    }
}

}  // namespace
}  // namespace harmonium
