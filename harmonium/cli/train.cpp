#include <fmt/core.h>

#include <filesystem>
#include <sstream>

#include "harmonium/cli/command.h"
#include "harmonium/cli/config_file.h"
#include "harmonium/cli/tracking.h"
#include "harmonium/cli/training_session.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/training/files/net_run.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  CommonOptions common;
  std::string file, out;
  bool overwrite = false;
  ConfigFlags config;
};

// runs/digits-1, runs/digits-2, …: the first that is free.
fs::path free_folder(const std::string& data) {
  std::string stem = fs::path(data.substr(0, data.find(':'))).stem().string();
  if (stem.empty()) stem = "run";
  for (int number = 1;; ++number) {
    fs::path folder = fs::path("runs") / format("{}-{}", stem, number);
    if (!fs::exists(folder)) return folder;
  }
}

void prepare_folder(const fs::path& folder, bool overwrite) {
  if (!fs::exists(folder)) return;
  require(fs::is_directory(folder), "--out {}: it is a file; give a folder", folder.string());
  if (fs::is_empty(folder)) return;
  const bool is_run = fs::exists(folder / "config.toml");
  require(is_run, "--out {}: the folder holds other things; give a new one", folder.string());
  require(overwrite,
          "--out {}: there is a run already. Go on with it (`harmonium resume {}`), replace it (--overwrite) or give "
          "another folder",
          folder.string(), folder.string());
  // Only what a run writes; anything else a person has put there stays.
  for (const char* name : {"checkpoint", "snapshots", "evaluating", "metrics.jsonl", "model.safetensors", "report.html",
                           "evaluations.jsonl", "classifications.jsonl", "retrievals.jsonl", "mistakes.png",
                           "start.safetensors", "pretraining", "config.toml"})
    fs::remove_all(folder / name);
  for (int layer = 1; fs::remove_all(folder / format("layer-{}", layer)) > 0; ++layer) {
  }
}

// What follows the visible units: " – 100", " – 500 – 1000", ", all joined".
std::string hidden_in_words(const RunConfig& config) {
  if (config.layers == "none" && trains_net(config)) return "";
  if (config.layers == "none") return config.hidden == "none" ? ", all joined" : " – " + config.hidden;
  std::string text;
  std::istringstream layers(config.layers);
  for (std::string each; std::getline(layers, each, ',');) text += " – " + each;
  return text;
}

}  // namespace

int begin_run(RunConfig config, const std::string& out, bool overwrite, const CommonOptions& common) {
  (void)find_device(config.device);  // before data are read
  const RunData data = resolve(config);
  check_config(config, data);  // before anything is written or removed
  if (config.track != "none") (void)open_tracking_data(config, data);
  const fs::path folder = out.empty() ? free_folder(config.data) : fs::path(out);
  prepare_folder(folder, overwrite);
  if (!common.json)
    fmt::print(stderr, "{} rows of {}, {} columns, binarization {}; {}{}; {}, {}{}\n", data.train.rows(), config.data,
               data.train.columns(), config.binarize, config.visible, hidden_in_words(config),
               trains_net(config)                     ? config.loss
               : config.objective == "discriminative" ? config.objective
                                                      : config.gradient,
               config.optimizer, config.device == "cpu" ? "" : "; on " + config.device);
  return run_and_report(folder, config, data, common);
}

void add_train(CLI::App& app) {
  auto options = std::make_shared<TrainOptions>();
  options->common.devices = CommonOptions::Devices::in_config;
  CLI::App* command = add_command(app, "train", "Train a model and write a run folder with its report",
                                  "  harmonium train --data digits\n"
                                  "  harmonium train --data mnist --hidden 500 --updates 20000 --out runs/mnist\n"
                                  "  harmonium train --data digits --track ais --out runs/watched\n"
                                  "  harmonium train --data mnist --hidden 500 --device cuda\n"
                                  "  harmonium train --data digits --model dbm --layers 100,50\n"
                                  "  harmonium train --data mnist --model dbn --layers 500,500,2000\n"
                                  "  harmonium train --data mnist:fit --model mlp --layers 500,500 --dropout 0.5\n"
                                  "  harmonium train --data mnist:fit --model autoencoder --layers 500,250,30\n"
                                  "  harmonium train --data 20news --visible counts --hidden 50\n"
                                  "  harmonium train recipe.toml --seed 7\n",
                                  options->common, [options] {
                                    return begin_run(options->config.resolve(options->file), options->out,
                                                     options->overwrite, options->common);
                                  });
  command->add_option("config", options->file, "TOML file with any of the options below (its keys: with _ for -)");
  options->config.declare(*command);
  command->add_option("--out", options->out, "run folder (default: runs/NAME-1, -2, …)");
  command->add_flag("--overwrite", options->overwrite, "replace the run that is in the folder");
}

}  // namespace harmonium::cli
