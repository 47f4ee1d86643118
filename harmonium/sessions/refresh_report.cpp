#include "harmonium/sessions/refresh_report.h"

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/report/run_report.h"
#include "harmonium/runs/config_file.h"

namespace harmonium {

std::filesystem::path refresh_report(const std::filesystem::path& folder, const Model* model) {
  require(std::filesystem::exists(folder / "config.toml"), "{} is not a run folder: it has no config.toml",
          folder.string());
  RunConfig config;
  read_toml(folder / "config.toml", config);
  Dataset train;
  try {
    train = open_dataset(config.data, {.limit = config.limit, .label_column = config.label_column});
  } catch (const Error&) {
    // The rest of the report does not need them.
  }
  write_report(folder / "report.html", run_report(folder, train, model));
  return folder / "report.html";
}

void refresh_report_where_finished(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "model.safetensors")) refresh_report(folder);
}

}  // namespace harmonium
