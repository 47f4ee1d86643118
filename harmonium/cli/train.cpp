#include "harmonium/cli/command.h"
#include "harmonium/cli/config_flags.h"
#include "harmonium/cli/reading_flags.h"
#include "harmonium/families/registry.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium::cli {

namespace {

struct TrainOptions {
  SessionOptions common;
  std::string file, out;
  std::string binarize;  // by --dequantize
  bool overwrite = false;
  ConfigFlags config;
};

}  // namespace

void add_train(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  options->common.devices = SessionOptions::Devices::in_config;
  const std::string family = family_on_command_line();
  CLI::App* command =
      add_command(app, "train", "Train a model and write a run folder with its report",
                  "  " + find_family(family).example +
                      "\n"
                      "  harmonium train --data mnist --hidden 500 --updates 20000 --out runs/mnist\n"
                      "  harmonium train --data digits --track ais --out runs/watched\n"
                      "  harmonium train --data mnist --hidden 500 --device cuda\n"
                      "  harmonium train --data 20news --visible counts --hidden 50\n"
                      "  harmonium train recipe.toml --seed 7\n"
                      "  harmonium train --model vae --help                         # options of another model\n",
                  options->common, [options] {
                    RunConfig config = options->config.resolve(options->file);
                    if (!options->binarize.empty()) config.binarize = options->binarize;
                    return begin_run(config, options->out, options->overwrite, options->common);
                  });
  command->add_option("config", options->file, "TOML file with any of the options below (its keys: with _ for -)");
  options->config.declare(*command, family);
  declare_dequantize(*command, options->binarize);
  if (!find_family(family).dequantizes) command->get_option("--dequantize")->group("");
  command->add_option("--out", options->out, "run folder (default: runs/NAME-1, -2, …)");
  command->add_flag("--overwrite", options->overwrite, "replace the run that is in the folder");
}

}  // namespace harmonium::cli
