// Updates of a variational autoencoder and of a masked autoencoder by Adam, beside LibTorch's own modules and
// optimizer: the same nets on the same images, binarized anew at every update by either side's own means.
#include <torch/torch.h>

#include <cmath>

#include "bench/subject.h"
#include "harmonium/core/format.h"
#include "harmonium/gradients/objectives/elbo.h"
#include "harmonium/models/autoregressive/masked_net.h"
#include "harmonium/training/objectives/ascent.h"
#include "harmonium/training/objectives/surrogate_ascent.h"
#include "harmonium/training/training.h"

namespace harmonium::bench {

namespace {

constexpr std::int64_t directed_batch = 100;
constexpr double directed_rate = 0.001;

struct DirectedWidths {
  std::int64_t pixels, hidden, latent;
};

std::vector<ParameterGroup> groups_of(const Moments& parameters) {
  ParameterGroup weights{.names = {}, .kind = ParameterKind::weights}, bias{.names = {}, .kind = ParameterKind::bias};
  for (const auto& [name, value] : parameters.entries())
    (name.ends_with(".weights") ? weights : bias).names.push_back(name);
  return {weights, bias};
}

Training training_of(std::unique_ptr<Objective> objective, const Dataset& images) {
  auto optimizer = make_optimizer("adam", objective->groups(), objective->parameters());
  return {std::move(objective),
          std::move(optimizer),
          BatchStream(images, {.batch = directed_batch, .binarization = Binarization::stochastic}, Key(2)),
          {.rate_bias = directed_rate, .rate_weights = directed_rate, .schedule = Schedule::constant},
          {.updates = 1'000'000, .averaging = 1}};
}

Training vae_training(const Dataset& images, const DirectedWidths& widths) {
  Vae vae({.visible = format("bernoulli:{}", widths.pixels),
           .hidden = {widths.hidden, widths.hidden},
           .latent = widths.latent});
  initialize(vae, Key(1), images.column_means().to(at::kFloat));
  return training_of(std::make_unique<Ascent>(vae.parameters(), groups_of(vae.parameters()), "log_likelihood",
                                              [vae](const std::vector<at::Tensor>& batch, const Key& key) {
                                                ElboGradient found = elbo_gradient(vae, batch.front(), key);
                                                return Ascent::Climb{.value = found.bound,
                                                                     .gradient = std::move(found.gradient)};
                                              }),
                     images);
}

Training made_training(const Dataset& images, const DirectedWidths& widths) {
  MaskedNet net({.visible = format("bernoulli:{}", widths.pixels), .hidden = {widths.hidden}});
  initialize(net, Key(1), images.column_means().to(at::kFloat));
  return training_of(std::make_unique<SurrogateAscent>(
                         net.parameters(), groups_of(net.parameters()), "log_likelihood",
                         [net](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step&) {
                           const at::Tensor mean = net.log_prob(leaves, batch.front(), 0).mean();
                           return SurrogateAscent::Value{.climbed = mean, .shown = mean};
                         }),
                     images);
}

// What both references share: batches, and Adam on some parameters.
class PlainDirected {
 public:
  PlainDirected(const Dataset& images, const std::vector<at::Tensor>& parameters)
      : rows_(images.to_float()), adam_(parameters, torch::optim::AdamOptions(directed_rate)) {}

  void update(const std::function<at::Tensor(const at::Tensor& batch)>& loss_of) {
    const at::Tensor chosen = at::randint(rows_.size(0), {directed_batch}, at::kLong);
    adam_.zero_grad();
    at::Tensor loss = loss_of(rows_.index_select(0, chosen).bernoulli());
    loss.backward();
    adam_.step();
    loss_ = loss.item<double>();
  }
  [[nodiscard]] double loss() const { return loss_; }

 private:
  at::Tensor rows_;
  torch::optim::Adam adam_;
  double loss_ = 0;
};

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& bits) {
  return at::binary_cross_entropy_with_logits(logits, bits, {}, {}, at::Reduction::Sum) /
         static_cast<double>(bits.size(0));
}

class PlainVae {
 public:
  PlainVae(const Dataset& images, const DirectedWidths& widths)
      : encoder_(torch::nn::Linear(widths.pixels, widths.hidden), torch::nn::Tanh(),
                 torch::nn::Linear(widths.hidden, widths.hidden), torch::nn::Tanh(),
                 torch::nn::Linear(widths.hidden, 2 * widths.latent)),
        decoder_(torch::nn::Linear(widths.latent, widths.hidden), torch::nn::Tanh(),
                 torch::nn::Linear(widths.hidden, widths.hidden), torch::nn::Tanh(),
                 torch::nn::Linear(widths.hidden, widths.pixels)),
        plain_(images, parameters()) {}

  void update() {
    plain_.update([&](const at::Tensor& batch) {
      const std::vector<at::Tensor> raw = encoder_->forward(batch).chunk(2, 1);
      const at::Tensor deviations = raw[1].exp();
      const at::Tensor z = raw[0] + deviations * at::randn_like(deviations);
      const at::Tensor kl = 0.5 * (raw[0].square() + deviations.square() - 1 - 2 * raw[1]).sum(1).mean();
      return cross_entropy(decoder_->forward(z), batch) + kl;
    });
  }
  [[nodiscard]] double loss() const { return plain_.loss(); }

 private:
  std::vector<at::Tensor> parameters() {
    std::vector<at::Tensor> all = encoder_->parameters();
    for (const at::Tensor& each : decoder_->parameters()) all.push_back(each);
    return all;
  }

  torch::nn::Sequential encoder_, decoder_;
  PlainDirected plain_;
};

// A masked net with one hidden layer and weights from inputs straight to outputs, in raster order.
class PlainMade {
 public:
  PlainMade(const Dataset& images, const DirectedWidths& widths)
      : first_(widths.pixels, widths.hidden),
        second_(widths.hidden, widths.pixels),
        direct_(torch::nn::LinearOptions(widths.pixels, widths.pixels).bias(false)),
        plain_(images, parameters()) {
    const at::Tensor places = at::arange(1, widths.pixels + 1);
    const at::Tensor degrees = 1 + at::arange(widths.hidden) * (widths.pixels - 1) / widths.hidden;
    const at::Tensor even = degrees.to(at::kLong);
    first_mask_ = even.unsqueeze(1).ge(places.unsqueeze(0)).to(at::kFloat);
    second_mask_ = places.unsqueeze(1).gt(even.unsqueeze(0)).to(at::kFloat);
    direct_mask_ = places.unsqueeze(1).gt(places.unsqueeze(0)).to(at::kFloat);
  }

  void update() {
    plain_.update([&](const at::Tensor& batch) {
      const at::Tensor hidden = at::linear(batch, first_->weight * first_mask_, first_->bias).relu();
      return cross_entropy(at::linear(hidden, second_->weight * second_mask_, second_->bias) +
                               at::linear(batch, direct_->weight * direct_mask_),
                           batch);
    });
  }
  [[nodiscard]] double loss() const { return plain_.loss(); }

 private:
  std::vector<at::Tensor> parameters() {
    return {first_->weight, first_->bias, second_->weight, second_->bias, direct_->weight};
  }

  torch::nn::Linear first_, second_, direct_;
  at::Tensor first_mask_, second_mask_, direct_mask_;
  PlainDirected plain_;
};

template <class Plain>
Lines beside_plain(const Options& options, const std::string& what, const Dataset& images, Training ours, Plain plain) {
  const int block = options.smoke ? 2 : 100;
  const double untrained = static_cast<double>(images.columns()) * std::log(2);  // nats of pixels of even odds
  const std::vector<double> times =
      medians(options, {[&] {
                          for (int i = 0; i < block; ++i) ours.step();
                          ours.check();
                          validate(ours.take_measurements().at("log_likelihood") > -1.2 * untrained, what);
                        },
                        with_own_memory([&] {
                          for (int i = 0; i < block; ++i) plain.update();
                          validate(plain.loss() < 1.2 * untrained, "a plain " + what);
                        })});
  return {{format("updates of {}, batch {}", what, directed_batch), block / times[0], "/s"},
          {"… plain LibTorch", block / times[1], "/s"},
          {"… times faster than plain LibTorch", times[1] / times[0], "×", "≥ 1.2"}};
}

}  // namespace

Lines directed(const Options& options) {
  const Dataset images = subject(options).images.first(20'000);
  const DirectedWidths vae{images.columns(), options.smoke ? 8 : 200, options.smoke ? 2 : 50};
  const DirectedWidths made{images.columns(), options.smoke ? 8 : 500, 0};
  Lines all = beside_plain(options, format("a VAE 784-{}-{}-{}", vae.hidden, vae.hidden, vae.latent), images,
                           vae_training(images, vae), PlainVae(images, vae));
  const Lines more = beside_plain(options, format("a MADE 784-{}-784", made.hidden), images,
                                  made_training(images, made), PlainMade(images, made));
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace harmonium::bench
