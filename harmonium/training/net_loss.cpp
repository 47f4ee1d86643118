#include "harmonium/training/net_loss.h"

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"

namespace harmonium {

namespace {

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
  throw std::logic_error("unknown loss");
}

}  // namespace

void require_fitting(const FeedForward& net, Loss loss) {
  const Activation output = net.layers().back().activation;
  require(loss != Loss::cross_entropy || output == Activation::softmax,
          "the loss cross_entropy needs a softmax output, and that of the net is {}", to_string(output));
  require(loss != Loss::multinomial || output == Activation::softmax,
          "the loss multinomial needs a softmax output, and that of the net is {}", to_string(output));
  require(loss != Loss::bernoulli || output == Activation::logistic,
          "the loss bernoulli needs a logistic output, and that of the net is {}; use squared", to_string(output));
}

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

at::Tensor mean_loss(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets, Loss loss,
                     const Dropout& dropout, const Key& key) {
  require_fitting(net, loss);
  const FeedForward::Disturbance drop = [&](std::size_t layer, const at::Tensor& values) {
    const double share = layer == 0 ? dropout.inputs : dropout.hidden;
    if (share == 0) return values;
    const at::Tensor kept = sample_bernoulli(key.fold_in(layer), at::full(values.sizes(), 1 - share, values.options()));
    return values * kept.div_(1 - share);
  };
  return per_row(net, net.logits(inputs, drop), targets, loss).mean();
}

at::Tensor adversarial_loss(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets, Loss loss,
                            const Dropout& dropout, double step, const Key& key) {
  enum : std::uint64_t { plain_stream, harder_stream };
  const at::Tensor rows = inputs.detach().requires_grad_();
  const at::Tensor plain = mean_loss(net, rows, targets, loss, dropout, key.fold_in(plain_stream));
  const at::Tensor harder = inputs.detach() + step * gradient_kept_apart(plain, rows).sign_();
  return (plain + mean_loss(net, harder, targets, loss, dropout, key.fold_in(harder_stream))) / 2;
}

LossGradient loss_gradient(const FeedForward& net, const at::Tensor& inputs, const at::Tensor& targets, Loss loss,
                           const Dropout& dropout, const Key& key) {
  return loss_gradient(net.parameters(), [&](const Moments& leaves) {
    return mean_loss(net.with_parameters(leaves), inputs, targets, loss, dropout, key);
  });
}

}  // namespace harmonium
