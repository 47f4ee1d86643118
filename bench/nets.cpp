// Updates of a classifier, 784-500-500-classes with logistic units, by Adam: beside LibTorch's own modules and
// optimizer, on the same images and labels.
#include <torch/torch.h>

#include <cmath>

#include "bench/subject.h"
#include "harmonium/core/format.h"
#include "harmonium/training/make_training.h"

namespace harmonium::bench {

namespace {

constexpr std::int64_t net_batch = 100;
constexpr double net_rate = 0.001;

// Any labels do for a clock: which of ten parts of the rows a row is in.
Dataset labelled(Dataset images, std::int64_t classes) {
  images.labels = at::remainder(at::arange(images.rows(), at::kLong), classes);
  return images;
}

Training tuning_of(const Dataset& images, std::int64_t width, std::int64_t classes) {
  FeedForward net = make_classifier(images.columns(), {width, width}, classes, Activation::logistic);
  initialize(net, Key(1));
  return make_training(
      net, BatchStream(images, {.batch = net_batch, .binarization = Binarization::none, .classes = classes}, Key(2)),
      {.loss = Loss::cross_entropy}, "adam",
      {.rate_bias = net_rate, .rate_weights = net_rate, .schedule = Schedule::constant},
      {.updates = 1'000'000, .averaging = 1});
}

class PlainNet {
 public:
  PlainNet(const Dataset& images, std::int64_t width, std::int64_t classes)
      : rows_(images.to_float()),
        labels_(images.labels),
        net_(torch::nn::Linear(images.columns(), width), torch::nn::Sigmoid(), torch::nn::Linear(width, width),
             torch::nn::Sigmoid(), torch::nn::Linear(width, classes)),
        adam_(net_->parameters(), torch::optim::AdamOptions(net_rate)) {}

  void update() {
    const at::Tensor chosen = at::randint(rows_.size(0), {net_batch}, at::kLong);
    adam_.zero_grad();
    at::Tensor loss = torch::nn::functional::cross_entropy(net_->forward(rows_.index_select(0, chosen)),
                                                           labels_.index_select(0, chosen));
    loss.backward();
    adam_.step();
    loss_ = loss.item<double>();
  }
  [[nodiscard]] double loss() const { return loss_; }

 private:
  at::Tensor rows_, labels_;
  torch::nn::Sequential net_;
  torch::optim::Adam adam_;
  double loss_ = 0;
};

}  // namespace

Lines nets(const Options& options) {
  const Subject what = subject(options);
  const std::int64_t classes = 10, width = options.smoke ? 8 : 500;
  const int block = options.smoke ? 2 : 100;
  const Dataset images = labelled(what.images.first(20'000), classes);
  Training ours = tuning_of(images, width, classes);
  PlainNet plain(images, width, classes);
  const std::vector<double> times = medians(
      options, {[&] {
                  for (int i = 0; i < block; ++i) ours.step();
                  ours.check();
                  validate(ours.take_measurements().at("loss") < 2 * std::log(10), "a net that does not diverge");
                },
                with_own_memory([&] {
                  for (int i = 0; i < block; ++i) plain.update();
                  validate(plain.loss() < 2 * std::log(10), "a plain net that does not diverge");
                })});
  return {{format("updates of a net 784-{}-{}-10 by Adam, batch {}", width, width, net_batch), block / times[0], "/s"},
          {"… plain LibTorch", block / times[1], "/s"},
          {"… times faster than plain LibTorch", times[1] / times[0], "×"}};
}

}  // namespace harmonium::bench
