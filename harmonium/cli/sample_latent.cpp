// `sample` by latent variables: --traverse, --grid, --interpolate and --posterior.
#include <cmath>

#include "harmonium/cli/sample_options.h"
#include "harmonium/core/error.h"
#include "harmonium/families/latent_pictures.h"
#include "harmonium/kernels/random.h"
#include "harmonium/sessions/shown_data.h"
#include "harmonium/training/net_error.h"

namespace harmonium::cli {

namespace {

struct ShownTable {
  at::Tensor rows;
  std::int64_t columns = 0;
  std::string what;
};

// At most so many rows of the data, chosen by the seed.
at::Tensor some_rows(const SampleOptions& options, const Model& model, std::int64_t count, std::string& name) {
  ShownDataOptions source{.common = options.common, .model = options.model, .data = options.data};
  const ShownData shown = show_data_to(model.clone(), source);
  name = source.data;
  const std::int64_t rows = shown.data.rows();
  require(rows >= 2, "{} has {} row: two are needed", name, rows);
  const at::Tensor chosen = permutation(Key(options.plan.seed), rows).narrow(0, 0, std::min(rows, count));
  return shown_values(shown.data.select(chosen), shown.binarization);
}

ShownTable traversed(const SampleOptions& options, const Model& model) {
  constexpr std::int64_t lines = 10, most_rows = 500;
  std::string data;
  const Traversals found =
      traversals(*model.latent_space(), some_rows(options, model, most_rows, data), options.asked.value_or(lines));
  return {
      .rows = found.shown,
      .columns = found.steps,
      .what = format("latent variables from −3 to 3 standard deviations, a line each, those that say most about rows "
                     "of {} first: {}",
                     data, variables_in_words(found))};
}

ShownTable plane(const SampleOptions& options, const Model& model) {
  constexpr std::int64_t usual = 400;
  const LatentSpace& space = *model.latent_space();
  require(space.variables() == 2,
          "--grid shows the plane of two latent variables, and {} has {}; --traverse moves one at a time",
          options.model, space.variables());
  const std::int64_t count = options.asked.value_or(usual);
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(count))));
  require(side * side == count, "-n {}: a grid has as many rows as columns; {} would do", count, side * side);
  return {.rows = latent_plane(space, side),
          .columns = side,
          .what = "both latent variables at places of equal probability, the first to the right, the second downwards"};
}

ShownTable interpolated(const SampleOptions& options, const Model& model) {
  constexpr std::int64_t usual = 8;
  const std::int64_t steps = *options.interpolate, pairs = options.asked.value_or(usual);
  require(steps >= 2, "--interpolate {}: give a number of steps, 2 or more", steps);
  std::string data;
  const at::Tensor rows = some_rows(options, model, 2 * pairs, data);
  const std::int64_t found = rows.size(0) / 2;
  return {
      .rows = interpolations(*model.latent_space(), rows.narrow(0, 0, found), rows.narrow(0, found, found), steps),
      .columns = steps + 2,
      .what = format("{} steps between the latent variables of two rows of {}, which stand at the ends of each line",
                     steps, data)};
}

ShownTable drawn_again(const SampleOptions& options, const Model& model) {
  constexpr std::int64_t usual = 10, draws = 11;
  std::string data;
  const at::Tensor rows = some_rows(options, model, options.asked.value_or(usual), data);
  return {
      .rows = posterior_draws(*model.latent_space(), rows, draws, options.plan.seed),
      .columns = draws + 1,
      .what = format("rows of {}, and beside each {} draws of its latent variables given it, decoded", data, draws)};
}

}  // namespace

void declare_latent(CLI::App& command, SampleOptions& options) {
  command.add_flag("--traverse", options.traverse,
                   "models with a decoder: move one latent variable at a time from −3 to 3 standard deviations, a line "
                   "for each of the -n (10) that say most about rows of --data");
  command.add_flag("--grid", options.grid,
                   "models with two latent variables and a decoder: their plane at places of equal probability");
  command.add_option("--interpolate", options.interpolate,
                     "models with a decoder: N steps between two rows of --data, for -n (8) pairs");
  command.add_flag("--posterior", options.posterior,
                   "models with a decoder: -n (10) rows of --data, each beside decoded draws of its latent variables");
}

int sample_latent(const SampleOptions& options, const Model& model) {
  if (model.latent_space() == nullptr)
    cannot(
        model, options.model,
        "has no latent variables with a decoder that --traverse, --grid, --interpolate or --posterior could look at");
  require(options.traverse + options.grid + options.interpolate.has_value() + options.posterior == 1,
          "--traverse, --grid, --interpolate and --posterior are different pictures: give one of them");
  require(options.clamp.empty() && options.clamp_label.empty() && !options.diagnose && !options.posed(),
          "--traverse, --grid, --interpolate and --posterior hold nothing and have no chains; leave out --clamp, "
          "--diagnose and what moves poses");
  require(options.asked.value_or(1) >= 1, "-n {}: at least one line is needed", options.asked.value_or(1));
  require_picture_or_array(options.out.empty() ? "samples.png" : options.out);
  const ShownTable table = options.traverse      ? traversed(options, model)
                           : options.grid        ? plane(options, model)
                           : options.interpolate ? interpolated(options, model)
                                                 : drawn_again(options, model);
  return write_table(options, model, table.rows, table.columns, table.what);
}

}  // namespace harmonium::cli
