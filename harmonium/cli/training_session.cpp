#include "harmonium/cli/training_session.h"

#include <fmt/core.h>

#include "harmonium/cli/config_file.h"
#include "harmonium/cli/progress.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/report/run_report.h"

namespace harmonium::cli {

namespace {

std::string watch_line(const std::map<std::string, double>& metrics) {
  std::string text;
  const auto add = [&](const char* metric, const char* label, const char* form) {
    if (const auto it = metrics.find(metric); it != metrics.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : "  ", label, fmt::format(fmt::runtime(form), it->second));
  };
  add("pseudo_log_likelihood", "pseudo-LL", "{:.2f}");
  add("free_energy_gap", "gap", "{:.2f}");
  add("reconstruction_error", "rec", "{:.2f}");
  add("gradient_norm", "grad", "{:.3f}");
  return text;
}

}  // namespace

std::string judging_data(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  for (const CatalogEntry& entry : list_datasets())
    if (entry.name == name && std::ranges::find(entry.parts, "test", &CatalogPart::name) != entry.parts.end())
      return name + ":test";
  return spec;
}

RunResult train_with_bar(const std::filesystem::path& folder, const RunConfig& config, const RunData& data,
                         const CommonOptions& common, const std::string& label) {
  limit_threads(common, products_per_update(config));
  watch_interrupts();
  ProgressBar bar(label);
  RunHooks hooks;
  hooks.stop_requested = interrupted;
  hooks.progress = [&](const RunProgress& p) {
    bar.show(p.update, p.total, p.updates_per_second, watch_line(p.metrics));
  };
  hooks.message = [&](const std::string& sentence) { bar.say(sentence); };
  return run_training(folder, config, to_toml(config), data, hooks);
}

int run_and_report(const std::filesystem::path& folder, const RunConfig& config, const RunData& data,
                   const CommonOptions& common) {
  const RunResult result = train_with_bar(folder, config, data, common, "training");
  if (!result.finished) {
    fmt::print(stderr, "interrupted after update {} of {}; all is saved. To go on:\n  harmonium resume {}\n",
               result.updates, config.updates, folder.string());
    return 130;
  }
  const std::filesystem::path model = folder / "model.safetensors", report = folder / "report.html";
  write_report(report, run_report(folder, data.train));
  const double speed = result.seconds > 0 ? static_cast<double>(result.updates) / result.seconds : 0;
  if (common.json) {
    print_json({{"updates", result.updates},
                {"seconds", result.seconds},
                {"updates_per_second", speed},
                {"model", model.string()},
                {"report", report.string()},
                {"metrics", result.metrics}});
    return 0;
  }
  fmt::print(
      "trained {} updates in {:.1f} s ({:.0f} updates/s)\n  model   {}\n  report  {}\n  next    harmonium evaluate {} "
      "--data {}\n",
      result.updates, result.seconds, speed, model.string(), report.string(), folder.string(),
      judging_data(config.data));
  return 0;
}

}  // namespace harmonium::cli
