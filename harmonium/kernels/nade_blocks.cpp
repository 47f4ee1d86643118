#include "harmonium/kernels/nade_blocks.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace harmonium {

namespace {

constexpr std::int64_t block_elements = 1 << 23;  // rows × inputs × hidden units at once: 32 MB of float32 a tensor

std::int64_t block_of(const at::Tensor& x, std::int64_t hidden, std::int64_t block) {
  const std::int64_t inputs = std::max<std::int64_t>(1, x.size(1));
  if (block > 0) return std::min(block, inputs);
  return std::clamp<std::int64_t>(block_elements / std::max<std::int64_t>(1, x.size(0) * hidden), 1, inputs);
}

// Sums of `first` (rows × H) and none, one, … all of the terms (rows × n × H): rows × (n+1) × H.
at::Tensor running_sums(const at::Tensor& first, const at::Tensor& terms) {
  return at::cat({first.unsqueeze(1), terms}, 1).cumsum(1);
}

struct Block {
  at::Tensor x, W, b, V;  // of its inputs
};

Block block_at(const NadeTensors& net, const at::Tensor& x, std::int64_t first, std::int64_t count) {
  return {.x = x.narrow(1, first, count),
          .W = net.encoder.narrow(0, first, count),
          .b = net.output_bias.narrow(-1, first, count),
          .V = net.decoder.narrow(0, first, count)};
}

// Gradients of log p; of given errors, for rows with biases of their own, where errors are defined.
NadeSums blocks_back(const NadeTensors& net, const at::Tensor& x, const at::Tensor& given, std::int64_t block) {
  const std::int64_t inputs = x.size(1), hidden = net.encoder.size(1);
  block = block_of(x, hidden, block);
  NadeSums result = {.logits = at::empty_like(x, at::MemoryFormat::Contiguous),
                     .gradient = {.hidden_bias = {},
                                  .encoder = at::empty({inputs, hidden}, x.options()),
                                  .output_bias = {},
                                  .decoder = at::empty({inputs, hidden}, x.options())}};
  at::Tensor a = at::addmm(net.hidden_bias, x, net.encoder), d = at::zeros({x.size(0), hidden}, x.options());
  for (std::int64_t first = (inputs - 1) / block * block; first >= 0; first -= block) {
    const std::int64_t count = std::min(block, inputs - first);
    const Block now = block_at(net, x, first, count);
    a = at::addmm(a, now.x, now.W, 1, -1);  // before the first input of the block
    const at::Tensor h = running_sums(a, now.x.unsqueeze(2) * now.W).narrow(1, 0, count).sigmoid();
    const at::Tensor z = (h * now.V).sum(2) + now.b;
    const at::Tensor delta = given.defined() ? given.narrow(1, first, count) : now.x - z.sigmoid();
    const at::Tensor errors = delta.unsqueeze(2) * h;
    result.logits.narrow(1, first, count).copy_(z);
    result.gradient.decoder.narrow(0, first, count).copy_(errors.sum(0));
    // What the inputs after each one send back: of the last input of the block, all that came from later blocks.
    const at::Tensor later = running_sums(d, (errors * (1 - h) * now.V).flip(1));
    result.gradient.encoder.narrow(0, first, count)
        .copy_((now.x.unsqueeze(2) * later.narrow(1, 0, count).flip(1)).sum(0));
    d = later.select(1, count);
  }
  result.gradient.hidden_bias = given.defined() ? d : d.sum(0);
  result.gradient.output_bias = given.defined() ? given : (x - result.logits.sigmoid()).sum(0);
  return result;
}

}  // namespace

at::Tensor nade_logits_by_blocks(const NadeTensors& net, const at::Tensor& x, std::int64_t block) {
  const std::int64_t inputs = x.size(1), hidden = net.encoder.size(1);
  block = block_of(x, hidden, block);
  at::Tensor z = at::empty_like(x, at::MemoryFormat::Contiguous), a = net.hidden_bias.expand({x.size(0), hidden});
  for (std::int64_t first = 0; first < inputs; first += block) {
    const std::int64_t count = std::min(block, inputs - first);
    const Block now = block_at(net, x, first, count);
    const at::Tensor all = running_sums(a, now.x.unsqueeze(2) * now.W);
    z.narrow(1, first, count).copy_((all.narrow(1, 0, count).sigmoid() * now.V).sum(2) + now.b);
    a = all.select(1, count);
  }
  return z;
}

NadeSums nade_gradient_by_blocks(const NadeTensors& net, const at::Tensor& x, std::int64_t block) {
  return blocks_back(net, x, {}, block);
}

NadeTensors nade_backward_by_blocks(const NadeTensors& net, const at::Tensor& x, const at::Tensor& errors,
                                    std::int64_t block) {
  return blocks_back(net, x, errors, block).gradient;
}

void nade_draw_by_steps_(const NadeTensors& net, at::Tensor& x, const at::Tensor& u, std::int64_t first) {
  at::Tensor a = net.hidden_bias.expand({x.size(0), net.encoder.size(1)}).clone(at::MemoryFormat::Contiguous);
  if (first > 0) a.addmm_(x.narrow(1, 0, first), net.encoder.narrow(0, 0, first));
  for (std::int64_t k = first; k < x.size(1); ++k) {
    const at::Tensor mean = (at::mv(a.sigmoid(), net.decoder[k]) + net.output_bias.select(-1, k)).sigmoid();
    at::Tensor value = x.select(1, k);
    value.copy_(u.select(1, k).lt(mean));
    a.addr_(value, net.encoder[k]);
  }
}

}  // namespace harmonium
