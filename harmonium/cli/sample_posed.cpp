// `sample` by posing: sweeps of one number of a description, and rows drawn in poses near their own.
#include <fmt/core.h>

#include <tuple>

#include "harmonium/cli/sample_options.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/report/picture.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/shown_data.h"
#include "harmonium/training/net_error.h"

namespace harmonium::cli {

namespace {

constexpr std::int64_t sweep_steps = 9;

// A line for each: composites where a number is named, numbers where a composite is.
at::Tensor swept_rows(const SampleOptions& options, const Poser& poser, std::string& what) {
  require(options.composite.value_or(0) >= 0 && options.composite.value_or(0) < poser.wholes(),
          "--composite {}: there are 0 … {}", options.composite.value_or(0), poser.wholes() - 1);
  std::vector<at::Tensor> lines;
  if (options.sweep.empty()) {
    for (const std::string& name : poser.movable()) {
      lines.push_back(poser.sweep(*options.composite, name, sweep_steps));
      what += (what.empty() ? "" : ", ") + name;
    }
    what = format("composite {}, a line each for {}", *options.composite, what);
  } else if (options.composite) {
    lines.push_back(poser.sweep(*options.composite, options.sweep, sweep_steps));
    what = format("{} of composite {}", options.sweep, *options.composite);
  } else {
    for (std::int64_t i = 0; i < poser.wholes(); ++i) lines.push_back(poser.sweep(i, options.sweep, sweep_steps));
    what = format("{}, a line for each composite", options.sweep);
  }
  what += ", from −2 to 2 standard deviations";
  return at::cat(lines);
}

at::Tensor rows_around(const SampleOptions& options, const Model& model, std::string& what) {
  require(options.spread >= 0, "--spread {}: give a number that is not negative", options.spread);
  const std::int64_t row = *options.around;
  ShownDataOptions source{.common = options.common, .model = options.model, .data = options.data};
  const ShownData shown = show_data_to(model.clone(), source);
  require(row >= 0 && row < shown.data.rows(), "--around {}: {} has the rows 0 … {}", row, source.data,
          shown.data.rows() - 1);
  const at::Tensor image = shown_values(shown.data.slice(row, row + 1), shown.binarization);
  const std::int64_t count = options.asked.value_or(39);
  require(count >= 1, "-n {}: at least one sample is needed", count);
  what = format("row {} of {} first, then {} poses around its own", row, source.data, count);
  return at::cat({image, model.poser()->around(image, options.spread, count, options.plan.seed)});
}

}  // namespace

int sample_posed(const SampleOptions& options, const Model& model) {
  if (model.poser() == nullptr)
    cannot(model, options.model, "has no poses that --composite, --sweep and --around could change (capsules do)");
  require(!options.around || (!options.composite && options.sweep.empty()),
          "--around draws near a row, --composite and --sweep move a composite: give one or the other");
  require(options.clamp.empty() && options.clamp_label.empty() && !options.diagnose,
          "--composite, --sweep and --around hold nothing and have no chains; leave out --clamp and --diagnose");
  require_picture_or_array(options.out.empty() ? "samples.png" : options.out);
  std::string what;
  const at::Tensor rows =
      options.around ? rows_around(options, model, what) : swept_rows(options, *model.poser(), what);
  return write_table(options, model, rows, options.around ? 0 : sweep_steps, what);
}

int write_table(const SampleOptions& options, const Model& model, const at::Tensor& rows, std::int64_t columns,
                const std::string& what) {
  const std::string out = options.out.empty() ? "samples.png" : options.out;
  TileOptions tiles{.columns = columns};
  std::tie(tiles.black, tiles.white) = model.shown_range();
  if (out.ends_with(".npy"))
    write_npy(out, rows);
  else
    write_png(out, tile_images(rows, model.info().image.value_or(near_square_shape(rows.size(1))), tiles));
  if (options.common.json)
    print_json(
        with_standing({{"model", options.model}, {"samples", rows.size(0)}, {"shown", what}, {"out", out}}, model));
  else
    fmt::print("{}  {}\n", what, out);
  return 0;
}

}  // namespace harmonium::cli
