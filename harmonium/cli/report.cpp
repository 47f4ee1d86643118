#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/core/error.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/refresh_report.h"

namespace harmonium::cli {

void add_report(CLI::App& app) {
  struct Options {
    SessionOptions common;
    std::string folder;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(app, "report", "Write a run folder's report.html again", "  harmonium report runs/mnist\n",
                  options->common, [options] {
                    const RunFolder folder(options->folder);
                    require(folder.is_run(), "{} is not a run folder: it has no config.toml", folder.string());
                    const std::unique_ptr<Model> model = open_for_use(folder.path());
                    const std::filesystem::path report = refresh_report(folder, model.get());
                    if (options->common.json)
                      print_json(with_standing({{"report", report.string()}}, *model));
                    else
                      fmt::print("report  {}\n", report.string());
                    return 0;
                  });
  command->add_option("folder", options->folder, "run folder")->required();
}

}  // namespace harmonium::cli
