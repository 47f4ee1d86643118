#include <filesystem>

#include "harmonium/cli/command.h"
#include "harmonium/cli/config_file.h"
#include "harmonium/cli/judge.h"
#include "harmonium/cli/training_session.h"
#include "harmonium/core/error.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

namespace {

struct FinetuneOptions {
  CommonOptions common;
  std::string model, to = "classifier", out;
  bool overwrite = false;
  ConfigFlags config;
};

// What a net made of this model starts with: the data it was trained on, as far as it says, and its layers.
RunConfig starting_config(const FinetuneOptions& options) {
  require(options.to == "classifier" || options.to == "autoencoder", "--to {}: there are classifier and autoencoder",
          options.to);
  RunConfig config;
  config.model = options.to == "classifier" ? "mlp" : "autoencoder";
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
  } else if (is_stack_file(options.model)) {
    const StackModel source = read_stack_model(options.model);
    if (const auto note = source.notes.find("data"); note != source.notes.end()) config.data = note->second;
    if (source.machines.front().machine.unit(0).spec().starts_with("gaussian")) config.visible = "gaussian";
  } else {
    const Model source = read_model(options.model);
    if (const auto note = source.notes.find("data"); note != source.notes.end()) config.data = note->second;
    if (source.machine.unit(0).spec().starts_with("gaussian")) config.visible = "gaussian";
    if (source.machine.unit(0).spec().starts_with("counts")) config.visible = "counts";
  }
  return config;
}

}  // namespace

void add_finetune(CLI::App& app) {
  auto options = std::make_shared<FinetuneOptions>();
  options->common.devices = CommonOptions::Devices::in_config;
  CLI::App* command =
      add_command(app, "finetune", "Unroll a trained model into a feed-forward net and train that by backpropagation",
                  "  harmonium train --data digits --hidden 200 --out runs/rbm\n"
                  "  harmonium finetune runs/rbm --to classifier --out runs/classifier\n"
                  "  harmonium classify runs/classifier\n"
                  "  harmonium finetune runs/rbm --to autoencoder --updates 2000 --out runs/autoencoder\n"
                  "  harmonium reconstruct runs/autoencoder --data digits:test\n",
                  options->common, [options] {
                    return begin_run(options->config.resolve(starting_config(*options)), options->out,
                                     options->overwrite, options->common);
                  });
  command->add_option("trained", options->model, "run folder or file of an rbm, dbn or dbm")->required();
  command->add_option("--to", options->to, "classifier (with a softmax on top), autoencoder (down again to the data)")
      ->capture_default_str();
  options->config.declare(*command);
  command->add_option("--out", options->out, "run folder (default: runs/NAME-1, -2, …)");
  command->add_flag("--overwrite", options->overwrite, "replace the run that is in the folder");
}

}  // namespace harmonium::cli
