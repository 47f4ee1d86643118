// Small float64 variational recurrent nets of two bits a frame, and log p of sequences of two frames by quadrature.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "harmonium/kernels/random.h"
#include "harmonium/models/directed/vrnn.h"
#include "tests/support/vae.h"

namespace harmonium::support {

// Every parameter ~ N(0, scale²), with outputs far from constant and a memory that matters; p(z) and q are about as
// wide as N(0, 1), so that a grid holds them and weights have a variance.
inline Vrnn small_vrnn(std::int64_t latent = 1, const std::string& visible = "bernoulli:2") {
  Vrnn net({.visible = visible, .units = 3, .latent = latent, .layers = {3}, .activation = Activation::tanh},
           at::kDouble);
  for (std::uint64_t i = 0; const auto& [name, value] : net.parameters().entries())
    at::Tensor(value).copy_(normal(Key(1).fold_in(i++), value.sizes(), at::kDouble) * (name.starts_with("output") ? 1.5
                                                                                       : name.starts_with("memory")
                                                                                           ? 1.2
                                                                                           : 0.6));
  for (const char* law : {"prior.layer2", "posterior.layer2"}) {
    const at::Tensor weights = net.parameters()[std::string(law) + ".weights"];
    weights.narrow(1, 0, latent).mul_(0.5);
    weights.narrow(1, latent, latent).mul_(0.2);
  }
  // log σ of q is above that of p: weights without heavy tails.
  net.parameters()["prior.layer2.bias"].narrow(0, latent, latent).fill_(0);
  net.parameters()["posterior.layer2.bias"].narrow(0, latent, latent).fill_(0.4);
  return net;
}

// All 16 sequences of two frames, packed: 32 × 2, with alive = {16, 16}.
inline at::Tensor all_pairs_of_frames() {
  const at::Tensor bits = all_rows(4);
  return at::cat({bits.narrow(1, 0, 2), bits.narrow(1, 2, 2)});
}

// log p of packed sequences of two frames (or of one: then `values` holds those alone), for one latent variable.
inline at::Tensor vrnn_quadrature(const Vrnn& net, const at::Tensor& values, std::int64_t frames = 2) {
  const Grid nodes = grid(frames);
  const std::int64_t points = nodes.points.size(0), sequences = values.size(0) / frames;
  const Moments& parameters = net.parameters();
  std::vector<at::Tensor> all;
  for (std::int64_t s = 0; s < sequences; ++s) {
    at::Tensor r = net.begin(parameters, points), log_p = at::zeros({points}, at::kDouble);
    for (std::int64_t t = 0; t < frames; ++t) {
      const at::Tensor x = values[t * sequences + s].expand({points, values.size(1)}), z = nodes.points.narrow(1, t, 1);
      log_p = log_p + net.latent().log_prob(z, net.prior(parameters, r)) +
              net.visible().log_prob(x, net.output(parameters, z, r));
      r = net.next(parameters, x, z, r);
    }
    all.push_back(at::logsumexp(log_p, 0) + nodes.log_volume);
  }
  return at::stack(all);
}

}  // namespace harmonium::support
