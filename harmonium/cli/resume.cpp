#include "harmonium/cli/command.h"
#include "harmonium/cli/config_file.h"
#include "harmonium/cli/training_session.h"
#include "harmonium/core/error.h"

namespace harmonium::cli {

void add_resume(CLI::App& app) {
  struct Options {
    CommonOptions common;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "resume", "Go on with a run that was interrupted, as if it had not been",
                                  "  harmonium resume runs/mnist\n", options->common, [options] {
                                    const std::filesystem::path folder = options->folder;
                                    require(std::filesystem::exists(folder / "config.toml"),
                                            "{} is not a run folder: it has no config.toml", folder.string());
                                    RunConfig config;
                                    read_toml(folder / "config.toml", config);
                                    const RunData data = resolve(config);
                                    return run_and_report(folder, config, data, options->common);
                                  });
  command->add_option("folder", options->folder, "run folder")->required();
}

}  // namespace harmonium::cli
