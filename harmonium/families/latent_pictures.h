// Pictures of latent variables (families/model.h, LatentSpace): what a decoder makes of places in their space, as rows
// of tables that the report and `sample` show.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harmonium/families/model.h"

namespace harmonium {

// A line for each of the variables that carry most nats about rows, from most to least: it goes from −3 to 3, all
// others are 0. `rows`: at least two, of data.
struct Traversals {
  std::vector<std::int64_t> variables;
  std::vector<double> nats;
  std::int64_t steps = 0;
  at::Tensor shown;  // lines · steps × values
};
[[nodiscard]] Traversals traversals(const LatentSpace& space, const at::Tensor& rows, std::int64_t lines,
                                    std::int64_t steps = 9);
// "3 (1.20 nats), 0 (1.10 nats), …".
[[nodiscard]] std::string variables_in_words(const Traversals& found);

// The plane of two latent variables at places of equal probability, Φ⁻¹((i + ½)/side): the first variable rises to the
// right, the second downwards. side² × values.
[[nodiscard]] at::Tensor latent_plane(const LatentSpace& space, std::int64_t side);

// From one row to another along the straight line between the means of their latent variables, ends included: for each
// pair the first row, `steps` decoded places, and the second row.
[[nodiscard]] at::Tensor interpolations(const LatentSpace& space, const at::Tensor& from, const at::Tensor& to,
                                        std::int64_t steps);

// Rows, and beside each what draws of its latent variables given it are decoded to.
[[nodiscard]] at::Tensor posterior_draws(const LatentSpace& space, const at::Tensor& rows, std::int64_t draws,
                                         std::uint64_t seed);

// For the report: the plane where there are two variables, else traversals, for which rows of data are needed.
[[nodiscard]] std::optional<Exhibit> latent_exhibit(const LatentSpace& space, const Dataset& train);

}  // namespace harmonium
