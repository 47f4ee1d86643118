#include "harmonium/gradients/objectives/studied_net.h"

#include <ATen/ATen.h>

#include "harmonium/gradients/objectives/elbo.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

namespace {

Moments precise(const Moments& parameters) {
  return parameters.to(at::TensorOptions(at::kDouble).device(at::kCPU)).clone();
}

}  // namespace

StudiedNet studied(const SigmoidBeliefNet& net) {
  return {.model = &net,
          .parameters = precise(net.parameters()),
          .latent = net.structure().latent,
          .binary = true,
          .affine = net.affine_recognition(),
          .recognizes = [](const std::string& name) { return name.starts_with("up"); }};
}

StudiedNet studied(const Vae& vae) {
  return {.model = &vae,
          .parameters = precise(vae.parameters()),
          .latent = {vae.structure().latent},
          .recognizes = [](const std::string& name) { return name.starts_with("encoder."); },
          .closed = [&vae](const Moments& leaves, const at::Tensor& rows,
                           const Key& key) { return elbo(vae, leaves, rows, key); }};
}

}  // namespace harmonium
