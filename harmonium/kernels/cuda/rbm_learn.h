// An update of a binary RBM on a GPU in three launches beside the walk of its chains (rbm_walk.h): a batch as bits
// or gray values, moments of data and chains on tensor cores, and the step along a factorized metric with everything
// that follows from new weights.
//
// No LibTorch here: pointers are of the device, and everything happens on the given stream. Sums are added up in a
// fixed order, so that a run can be repeated bit by bit.
#pragma once

#include "harmonium/kernels/cuda/elementwise.h"
#include "harmonium/kernels/cuda/rbm_walk.h"

namespace harmonium::cuda {

// Rows of bytes to become units of data: bits, 1 with probability byte·scale (the numbers of sample_bernoulli), or gray
// values byte·scale + offset.
struct BatchToDraw {
  Key key;
  ByteRows from;
  float offset;
  WalkShape shape;
  DataUnits to;
};
void draw_batch(const BatchToDraw& batch, Stream stream);

inline constexpr int moment_splits = 4;  // pieces of the rows that are added up apart: two of data, two of chains

// Buffers of sums over rows; the first half of the pieces is of data, the second of chains.
struct MomentSums {
  float* products;  // moment_splits × hidden × visible, both padded to whole slabs: Σ x h
  float* hidden;    // moment_splits · hidden_parts × hidden padded
  float* visible;   // moment_splits · visible_parts × visible padded

  [[nodiscard]] HARMONIUM_BOTH static std::int64_t hidden_parts(const WalkShape& shape) { return shape.visible_slabs; }
  [[nodiscard]] HARMONIUM_BOTH static std::int64_t visible_parts(const WalkShape& shape) {
    return team * shape.hidden_slab / 128;
  }
};

struct RowsOfMoments {
  DataUnits units;    // visible; gray values of data only
  const void* means;  // hidden units, as a walk stores them
  std::int64_t rows;
};

void sum_moments(const WalkShape& shape, const RowsOfMoments& data, const RowsOfMoments& chains, const MomentSums& sums,
                 Stream stream);

// A matrix (visible × hidden) that may be a repeated row or column, or missing. Rows begin at multiples of 16 bytes.
struct Coefficients {
  const float* values = nullptr;
  std::int64_t row_stride = 0, column_stride = 0;
};

struct LearnStep {
  WalkShape shape;
  int visible, hidden;
  MomentSums sums;
  float data_share, model_share;  // 1 / rows
  // The metric: products regress on their two units with coefficients on_visible and on_hidden and residual precision;
  // units have the inverse covariance `inverse` (square over visible and hidden units), or none.
  Coefficients on_visible, on_hidden, precision;
  const float* inverse = nullptr;
  float rate_weights, rate_bias, decay, average_weight;
  float *weights, *visible_bias, *hidden_bias;                // parameters,
  float *average_weights, *average_visible, *average_hidden;  // their averages,
  void* slabs;                                                // and the weights as a walk wants them
  float* unary_gradient;                                      // visible + hidden: room, and the gradient afterwards
  float *row_sums, *column_sums;                              // room: see learn_room
};

struct LearnRoom {
  std::int64_t row_sums, column_sums;
};
[[nodiscard]] LearnRoom learn_room(const WalkShape& shape);

// gradient = data − model moments; direction = metric⁻¹ gradient; parameters += rates · direction; averages follow. The
// next batch is drawn beside it, where one is given.
void learn(const LearnStep& step, const BatchToDraw* next, Stream stream);

}  // namespace harmonium::cuda
