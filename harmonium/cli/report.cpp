#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/sessions/refresh_report.h"

namespace harmonium::cli {

void add_report(CLI::App& app) {
  struct Options {
    SessionOptions common;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(app, "report", "Write a run folder's report.html again",
                                  "  harmonium report runs/mnist\n", options->common, [options] {
                                    const std::filesystem::path report = refresh_report(options->folder);
                                    if (options->common.json)
                                      print_json({{"report", report.string()}});
                                    else
                                      fmt::print("report  {}\n", report.string());
                                    return 0;
                                  });
  command->add_option("folder", options->folder, "run folder")->required();
}

}  // namespace harmonium::cli
