#include "harmonium/sessions/refresh_report.h"

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/report/run_report.h"
#include "harmonium/runs/config_file.h"

namespace harmonium {

std::filesystem::path refresh_report(const RunFolder& folder, const Model* model) {
  require(folder.is_run(), "{} is not a run folder: it has no config.toml", folder.string());
  RunConfig config;
  read_toml(folder.config(), config);
  Dataset train;
  try {
    train = open_dataset(config.data, {.limit = config.limit, .reading = reading_of(config), .missing_values = true});
  } catch (const Error&) {
    // The rest of the report does not need them.
  }
  write_report(folder.report(), run_report(folder.path(), complete_rows(train), model));
  return folder.report();
}

}  // namespace harmonium
