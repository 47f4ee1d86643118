#include "harmonium/cli/shown_data_flags.h"

namespace harmonium::cli {

void declare_shown_data(CLI::App& command, ShownDataOptions& options) {
  command.add_option("model", options.model, "run folder or file of a model with hidden layers")->required();
  command.add_option("--data", options.data,
                     "NAME or PATH[:train|valid|test]; without it: the test part of the training data");
  command.add_option("--layer", options.layer,
                     "which layer is the code: its name as in `models show`, or all (default: the top layer, or an "
                     "autoencoder's code)");
  command.add_option("--limit", options.limit, "use at most N rows (0: all)")->capture_default_str();
  command.add_option("--label-column", options.label_column, "where a text table keeps its label: none, first, last")
      ->capture_default_str();
}

}  // namespace harmonium::cli
