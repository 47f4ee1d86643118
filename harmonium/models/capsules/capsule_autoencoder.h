// An autoencoder whose decoder draws: the generative half of Tieleman's thesis (2014, chapter 2).
//
// An ordinary net (the encoder) describes a picture; the description is drawn by learnt templates. Sizes: B rows, C
// composite capsules, K parts, D distortions, L templates of S × S pixels for each part.
//
//   z = encoder(x)                        preferences a_i and, for each composite i, a proposal p_i: intensity, nice
//                                         pose (pose.h) and D distortions
//   y = softmax(a + noise)                B × C, the manager: which composite it is
//   p* = Σ_i y_i p_i,  d = mask · the distortions of p*
//   q = decoder([d, y])                   B × K × (L + 6): what the composite is made of, bent by its distortions
//   M_k = M(q_k) ∘ M(p*)                  picture → template k
//   I_kl = f(q_kl) · f(p*)                f(x) = log(1 + e^{10x})/10
//   x̂ = drawn templates f(T)              kernels/render_templates.h
//
// Both nets are SkipNets; the encoder's may lack skips or squares. Poses may be six entries of a matrix. Without
// composites (C = 0) the encoder gives q, and the parts stand alone. Averaged are nice values, not matrices; noise and
// masks are for training only. Templates and decoder are shared by all composites.
//
// Parameters: "encoder.…", "decoder.…" (SkipNet) and "templates", K × L × S × S. Cost of a row: a product with every
// weight, and drawing.
#pragma once

#include <vector>

#include "harmonium/core/moments.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/kernels/render_templates.h"
#include "harmonium/nets/skip_net.h"

namespace harmonium {

struct CapsuleShape {
  Canvas canvas{28, 28};
  std::int64_t composites = 25, parts = 9, template_size = 11, channels = 1, distortions = 30;
  std::vector<std::int64_t> hidden = {666, 666, 666};  // of both nets
  std::vector<std::int64_t> encoder_hidden = {};       // of the encoder, where it has others
  SkipNetForm encoder = {};
  PoseForm poses = PoseForm::nice;
  OutputForm output = {};
  bool negative_ink = false;  // templates and intensities of any sign: f is left out

  [[nodiscard]] const std::vector<std::int64_t>& layers_of_encoder() const {
    return encoder_hidden.empty() ? hidden : encoder_hidden;
  }
};

// What a picture shows: a description, and where it puts the parts.
struct Scene {
  at::Tensor preferences, shares;  // a and y, B × C; undefined without composites
  at::Tensor proposals;            // p_i, B × C × (7 + D); undefined without composites
  at::Tensor pose;                 // p*, B × (7 + D); undefined without composites
  at::Tensor part_codes;           // q, B × K × (L + 6)
  at::Tensor part_poses;           // M, B × K × 2 × 3
  at::Tensor intensities;          // I, B × K × L
};

// What is done to a description while it is learnt. Undefined or empty: nothing.
struct CapsuleDisturbance {
  std::vector<at::Tensor> encoder_masks;  // of hidden layers
  at::Tensor manager_noise;               // B × C, added to preferences
  at::Tensor distortion_mask;             // B × D
};
struct DisturbanceRates {
  double dropout = 0.5;             // of the encoder's hidden values
  double distortion_dropout = 0.5;  // of distortions; what is left is not made larger
  double manager_noise = 10;        // uniform from 0 to this
};

class CapsuleAutoencoder {
 public:
  // Parameters are zero.
  explicit CapsuleAutoencoder(CapsuleShape shape, at::ScalarType type = at::kFloat);

  [[nodiscard]] const CapsuleShape& shape() const { return shape_; }
  [[nodiscard]] const SkipNet& encoder() const { return encoder_; }
  [[nodiscard]] const SkipNet& decoder() const { return decoder_; }  // of no use without composites
  [[nodiscard]] const Moments& parameters() const { return parameters_; }
  [[nodiscard]] Moments& parameters() { return parameters_; }
  // The same model under other parameters (shared, not copied).
  [[nodiscard]] CapsuleAutoencoder with_parameters(Moments parameters) const;
  // Its own copy of the parameters, in another precision, on another device, or both.
  [[nodiscard]] CapsuleAutoencoder to(const at::TensorOptions& options) const;

  // Numbers that describe one composite: intensity, pose, distortions; and one part: intensities, pose.
  [[nodiscard]] std::int64_t numbers_of_composite() const { return 7 + shape_.distortions; }
  [[nodiscard]] std::int64_t numbers_of_part() const { return 6 + shape_.channels; }

  // Under its own parameters; differentiable in them.
  [[nodiscard]] Scene describe(const at::Tensor& images, const CapsuleDisturbance& disturbance = {}) const;
  // What composites with these shares (rows × C) are made of in this pose (rows × (7 + D)).
  [[nodiscard]] Scene decode(const at::Tensor& shares, const at::Tensor& pose) const;
  // Parts alone, with these codes (rows × K × (L + 6)).
  [[nodiscard]] Scene placed(const at::Tensor& part_codes) const;
  [[nodiscard]] DrawnParts drawn(const Scene& scene) const;
  // x̂, B × P, and what each part adds, B × K × P. Without gradients.
  [[nodiscard]] at::Tensor draw(const Scene& scene) const;
  [[nodiscard]] at::Tensor draw_parts(const Scene& scene) const;
  // f(T), K × L × S × S.
  [[nodiscard]] at::Tensor templates() const;

  [[nodiscard]] CapsuleDisturbance disturbance(const Key& key, std::int64_t rows, const DisturbanceRates& rates) const;

 private:
  [[nodiscard]] at::Tensor ink(const at::Tensor& raw) const;
  void place_parts(Scene& scene) const;

  CapsuleShape shape_;
  SkipNet encoder_, decoder_;
  Moments parameters_;
};

// Fails where sizes make no such model.
void require_capsules(const CapsuleShape& shape);

// Draws all parameters afresh. The output biases are such that the mean picture (P numbers) is described by composites
// at rest, of parts of half the picture's size near its middle; templates begin as soft blobs.
void initialize(CapsuleAutoencoder& model, const Key& key, const at::Tensor& mean_picture);

// ‖x̂ − x‖² of each row, float64 and without gradients, and their sum: one number that automatic differentiation can go
// back through once.
struct DrawingErrors {
  at::Tensor of_rows, sum;
};
[[nodiscard]] DrawingErrors drawing_errors(const DrawnParts& parts, const at::Tensor& images, const Canvas& canvas,
                                           const OutputForm& form);
// The sum.
[[nodiscard]] at::Tensor drawing_error(const DrawnParts& parts, const at::Tensor& images, const Canvas& canvas,
                                       const OutputForm& form);

}  // namespace harmonium
