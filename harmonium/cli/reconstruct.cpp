#include <fmt/core.h>

#include "harmonium/cli/net_data.h"
#include "harmonium/cli/reconstruction_error.h"
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
  require(!found.counts,
          "{} is a model of word counts, which gives back shares of words; its report shows how well, as perplexity, "
          "and `harmonium retrieve` looks at its codes",
          options.source.model);
  const ReconstructionError error =
      reconstruction_error(found.data, found.binarization, [&](const at::Tensor& rows) { return net.forward(rows); });
  const at::Tensor shown = shown_values(found.data.first(options.shown), found.binarization);
  write_png(options.out, reconstruction_picture(shown, net.forward(shown),
                                                found.model.image.value_or(near_square_shape(net.inputs()))));
  if (options.source.common.json)
    print_json({{"model", options.source.model},
                {"data", options.source.data},
                {"rows", error.rows},
                {"squared_error", error.mean},
                {"low", error.low},
                {"high", error.high},
                {"out", options.out}});
  else
    fmt::print(
        "squared error per row  {:.4f} [{:.4f}, {:.4f}]\n  {} rows of {}, mean with its 95 % interval\n"
        "picture   {}\n",
        error.mean, error.low, error.high, error.rows, options.source.data, options.out);
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
