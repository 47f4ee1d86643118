#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/sessions/fisher_session.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

struct FisherCommand {
  SessionOptions common;
  std::string model, out;
  FisherOptions fisher;
};

int fisher(const FisherCommand& command) {
  watch_interrupts();
  const TrainedMachine model = read_machine(command.model);
  const fs::path given(command.model);
  const fs::path folder = !command.out.empty()      ? fs::path(command.out)
                          : fs::is_directory(given) ? given
                                                    : fs::path("fisher-" + given.stem().string());
  const FisherResult result = look_at_fisher(given.filename().empty() ? command.model : given.filename().string(),
                                             model, command.fisher, command.common);
  write_fisher(folder, result);
  if (command.common.json) {
    print_json(to_json(result));
    return 0;
  }
  print_fisher(result);
  fmt::print("page     {}\npicture  {}\nnumbers  {}\n", (folder / "fisher.html").string(),
             (folder / "eigenvectors.png").string(), (folder / "fisher.json").string());
  return 0;
}

}  // namespace

void add_fisher(CLI::App& app) {
  auto options = std::make_shared<FisherCommand>();
  options->common.devices = SessionOptions::Devices::any;
  CLI::App* command =
      add_command(app, "fisher", "Study a model's curvature: spectrum, eigenvectors, and how well approximations fit",
                  "  harmonium fisher runs/digits-1\n"
                  "  harmonium fisher model.npz --out fisher\n"
                  "  harmonium fisher runs/mnist --method sampled --samples 8000\n"
                  "  harmonium fisher runs/mnist --method sampled --device cuda\n",
                  options->common, [options] { return fisher(*options); });
  FisherOptions& fisher = options->fisher;
  command->add_option("model", options->model, "run folder, .safetensors, or .npz with W, visible_bias, hidden_bias")
      ->required();
  command->add_option("--method", fisher.method, "auto (exact where a side has at most 20 units), exact, sampled")
      ->capture_default_str();
  command->add_option("--damping", fisher.damping, "added to the diagonal (0: 1e-6 for exact, 1e-3 for sampled)")
      ->capture_default_str();
  command->add_option("--rank", fisher.ranks, "ranks of the low-rank approximations")->capture_default_str();
  command->add_option("--eigenvectors", fisher.eigenvectors, "how many are drawn")->capture_default_str();
  command->add_option("--spectrum", fisher.spectrum, "eigenvalues found where not all can be")->capture_default_str();
  command->add_option("--random-draws", fisher.random_draws, "draws of random parents for the control (exact)")
      ->capture_default_str();
  command->add_option("--samples", fisher.samples, "sampled: draws, half to fit and half to judge")
      ->capture_default_str();
  command->add_option("--sweeps", fisher.sweeps, "sampled: Gibbs sweeps before they are taken")->capture_default_str();
  command->add_option("--seed", fisher.seed, "seed of draws and random parents")
      ->capture_default_str()
      ->check(not_negative());
  command->add_option("--out", options->out,
                      "folder for page, picture and numbers (default: the run folder, else fisher-NAME)");
}

}  // namespace harmonium::cli
