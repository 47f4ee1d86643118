#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "harmonium/cli/command.h"
#include "harmonium/cli/compared_runs.h"

namespace harmonium::cli {

void add_compare(CLI::App& app) {
  struct Options {
    CommonOptions common;
    std::vector<std::string> folders;
    std::string out = "compare.html";
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "compare", "Lay runs over each other: log-likelihood against updates and time",
                                  "  harmonium compare runs/sgd runs/centering\n"
                                  "  harmonium compare runs/* --out runs/all.html\n",
                                  options->common, [options] {
                                    const std::vector<ComparedRun> runs = read_compared_runs(options->folders);
                                    write_report(options->out, comparison_report(runs));
                                    if (options->common.json) {
                                      print_json({{"page", options->out}, {"runs", to_json(runs)}});
                                      return 0;
                                    }
                                    fmt::print("{}", likelihood_table(runs));
                                    fmt::print("page  {}\n", options->out);
                                    return 0;
                                  });
  command->add_option("runs", options->folders, "run folders")->required();
  command->add_option("--out", options->out, "page to write")->capture_default_str();
}

}  // namespace harmonium::cli
