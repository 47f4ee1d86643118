#include "harmonium/cli/shown_data_flags.h"

#include "harmonium/cli/reading_flags.h"

namespace harmonium::cli {

void declare_shown_data(CLI::App& command, ShownDataOptions& options) {
  command.add_option("model", options.model, "run folder or file of a model with hidden layers")->required();
  command.add_option("--data", options.data,
                     "NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  command.add_option("--layer", options.layer,
                     "which layer is the code: its name as in `models show`, or all (default: the top layer, or an "
                     "autoencoder's code)");
  command.add_option("--limit", options.limit, "use at most N rows (0: all)")->capture_default_str();
  declare_reading(command, options.reading);
  options.allow_trained_rows = false;
  declare_allow_trained_rows(command, options.allow_trained_rows);
}

void declare_refine(CLI::App& command, std::int64_t& steps) {
  command
      .add_option("--refine", steps,
                  "capsules: improve the description of every row by N steps of descent on its error; slower (0: none)")
      ->capture_default_str();
}

}  // namespace harmonium::cli
