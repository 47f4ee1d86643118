#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/shown_data_flags.h"
#include "harmonium/core/error.h"
#include "harmonium/families/coloured_parts.h"
#include "harmonium/report/confusion.h"
#include "harmonium/report/picture.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/reconstruction_error.h"
#include "harmonium/sessions/seen_rows.h"
#include "harmonium/training/net_error.h"

namespace harmonium::cli {

namespace {

struct ReconstructOptions {
  ShownDataOptions source;
  std::string out = "reconstructions.png";
  std::int64_t shown = 40;
  bool parts = false;
};

int reconstruct(ReconstructOptions options) {
  require(options.out.ends_with(".png"), "--out {}: the name must end in .png", options.out);
  require(options.shown >= 1, "--show {}: give a number of rows, 1 or more", options.shown);
  const ShownData found = open_shown_data(options.source);
  const Encoder& encoder = *found.model->encoder();
  if (!encoder.reconstructs()) cannot(*found.model, options.source.model, "does not give data back from a code");
  if (options.parts && found.model->poser() == nullptr)
    cannot(*found.model, options.source.model, "draws no parts that --parts could colour (capsules do)");
  const ReconstructionError error = reconstruction_error(
      found.data, found.binarization, [&](const at::Tensor& rows) { return encoder.reconstruct(rows); });
  const at::Tensor shown = shown_values(found.data.first(options.shown), found.binarization);
  const ImageShape shape = found.model->info().image.value_or(near_square_shape(shown.size(1)));
  if (options.parts) {
    constexpr std::int64_t columns = 20;
    const Poser& poser = *found.model->poser();
    write_png(options.out, stacked({reconstruction_picture(shown, encoder.reconstruct(shown), shape, {0, 1}, columns),
                                    tile_images(coloured_parts(poser.parts_of(shown)), shape,
                                                {.colouring = Colouring::colours, .columns = columns})}));
  } else {
    write_png(options.out,
              reconstruction_picture(shown, encoder.reconstruct(shown), shape, found.model->shown_range()));
  }
  if (options.source.common.json)
    print_json(with_standing({{"model", options.source.model},
                              {"data", options.source.data},
                              {"rows", error.rows},
                              {"squared_error", error.mean},
                              {"low", error.low},
                              {"high", error.high},
                              {"trained_rows", found.seen ? nlohmann::ordered_json(found.seen->seen) : nullptr},
                              {"out", options.out}},
                             *found.model));
  else
    fmt::print(
        "squared error per row  {:.4f} [{:.4f}, {:.4f}]\n  {} rows of {}, mean with its 95 % interval\n"
        "picture   {}\n",
        error.mean, error.low, error.high, error.rows, options.source.data, options.out);
  if (!options.source.common.json && found.seen && found.seen->seen > 0)
    fmt::print("note      {}\n", in_words(*found.seen));
  return 0;
}

}  // namespace

void add_reconstruct(CLI::App& app) {
  auto options = std::make_shared<ReconstructOptions>();
  CLI::App* command = add_command(
      app, "reconstruct", "Data beside what a model makes of their codes, and the squared error",
      "  harmonium reconstruct runs/autoencoder --data digits:test --out pairs.png\n"
      "  harmonium reconstruct runs/rbm                                  # once up and down by means\n"
      "  harmonium reconstruct runs/capsules --parts --show 20           # what each part draws, in colour\n",
      options->source.common, [options] { return reconstruct(*options); });
  declare_shown_data(*command, options->source);
  declare_refine(*command, options->source.refine);
  command->add_option("--out", options->out, "x.png: rows, and below each what became of it")->capture_default_str();
  command->add_option("--show", options->shown, "rows in the picture")->capture_default_str();
  command->add_flag("--parts", options->parts, "capsules: also the rows drawn again with each part in its own colour");
}

}  // namespace harmonium::cli
