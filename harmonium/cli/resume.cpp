#include "harmonium/cli/command.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_place.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium::cli {

void add_resume(CLI::App& app) {
  struct Options {
    SessionOptions common;
    std::string folder, device;
  };
  auto options = std::make_shared<Options>();
  options->common.devices = SessionOptions::Devices::in_config;
  CLI::App* command = add_command(app, "resume", "Go on with a run that was interrupted, as if it had not been",
                                  "  harmonium resume runs/mnist\n"
                                  "  harmonium resume runs/mnist --device cuda\n",
                                  options->common, [options] {
                                    const std::filesystem::path folder = options->folder;
                                    require(std::filesystem::exists(folder / "config.toml"),
                                            "{} is not a run folder: it has no config.toml", folder.string());
                                    RunConfig config;
                                    read_toml(folder / "config.toml", config);
                                    if (!options->device.empty()) config.device = options->device;
                                    (void)find_device(config.device);  // before data are read
                                    const RunData data =
                                        naming((folder / "config.toml").string(), [&] { return resolve(config); });
                                    return run_and_report(folder, config, data, options->common);
                                  });
  command->add_option("folder", options->folder, "run folder")->required();
  command->add_option("--device", options->device, "where to compute from here: cpu, cuda (default: as the run began)")
      ->group("Common");
}

}  // namespace harmonium::cli
