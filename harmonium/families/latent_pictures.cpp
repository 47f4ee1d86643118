#include "harmonium/families/latent_pictures.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"

namespace harmonium {

Traversals traversals(const LatentSpace& space, const at::Tensor& rows, std::int64_t lines, std::int64_t steps) {
  require(lines >= 1 && steps >= 2, "a traversal has a line and two steps at least, not {} and {}", lines, steps);
  const auto [nats, order] = space.information(rows).to(at::kDouble).sort(0, /*descending=*/true);
  Traversals found{.variables = {}, .nats = {}, .steps = steps, .shown = {}};
  lines = std::min(lines, space.variables());
  const at::Tensor places = at::zeros({lines, steps, space.variables()}), way = at::linspace(-3, 3, steps);
  for (std::int64_t line = 0; line < lines; ++line) {
    found.variables.push_back(order[line].item<std::int64_t>());
    found.nats.push_back(nats[line].item<double>());
    places[line].select(1, found.variables.back()).copy_(way);
  }
  found.shown = space.decode(places.flatten(0, 1));
  return found;
}

std::string variables_in_words(const Traversals& found) {
  std::string text;
  for (std::size_t line = 0; line < found.variables.size(); ++line)
    text += format("{}{} ({} nats)", line == 0 ? "" : ", ", found.variables[line], fixed_number(found.nats[line], 2));
  return text;
}

at::Tensor latent_plane(const LatentSpace& space, std::int64_t side) {
  require(space.variables() == 2, "a plane has two variables, not {}", space.variables());
  require(side >= 1, "a plane of {} × {} places shows nothing", side, side);
  const at::Tensor share = (at::arange(side, at::kDouble) + 0.5) / static_cast<double>(side);
  const at::Tensor places = (std::sqrt(2.0) * at::erfinv(2 * share - 1)).to(at::kFloat);
  return space.decode(at::stack({places.repeat({side}), places.repeat_interleave(side)}, 1));
}

at::Tensor interpolations(const LatentSpace& space, const at::Tensor& from, const at::Tensor& to, std::int64_t steps) {
  require(steps >= 2, "an interpolation has two steps at least, not {}", steps);
  const at::Tensor begin = space.place(from).unsqueeze(1), end = space.place(to).unsqueeze(1);
  const at::Tensor share = at::linspace(0, 1, steps).view({1, steps, 1});
  const at::Tensor between =
      space.decode((begin + share * (end - begin)).flatten(0, 1)).view({from.size(0), steps, from.size(1)});
  return at::cat({from.unsqueeze(1), between, to.unsqueeze(1)}, 1).flatten(0, 1);
}

at::Tensor posterior_draws(const LatentSpace& space, const at::Tensor& rows, std::int64_t draws, std::uint64_t seed) {
  return at::cat({rows.unsqueeze(1), space.posterior(rows, draws, seed)}, 1).flatten(0, 1);
}

std::optional<Exhibit> latent_exhibit(const LatentSpace& space, const Dataset& train) {
  if (space.variables() == 2) {
    constexpr std::int64_t side = 20;
    return Exhibit{.id = "latent_plane",
                   .title = "Plane of the latent variables",
                   .caption =
                       "Means of the data's units at places of equal probability: the first latent variable "
                       "rises to the right, the second downwards.",
                   .rows = latent_plane(space, side),
                   .columns = side};
  }
  constexpr std::int64_t lines = 10, most_rows = 500;
  if (train.rows() < 2) return std::nullopt;
  const Traversals found = traversals(space, train.first(most_rows).to_float(), lines);
  return Exhibit{
      .id = "traversals",
      .title = "Latent variables",
      .caption = format("One latent variable in each line, from −3 to 3 standard deviations, while all others "
                        "are 0. From the top those that say most about rows: {}.",
                        variables_in_words(found)),
      .rows = found.shown,
      .columns = found.steps};
}

}  // namespace harmonium
