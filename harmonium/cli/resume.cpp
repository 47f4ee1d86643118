#include "harmonium/cli/command.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium::cli {

void add_resume(CLI::App& app) {
  auto options = std::make_shared<ResumeOptions>();
  options->common.devices = SessionOptions::Devices::in_config;
  CLI::App* command = add_command(app, "resume", "Go on with a run that was interrupted, as if it had not been",
                                  "  harmonium resume runs/mnist\n"
                                  "  harmonium resume runs/mnist --device cuda\n"
                                  "  harmonium resume runs/mnist --updates 40000   # make it longer, or shorter\n"
                                  "  harmonium resume runs/mnist --finish          # end it where it is\n",
                                  options->common, [options] { return resume_run(*options); });
  command->add_option("folder", options->folder, "run folder")->required();
  command->add_option("--updates", options->updates,
                      "end the run at update N: more than it was to have, or fewer, but not fewer than are done; "
                      "learning rates that fall with the length of the run follow the new one");
  command->add_flag("--finish", options->finish, "end the run at its last checkpoint and write its model");
  command->add_flag("--accept-changed-data", options->accept_changed_data,
                    "go on although the data are not those that the run was trained on so far");
  command->add_flag("--accept-changed-config", options->accept_changed_config,
                    "go on although config.toml is not what the run was trained with so far");
  command->add_option("--device", options->device, "where to compute from here: cpu, cuda (default: as the run began)")
      ->group("Common");
}

}  // namespace harmonium::cli
