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
          .relaxes = net.structure().factorial(),
          .affine = net.affine_recognition(),
          .recognizes = [](const std::string& name) { return name.starts_with("up"); }};
}

StudiedNet studied(const Vae& vae) {
  std::vector<std::int64_t> widths;
  for (const VaeLevel& each : vae.structure().levels()) widths.push_back(each.latent);
  return {.model = &vae,
          .parameters = precise(vae.parameters()),
          .latent = std::move(widths),
          .recognizes = [](const std::string& name) { return name.starts_with("encoder"); },
          .closed = [&vae](const Moments& leaves, const at::Tensor& rows,
                           const Key& key) { return elbo(vae, leaves, rows, key); }};
}

}  // namespace harmonium
