#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "harmonium/cli/command.h"
#include "harmonium/report/protocols.h"
#include "harmonium/sessions/compared_runs.h"

namespace harmonium::cli {

void add_compare(CLI::App& app) {
  struct Options {
    SessionOptions common;
    std::vector<std::string> folders;
    std::string out = "compare.html";
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "compare", "Compare runs: log-likelihood against updates and time",
                  "  harmonium compare runs/sgd runs/centering\n"
                  "  harmonium compare runs/* --out runs/all.html\n",
                  options->common, [options] {
                    std::vector<ComparedRun> runs = read_compared_runs(options->folders);
                    const std::vector<std::string> left_out = keep_common_protocols(runs);
                    ReportContent page = comparison_report(runs);
                    for (const std::string& sentence : left_out) page.footer += "\n" + sentence;
                    write_report(options->out, page);
                    if (options->common.json) {
                      print_json({{"page", options->out}, {"runs", to_json(runs)}, {"left_out", left_out}});
                      return 0;
                    }
                    fmt::print("{}", likelihood_table(runs));
                    for (const std::string& sentence : left_out) fmt::print("{}\n", sentence);
                    fmt::print("page  {}\n", options->out);
                    return 0;
                  });
  command->add_option("runs", options->folders, "run folders")->required();
  command->add_option("--out", options->out, "page to write")->capture_default_str();
}

}  // namespace harmonium::cli
