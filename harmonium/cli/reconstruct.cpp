#include <fmt/core.h>

#include <cmath>

#include "harmonium/cli/net_data.h"
#include "harmonium/core/error.h"
#include "harmonium/report/net_report.h"
#include "harmonium/training/net_error.h"

namespace harmonium::cli {

namespace {

struct ReconstructOptions {
  NetDataOptions source;
  std::string out = "reconstructions.png";
  std::int64_t shown = 40;
};

int reconstruct(ReconstructOptions options) {
  require(options.out.ends_with(".png"), "--out {}: the name must end in .png", options.out);
  require(options.shown >= 1, "--show {}: give a number of rows, 1 or more", options.shown);
  const NetAndData found = open_net_and_data(options.source);
  const FeedForward& net = found.model.net;
  require(net.outputs() == net.inputs(),
          "{} is a classifier, which gives back classes, not data; `harmonium finetune --to autoencoder` and `train "
          "--model autoencoder` make what reconstructs",
          options.source.model);
  const std::int64_t rows = found.data.rows();
  const at::Tensor errors = at::empty({rows}, at::kDouble);
  constexpr std::int64_t rows_at_once = 1000;
  for (std::int64_t first = 0; first < rows; first += rows_at_once) {
    const std::int64_t end = std::min(first + rows_at_once, rows);
    const at::Tensor values = shown_values(found.data.slice(first, end), found.binarization);
    errors.narrow(0, first, end - first).copy_(row_losses(net, values, values, Loss::squared));
  }
  const double mean = errors.mean().item<double>();
  // Of the mean over further rows like these; the net is what it is.
  const double half = rows > 1 ? 1.96 * errors.std().item<double>() / std::sqrt(static_cast<double>(rows)) : 0;
  const at::Tensor shown = shown_values(found.data.first(options.shown), found.binarization);
  write_png(options.out, reconstruction_picture(shown, net.forward(shown),
                                                found.model.image.value_or(near_square_shape(net.inputs()))));
  if (options.source.common.json)
    print_json({{"model", options.source.model},
                {"data", options.source.data},
                {"rows", rows},
                {"squared_error", mean},
                {"low", mean - half},
                {"high", mean + half},
                {"out", options.out}});
  else
    fmt::print(
        "squared error per row  {:.4f} [{:.4f}, {:.4f}]\n  {} rows of {}, mean with its 95 % interval\n"
        "picture   {}\n",
        mean, mean - half, mean + half, rows, options.source.data, options.out);
  return 0;
}

}  // namespace

void add_reconstruct(CLI::App& app) {
  auto options = std::make_shared<ReconstructOptions>();
  CLI::App* command =
      add_command(app, "reconstruct", "Data beside what a model makes of their codes, and the squared error",
                  "  harmonium reconstruct runs/autoencoder --data digits:test --out pairs.png\n"
                  "  harmonium reconstruct runs/rbm                                  # once up and down by means\n",
                  options->source.common, [options] { return reconstruct(*options); });
  declare_net_data(*command, options->source);
  command->add_option("--out", options->out, "x.png: rows, and below each what became of it")->capture_default_str();
  command->add_option("--show", options->shown, "rows in the picture")->capture_default_str();
}

}  // namespace harmonium::cli
