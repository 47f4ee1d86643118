// Feed-forward nets trained on the device beside the CPU. Batches and dropped units are the same to the bit; products
// in float32 are added up in another order, which thirty updates turn into some 10^-5 of a parameter.
#include "harmonium/data/digits.h"
#include "harmonium/training/make_training.h"
#include "harmonium/training/net_error.h"
#include "tests/device/support.h"

namespace harmonium {
namespace {

constexpr std::int64_t updates = 30, saved_after = 11;

// On one device, with all that a net is asked about.
struct NetTraining {
  FeedForward net;
  Training training;
  [[nodiscard]] FeedForward averaged() const { return net.with_parameters(training.averaged()); }
};

NetTraining tuning_on(at::Device device, Loss loss, const std::string& optimizer) {
  FeedForward net = loss == Loss::cross_entropy ? make_classifier(64, {20, 15}, 10, Activation::logistic)
                                                : make_autoencoder(64, {20, 5}, Activation::relu, Activation::logistic);
  initialize(net, Key(1));
  net = net.to(at::TensorOptions().device(device));
  return {net, make_training(net,
                             BatchStream(digits_split().train,
                                         {.batch = 50,
                                          .binarization = Binarization::none,
                                          .classes = loss == Loss::cross_entropy ? 10 : 0},
                                         Key(2), device),
                             {.loss = loss, .dropout = {.inputs = 0.1, .hidden = 0.2}}, optimizer,
                             {.rate_bias = 0.003, .rate_weights = 0.003, .momentum = 0.5},
                             {.updates = updates, .averaging = 10, .seed = 3})};
}

class NetOnDevice : public OnDevice, public testing::WithParamInterface<std::tuple<Loss, std::string>> {};

TEST_P(NetOnDevice, LearnsAsOnTheCpuAndGoesOnFromACheckpointOfEither) {
  const ExactProducts exact;
  const auto& [loss, optimizer] = GetParam();
  NetTraining here = tuning_on(at::kCPU, loss, optimizer), there = tuning_on(cuda_, loss, optimizer);
  NamedTensors saved;
  while (!here.training.finished()) {
    if (there.training.update() == saved_after)
      for (const auto& [name, value] : there.training.state()) saved.emplace_back(name, on_cpu(value).clone());
    here.training.step();
    there.training.step();
  }
  constexpr double close = 1e-3;
  expect_near(there.training.parameters(), here.training.parameters(), close);
  expect_near(there.training.averaged(), here.training.averaged(), close);
  const Dataset test = digits_split().test;
  const NetErrors a = net_errors(here.averaged(), test, Binarization::none, loss),
                  b = net_errors(there.averaged(), test, Binarization::none, loss);
  EXPECT_NEAR(b.loss, a.loss, close * (1 + a.loss));
  EXPECT_NEAR(there.training.take_measurements().at("loss"), here.training.take_measurements().at("loss"),
              close * (1 + a.loss));

  Training crossed = tuning_on(at::kCPU, loss, optimizer).training;
  crossed.restore(saved_after, saved);
  while (!crossed.finished()) crossed.step();
  expect_near(crossed.parameters(), here.training.parameters(), close);
}

INSTANTIATE_TEST_SUITE_P(All, NetOnDevice,
                         testing::Combine(testing::Values(Loss::cross_entropy, Loss::bernoulli, Loss::squared),
                                          testing::Values("sgd", "adam")));

}  // namespace
}  // namespace harmonium
