#include "harmonium/training/fine_tuning.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/kernels/rbm_chains.h"

namespace harmonium {

namespace {

constexpr std::int64_t look_every = 10, look_every_on_device = 1000;  // updates between looks at every parameter
constexpr double burst = 1e4;

const std::vector<std::pair<Loss, std::string>>& loss_names() {
  static const std::vector<std::pair<Loss, std::string>> names = {{Loss::cross_entropy, "cross_entropy"},
                                                                  {Loss::bernoulli, "bernoulli"},
                                                                  {Loss::squared, "squared"},
                                                                  {Loss::multinomial, "multinomial"}};
  return names;
}

at::Tensor per_row(const FeedForward& net, const at::Tensor& logits, const at::Tensor& targets, Loss loss) {
  require(logits.sizes() == targets.sizes(), "a net with {} outputs cannot be compared with {} targets", logits.size(1),
          targets.size(1));
  switch (loss) {
    case Loss::cross_entropy:
    case Loss::multinomial:  // the same sum, over words instead of classes
      return -(targets * logits.log_softmax(1)).sum(1);
    case Loss::bernoulli:
      // softplus(z) − x z, written so that no large z overflows.
      return (at::clamp_min(logits, 0) - targets * logits + at::log1p(at::exp(-logits.abs()))).sum(1);
    case Loss::squared:
      return (activate(net.layers().back().activation, logits) - targets).square().sum(1);
  }
  throw std::logic_error("a loss that nobody computes");
}

void require_fitting(const FeedForward& net, Loss loss) {
  const Activation output = net.layers().back().activation;
  require(loss != Loss::cross_entropy || output == Activation::softmax,
          "the loss cross_entropy needs a softmax output, and that of the net is {}", to_string(output));
  require(loss != Loss::multinomial || output == Activation::softmax,
          "the loss multinomial needs a softmax output, and that of the net is {}", to_string(output));
  require(loss != Loss::bernoulli || output == Activation::logistic,
          "the loss bernoulli needs a logistic output, and that of the net is {}; use squared", to_string(output));
}

}  // namespace

std::string to_string(Loss loss) {
  for (const auto& [value, name] : loss_names())
    if (value == loss) return name;
  throw std::logic_error("a loss without a name");
}

Loss parse_loss(const std::string& name) {
  for (const auto& [value, each] : loss_names())
    if (each == name) return value;
  fail("unknown loss '{}'; there are: cross_entropy, bernoulli, squared, multinomial", name);
}

at::Tensor row_losses(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets, Loss loss) {
  return row_losses_of_logits(net, net.logits(inputs), targets, loss);
}

at::Tensor row_losses_of_logits(const FeedForward& net, const at::Tensor& logits, const at::Tensor& targets,
                                Loss loss) {
  require_fitting(net, loss);
  return per_row(net, logits.to(at::kDouble), targets.to(at::kDouble), loss);
}

LossGradient loss_gradient(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets, Loss loss,
                           const Dropout& dropout, const Key& key) {
  require_fitting(net, loss);
  const FeedForward::Disturbance drop = [&](std::size_t layer, const at::Tensor& values) {
    const double share = layer == 0 ? dropout.inputs : dropout.hidden;
    if (share == 0) return values;
    const at::Tensor kept = sample_bernoulli(key.fold_in(layer), at::full(values.sizes(), 1 - share, values.options()));
    return values * kept.div_(1 - share);
  };
  const Moments leaves = net.parameters().map([](const at::Tensor& value) { return value.detach().requires_grad_(); });
  const at::Tensor total = per_row(net, net.with_parameters(leaves).logits(inputs, drop), targets, loss).mean();
  total.backward();
  return {.loss = total.detach(), .gradient = leaves.map([](const at::Tensor& leaf) { return leaf.grad(); })};
}

FineTuning::FineTuning(FeedForward net, BatchStream batches, const FineTuningOptions& options)
    : net_(std::move(net)),
      batches_(std::move(batches)),
      options_(options),
      groups_(net_.groups()),
      rule_(options.step, options.updates),
      optimizer_(make_optimizer(options.adam ? "adam" : "sgd", groups_, net_.parameters())),
      averaging_(net_.parameters(), options.averaging),
      key_(options.seed),
      loss_sum_(at::zeros({}, net_.bias(0).options().dtype(at::kDouble))) {
  require_fitting(net_, options_.loss);
  require(batches_.data().columns() == net_.inputs(), "{} has {} columns, the net takes {}", batches_.data().name,
          batches_.data().columns(), net_.inputs());
  for (const auto& [what, share] : {std::pair{"inputs", options_.dropout.inputs}, {"units", options_.dropout.hidden}})
    require(share >= 0 && share < 1, "the share of {} to drop must be at least 0 and below 1, not {}", what, share);
}

void FineTuning::step() {
  const at::Device device = net_.bias(0).device();
  std::optional<FastProducts> fast;
  if (device_precision() == Precision::fast) fast.emplace(device);
  const std::vector<at::Tensor> batch = batches_.batch(update_);
  LossGradient found = loss_gradient(net_, batch.front(), batch.back(), options_.loss, options_.dropout,
                                     key_.fold_in(static_cast<std::uint64_t>(update_)));
  loss_sum_ += found.loss.to(at::kDouble);
  ++loss_count_;
  gradient_ = std::move(found.gradient.mul_(-1));  // step rules climb
  rule_.penalize_(gradient_, net_.parameters(), groups_);
  rule_.apply_(net_.parameters(), optimizer_->direction(gradient_, update_), update_);
  averaging_.observe(net_.parameters(), update_);
  ++update_;
  if (update_ % (device.is_cpu() ? look_every : look_every_on_device) == 0) check();
}

void FineTuning::check() const {
  for (const auto& [name, value] : net_.parameters().entries()) {
    const double largest = value.abs().max().item<double>();
    if (std::isfinite(largest) && largest < burst) continue;
    throw RunFailure(
        format("training diverged at update {}: the largest magnitude in '{}' is {:.3g}. Lower --rate-weights and "
               "--rate-bias (halve them)",
               update_, name, largest));
  }
}

std::optional<double> FineTuning::take_loss() {
  if (loss_count_ == 0) return std::nullopt;
  const double mean = loss_sum_.item<double>() / static_cast<double>(loss_count_);
  loss_sum_.zero_();
  loss_count_ = 0;
  return mean;
}

NamedTensors FineTuning::state() const {
  NamedTensors all = with_prefix("parameters/", net_.parameters().entries());
  const auto add = [&](const std::string& prefix, const NamedTensors& tensors) {
    for (auto& entry : with_prefix(prefix, tensors)) all.push_back(std::move(entry));
  };
  add("average/", averaging_.average().entries());
  add("velocity/", rule_.state());
  add("adam/", optimizer_->state());
  // The mean loss since the last line of metrics is part of the next line.
  all.emplace_back("loss", at::tensor({loss_sum_.item<double>(), static_cast<double>(loss_count_)}, at::kDouble));
  return all;
}

void FineTuning::restore(std::int64_t update, const NamedTensors& saved) {
  copy_moments(net_.parameters(), under_prefix("parameters/", saved), "parameters");
  copy_moments(averaging_.average(), under_prefix("average/", saved), "average");
  rule_.restore(under_prefix("velocity/", saved), net_.parameters());
  if (options_.adam) optimizer_->restore(under_prefix("adam/", saved));
  const at::Tensor loss = find_tensor(saved, "loss", "a checkpoint of a net");
  loss_sum_.fill_(loss[0].item<double>());
  loss_count_ = loss[1].item<std::int64_t>();
  gradient_ = {};
  update_ = update;
}

}  // namespace harmonium
