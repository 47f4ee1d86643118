// A report as a training run would fill it: noisy curves with a band and a gap, filters, particles, estimates.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "harmonium/core/key.h"
#include "harmonium/report/report.h"

namespace harmonium::testing {

inline double noise(Key key, std::uint64_t draw) {
  double sum = 0;
  for (const std::uint32_t bits : key.block(draw)) sum += to_unit_float(bits) - 0.5;
  return sum;
}

// Localised oriented strokes, as an RBM learns them from digits.
inline at::Tensor stroke_filters(std::int64_t count, std::int64_t side) {
  at::Tensor filters = at::zeros({count, side * side});
  auto values = filters.accessor<float, 2>();
  for (std::int64_t k = 0; k < count; ++k) {
    const PhiloxBlock block = Key(7).block(static_cast<std::uint64_t>(k));
    const double row = side * (0.2 + 0.6 * to_unit_float(block[0])),
                 column = side * (0.2 + 0.6 * to_unit_float(block[1]));
    const double angle = 3.14159 * to_unit_float(block[2]), width = side * 0.12, length = side * 0.28;
    for (std::int64_t i = 0; i < side * side; ++i) {
      const double y = static_cast<double>(i / side) - row, x = static_cast<double>(i % side) - column;
      const double along = x * std::cos(angle) + y * std::sin(angle),
                   across = y * std::cos(angle) - x * std::sin(angle);
      const double envelope = std::exp(-0.5 * (along * along / (length * length) + across * across / (width * width)));
      values[k][i] = static_cast<float>(
          envelope * std::cos(1.4 * across / width) +
          0.05 * noise(Key(8).fold_in(static_cast<std::uint64_t>(k)), static_cast<std::uint64_t>(i)));
    }
  }
  return filters;
}

// Rings of varying centre and radius: binary "particles" that look like sloppy zeros.
inline at::Tensor ring_particles(std::int64_t count, std::int64_t side) {
  at::Tensor particles = at::zeros({count, side * side});
  auto values = particles.accessor<float, 2>();
  for (std::int64_t k = 0; k < count; ++k) {
    const PhiloxBlock block = Key(9).block(static_cast<std::uint64_t>(k));
    const double row = side * (0.4 + 0.2 * to_unit_float(block[0])),
                 column = side * (0.4 + 0.2 * to_unit_float(block[1]));
    const double radius = side * (0.18 + 0.16 * to_unit_float(block[2])), squeeze = 0.6 + 0.8 * to_unit_float(block[3]);
    for (std::int64_t i = 0; i < side * side; ++i) {
      const double y = static_cast<double>(i / side) - row, x = (static_cast<double>(i % side) - column) / squeeze;
      values[k][i] = std::abs(std::hypot(x, y) - radius) < side * 0.06 ? 1.0F : 0.0F;
    }
  }
  return particles;
}

inline Series noisy_curve(std::string name, std::uint64_t seed, int points, double start, double end, double spread) {
  Series series;
  series.name = std::move(name);
  for (int i = 0; i < points; ++i) {
    const double update = 10.0 * (i + 1), decay = std::exp(-6.0 * i / points) / (1 + 20.0 * i / points);
    series.x.push_back(update);
    series.y.push_back(end + (start - end) * decay + spread * noise(Key(seed), static_cast<std::uint64_t>(i)));
  }
  return series;
}

inline ReportContent sample_content() {
  ReportContent content;
  content.title = "Centered PCD on MNIST";
  content.subtitle =
      "An RBM with 784 visible and 500 hidden units, trained for 20 000 updates on threshold-binarized images.";

  const Estimate log_likelihood{-89.31, -89.62, -89.02, EstimateKind::estimate, "ais", 100, 10000, 61.4};
  const Estimate log_z{451.268, 450.98, 451.58, EstimateKind::unbiased_estimate, "ais", 100, 10000, 61.4};
  const Estimate small{72.685839, 72.685839, 72.685839,   EstimateKind::exact, "exact (2^20 hidden states)",
                       0,         0,         std::nullopt};
  content.headline = {{"Test log-likelihood", headline(log_likelihood)},
                      {"Log partition function", headline(log_z)},
                      {"Speed", "412 updates/s"},
                      {"Training time", "48.5 s  20 000 updates"}};
  content.estimates = {{"log-likelihood, test", log_likelihood, "10 000 images, threshold binarization"},
                       {"log-likelihood, train",
                        {-87.95, -88.27, -87.66, EstimateKind::estimate, "ais", 100, 10000, 61.4},
                        "60 000 images, threshold binarization"},
                       {"log Z", log_z, ""},
                       {"log Z, 196 × 20 reference", small, "checks the method against enumeration"}};

  Series train = noisy_curve("train", 1, 2000, -210, -88, 3),
         valid = noisy_curve("validation", 2, 2000, -212, -90.5, 1.5);
  valid.dashed = true;
  for (const double y : valid.y) {
    valid.low.push_back(y - 8);
    valid.high.push_back(y + 8);
  }
  content.charts.push_back(
      {"pseudo-likelihood",
       "Pseudo-log-likelihood",
       "update",
       "nats per example",
       false,
       false,
       {train, valid},
       "Stochastic pseudo-log-likelihood of a batch; the band is two standard errors over the validation set."});

  Series gap = noisy_curve("validation − train", 3, 200, 0.0, 2.1, 0.5);
  for (std::size_t i = 80; i < 90; ++i) gap.y[i] = std::numeric_limits<double>::quiet_NaN();
  content.charts.push_back({"free-energy",
                            "Free-energy gap",
                            "update",
                            "nats",
                            false,
                            false,
                            {gap},
                            "Mean free energy of validation minus training examples. A growing gap is overfitting."});

  Series weights = noisy_curve("weights", 4, 2000, 4, 0.05, 0.02),
         biases = noisy_curve("biases", 5, 2000, 1, 0.008, 0.003);
  content.charts.push_back({"gradient-norm",
                            "Gradient norm",
                            "update",
                            "Euclidean norm",
                            true,
                            true,
                            {weights, biases},
                            "Both axes logarithmic."});

  TileOptions diverging;
  diverging.colouring = Colouring::diverging;
  content.galleries.push_back({"filters", "Filters",
                               "Weights of 40 hidden units, those with the largest norm first. Blue is negative, red "
                               "positive; each filter has its own scale.",
                               tile_images(stroke_filters(40, 28), {28, 28}, diverging)});
  content.galleries.push_back({"particles", "Particles", "Forty of the persistent chains after the last update.",
                               tile_images(ring_particles(40, 28), {28, 28})});
  content.galleries.push_back(
      {"digits", "Nearest data", "Small pictures are enlarged more.", tile_images(ring_particles(24, 8), {8, 8})});

  content.configuration =
      "[data]\nname = \"mnist:train\"\nbinarize = \"threshold\"\n\n[model]\nhidden = 500\n\n[training]\ngradient = "
      "\"pcd\"\n"
      "optimizer = \"centering\"\nupdates = 20000\nbatch = 100\nparticles = 100\nsweeps = 1\nrate_weights = 0.05\nseed "
      "= 1\n";
  content.reproduce = {
      "harmonium train --data mnist:train --binarize threshold --hidden 500 --gradient pcd --optimizer centering \\",
      "    --updates 20000 --seed 1 --out runs/mnist",
      "harmonium evaluate runs/mnist --data mnist:test --method ais --chains 100 --betas 10000"};
  content.footer = "Made by harmonium 0.1.0.";
  return content;
}

}  // namespace harmonium::testing
