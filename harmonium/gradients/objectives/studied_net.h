// A directed net as the laboratory of gradient estimators sees it (estimator_study.h).
#pragma once

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "harmonium/models/directed/latent_model.h"

namespace harmonium {

class SigmoidBeliefNet;
class Vae;

struct StudiedNet {
  const LatentModel* model = nullptr;
  Moments parameters = {};                                  // float64, on the CPU
  std::vector<std::int64_t> latent = {};                    // widths, from the data up
  bool binary = false;                                      // latents are bits; else real, with a path through draws
  bool relaxes = false;                                     // whether draws of bits may be relaxed
  std::vector<AffineLayer> affine = {};                     // of recognition, where it is affine
  std::function<bool(const std::string&)> recognizes = {};  // whether parameters of this name belong to q
  // An estimate of its own that no table lists, such as the one-draw bound with a closed KL; may be empty.
  std::function<at::Tensor(const Moments& leaves, const at::Tensor& rows, const Key& key)> closed = {};

  // How many latent units there are.
  [[nodiscard]] std::int64_t units() const { return std::accumulate(latent.begin(), latent.end(), std::int64_t{0}); }
};

// They refer to the net; parameters are copies.
[[nodiscard]] StudiedNet studied(const SigmoidBeliefNet& net);
[[nodiscard]] StudiedNet studied(const Vae& vae);

}  // namespace harmonium
