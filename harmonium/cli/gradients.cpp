#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/reading_flags.h"
#include "harmonium/sessions/estimator_session.h"

namespace harmonium::cli {

namespace {

namespace fs = std::filesystem;

struct GradientsCommand {
  SessionOptions common;
  std::string model, out;
  EstimatorSessionOptions options;
};

int gradients(const GradientsCommand& command) {
  watch_interrupts();
  const fs::path given(command.model);
  const fs::path folder = !command.out.empty()      ? fs::path(command.out)
                          : fs::is_directory(given) ? given
                                                    : fs::path("gradients-" + given.stem().string());
  const EstimatorResult result = look_at_estimators(command.model, command.options, command.common);
  write_estimators(folder, result);
  if (command.common.json) {
    print_json(to_json(result));
    return 0;
  }
  print_estimators(result);
  fmt::print("page     {}\nnumbers  {}\n", (folder / "estimators.html").string(),
             (folder / "estimators.json").string());
  return 0;
}

}  // namespace

void add_gradients(CLI::App& app) {
  auto options = std::make_shared<GradientsCommand>();
  CLI::App* command = add_command(
      app, "gradients", "Bias, variance and signal-to-noise of gradient estimators, for nets with latent variables",
      "  harmonium gradients runs/sbn\n"
      "  harmonium gradients runs/sbn --draws 2 10 50 --rows 10\n"
      "  harmonium gradients runs/vae --data digits:test --repetitions 2000\n",
      options->common, [options] { return gradients(*options); });
  EstimatorSessionOptions& session = options->options;
  command->add_option("model", options->model, "run folder or file of an sbn or a vae")->required();
  command->add_option("--data", session.data,
                      "NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  declare_reading(*command, session.reading);
  command->add_option("--rows", session.rows, "how many rows, drawn at random")->capture_default_str();
  command->add_option("--draws", session.study.draws, "numbers of draws K of the estimators that have several")
      ->capture_default_str();
  command
      ->add_option(
          "--most-bits", session.study.most_bits,
          "binary latent variables whose states are enumerated, at most 10; nets with more are measured by draws")
      ->capture_default_str();
  command->add_option("--tuples", session.study.tuples, "enumerated: tuples of draws where not all can be summed")
      ->capture_default_str();
  command->add_option("--repetitions", session.study.repetitions, "by draws: estimates of each, for all rows")
      ->capture_default_str();
  command->add_option("--seed", session.study.seed, "seed of rows and draws")
      ->capture_default_str()
      ->check(not_negative());
  command->add_option("--out", options->out,
                      "folder for page and numbers (default: the run folder, else gradients-NAME)");
}

}  // namespace harmonium::cli
