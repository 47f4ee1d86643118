// Pictures of known composites of known parts: what capsules (models/capsules) should find, with the answers.
//
// A teacher has K smooth templates of S × S pixels, each with an intensity, and C composites, each a constellation of
// all K parts in poses of its own. A picture shows one composite, chosen uniformly, under a pose (kernels/pose.h) with
// translations up to ±0.15, scales from 0.8 to 1.25, the same in both directions, and turns up to ±0.5; D standard
// normal distortions move and turn its parts a little. It is drawn by the semisoft renderer
// (kernels/render_templates.h) and clipped to [0, 1]. The label of a picture is its composite.
#pragma once

#include "harmonium/core/key.h"
#include "harmonium/data/dataset.h"
#include "harmonium/kernels/render_templates.h"

namespace harmonium {

struct CapsuleScenesOptions {
  std::int64_t side = 14;  // of the picture
  std::int64_t composites = 3, parts = 4, template_size = 5, distortions = 2;
};

class CapsuleScenes {
 public:
  CapsuleScenes(const Key& key, const CapsuleScenesOptions& options = {});

  [[nodiscard]] const CapsuleScenesOptions& options() const { return options_; }
  [[nodiscard]] const at::Tensor& templates() const { return templates_; }  // K × 1 × S × S, in [0, 1]

  struct Scenes {
    Dataset data;
    at::Tensor poses;        // of the composite, rows × 6
    at::Tensor distortions;  // rows × D
    DrawnParts parts;        // what was drawn
  };
  // Independent draws; row r depends on the key and r alone.
  [[nodiscard]] Scenes draw(std::int64_t rows, const Key& key) const;

 private:
  CapsuleScenesOptions options_;
  at::Tensor templates_;
  at::Tensor usual_, bent_;  // nice poses of parts in composites, C × K × 6, and what a distortion adds, C × D × K × 6
};

}  // namespace harmonium
