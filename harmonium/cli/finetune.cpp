#include <filesystem>

#include "harmonium/cli/command.h"
#include "harmonium/cli/config_flags.h"
#include "harmonium/core/error.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/sessions/judge.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium::cli {

namespace {

struct FinetuneOptions {
  SessionOptions common;
  std::string model, to = "classifier", out;
  bool overwrite = false;
  ConfigFlags config;
};

// What is made of this model starts with the data it was trained on, as far as it says.
RunConfig starting_config(const FinetuneOptions& options) {
  RunConfig config;
  config.start = options.model;
  if (is_run_folder(options.model)) {
    RunConfig source;
    read_toml(std::filesystem::path(options.model) / "config.toml", source);
    config.data = source.data;
    config.valid = source.valid;
    config.limit = source.limit;
    config.label_column = source.label_column;
    if (source.visible.starts_with("gaussian")) config.visible = "gaussian";
    if (source.visible.starts_with("counts")) config.visible = "counts";
    if (options.to == "generative") {
      config.binarize = source.binarize;
      config.shrink = source.shrink;
      config.visible = source.visible;
    }
  } else {
    const std::unique_ptr<Model> source = open_model(options.model);
    if (const std::string data = source->info().note("data"); !data.empty()) config.data = data;
    const Unit::Support support = source->visible().support();
    if (support == Unit::Support::reals) config.visible = "gaussian";
    if (support == Unit::Support::counts) config.visible = "counts";
  }
  if (options.to != "generative") {
    require(options.to == "classifier" || options.to == "autoencoder",
            "--to {}: there are classifier, autoencoder and generative", options.to);
    config.model = options.to == "classifier" ? "mlp" : "autoencoder";
    return config;
  }
  config.model = open_model(options.model)->info().family;
  require(find_family(config.model).has("start") && find_family(config.model).has("gradient"),
          "--to generative trains all layers of a belief net together, and {} is a {}; train one with --model dbn or "
          "classification_dbn",
          options.model, config.model);
  // As published: chains of the top machine start where the way up ends, and take longer walks towards the end.
  config.gradient = "cd";
  config.sweeps = 3;
  config.sweeps_final = 10;
  return config;
}

}  // namespace

void add_finetune(CLI::App& app) {
  auto options = std::make_shared<FinetuneOptions>();
  options->common.devices = SessionOptions::Devices::in_config;
  CLI::App* command =
      add_command(app, "finetune", "Train all layers of a trained model together: unrolled as a net, or by up-down",
                  "  harmonium train --data digits --hidden 200 --out runs/rbm\n"
                  "  harmonium finetune runs/rbm --to classifier --out runs/classifier\n"
                  "  harmonium classify runs/classifier\n"
                  "  harmonium finetune runs/rbm --to autoencoder --updates 2000 --out runs/autoencoder\n"
                  "  harmonium reconstruct runs/autoencoder --data digits:test\n"
                  "  harmonium train --data digits --model dbn --layers 100,50 --out runs/dbn\n"
                  "  harmonium finetune runs/dbn --to generative --out runs/tuned       # up-down (wake-sleep)\n"
                  "  harmonium evaluate runs/tuned --data digits:test\n",
                  options->common, [options] {
                    return begin_run(options->config.resolve(starting_config(*options)), options->out,
                                     options->overwrite, options->common);
                  });
  command->add_option("trained", options->model, "run folder or file of an rbm, dbn or dbm")->required();
  command
      ->add_option(
          "--to", options->to,
          "classifier (with a softmax on top), autoencoder (down again to the data); of a dbn also generative: a "
          "belief net whose ways up and down have weights of their own, by up-down (here --gradient cd "
          "--sweeps 3 --sweeps-final 10 unless given)")
      ->capture_default_str();
  const std::string to = given_on_command_line("--to");
  options->config.declare(*command, to == "autoencoder" ? "autoencoder" : to == "generative" ? "dbn" : "mlp");
  command->add_option("--out", options->out, "run folder (default: runs/NAME-1, -2, …)");
  command->add_flag("--overwrite", options->overwrite, "replace the run that is in the folder");
}

}  // namespace harmonium::cli
