#include "harmonium/models/autoregressive/conditional_nade.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include "harmonium/core/error.h"

namespace harmonium {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

class ConditionalNadeLogits : public torch::autograd::Function<ConditionalNadeLogits> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& hidden_bias,
                            const at::Tensor& encoder, const at::Tensor& output_bias, const at::Tensor& decoder) {
    context->save_for_backward({x, hidden_bias, encoder, output_bias, decoder});
    return nade_logits({.hidden_bias = hidden_bias, .encoder = encoder, .output_bias = output_bias, .decoder = decoder},
                       x);
  }

  static variable_list backward(AutogradContext* context, const variable_list& errors) {
    const variable_list saved = context->get_saved_variables();
    const NadeTensors found =
        nade_backward({.hidden_bias = saved[1], .encoder = saved[2], .output_bias = saved[3], .decoder = saved[4]},
                      saved[0], errors.front());
    return {at::Tensor(), found.hidden_bias, found.encoder, found.output_bias, found.decoder};
  }
};

}  // namespace

at::Tensor conditional_nade_logits(const NadeTensors& net, const at::Tensor& x) {
  require(!x.requires_grad(), "a conditional NADE has no derivative by the bits that it is asked about");
  return ConditionalNadeLogits::apply(x, net.hidden_bias, net.encoder, net.output_bias, net.decoder);
}

}  // namespace harmonium
