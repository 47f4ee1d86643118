#include "harmonium/sessions/training_session.h"

#include <fmt/core.h>

#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/report/run_report.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/tracking.h"

namespace harmonium {

namespace {

// `text` comes first: a narrow terminal cuts the end off.
std::string watch_line(const std::map<std::string, double>& metrics, std::string text) {
  const auto add = [&](const char* metric, const char* label, const char* form) {
    if (const auto it = metrics.find(metric); it != metrics.end())
      text += fmt::format("{}{} {}", text.empty() ? "" : "  ", label, fmt::format(fmt::runtime(form), it->second));
  };
  if (const auto it = metrics.find("classification_error"); it != metrics.end())
    text += fmt::format("{}error {:.2f} %", text.empty() ? "" : "  ", 100 * it->second);
  add("validation_log_likelihood", "valid log-lik", "{:.2f}");
  add("log_likelihood", "log-lik", "{:.2f}");
  add("loss", "loss", "{:.4f}");
  add("validation_loss", "valid", "{:.4f}");
  add("pseudo_log_likelihood", "pseudo-LL", "{:.2f}");
  add("free_energy_gap", "gap", "{:.2f}");
  add("reconstruction_error", "rec", "{:.2f}");
  if (const auto it = metrics.find("awake_units"); it != metrics.end())
    text += fmt::format("  awake {:.0f} %", 100 * it->second);
  add("gradient_norm", "grad", "{:.3f}");
  return text;
}

// Judges what is left after the last update, until the end or Ctrl-C.
void finish_tracking(LikelihoodTracker& tracker, const std::filesystem::path& folder) {
  tracker.add(folder);
  ProgressBar bar("judging");
  tracker.finish([&](const LikelihoodTracker::Standing& now) {
    for (const std::string& sentence : tracker.take_news()) bar.say(sentence);
    bar.show(now.answered, now.total, now.rate, now.doing);
  });
}

// The tracked answer for the final model; nothing where the run is not tracked, or it failed.
std::optional<Evaluation> final_answer(const std::filesystem::path& folder, const RunConfig& config,
                                       const RunData& data, std::int64_t kept) {
  if (config.track == "none") return std::nullopt;
  const std::string& judge = data.valid.rows() > 0 ? config.valid : config.data;
  std::optional<Evaluation> answer;
  for (Evaluation& each : read_evaluations(folder))
    if (each.updates == kept && each.data == judge && each.log_likelihood) answer = std::move(each);
  return answer;
}

}  // namespace

std::string judging_data(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  for (const CatalogEntry& entry : list_datasets())
    if (entry.name == name && std::ranges::find(entry.parts, "test", &CatalogPart::name) != entry.parts.end())
      return name + ":test";
  return spec;
}

bool is_trained(const std::filesystem::path& folder, const RunConfig& config) {
  if (!std::filesystem::exists(folder) || std::filesystem::is_empty(folder)) return false;
  require(is_run_folder(folder), "{}: the folder holds other things than a run; give another --out", folder.string());
  RunConfig before;
  read_toml(folder / "config.toml", before);
  require(to_toml(before) == to_toml(config),
          "{} holds a run with another configuration; remove it to do it again, or give another --out",
          folder.string());
  return std::filesystem::exists(folder / "model.safetensors");
}

RunResult train_with_bar(const std::filesystem::path& folder, const RunConfig& config, const RunData& data,
                         const SessionOptions& common, const std::string& label, PreparedRun prepared) {
  limit_threads(common, find_family(config.model).products(config));
  watch_interrupts();
  std::optional<ProgressBar> bar(std::in_place, label);
  std::optional<LikelihoodTracker> tracker;
  if (config.track != "none") tracker.emplace(folder, config, data);
  RunHooks hooks;
  hooks.stop_requested = interrupted;
  hooks.progress = [&](const RunProgress& p) {
    if (tracker)
      for (const std::string& sentence : tracker->take_news()) bar->say(sentence);
    bar->show(p.update, p.total, p.updates_per_second, watch_line(p.metrics, tracker ? tracker->latest() : ""));
  };
  hooks.message = [&](const std::string& sentence) { bar->say(as_flags(sentence)); };
  hooks.snapshot = [&](const std::filesystem::path& path) {
    if (tracker) tracker->add(path);
  };
  RunResult result = run_training(folder, config, to_toml, data, hooks, std::move(prepared));
  bar.reset();
  if (tracker && result.finished) finish_tracking(*tracker, folder);
  return result;
}

int run_and_report(const std::filesystem::path& folder, const RunConfig& config, const RunData& data,
                   const SessionOptions& common, PreparedRun prepared) {
  const RunResult result = train_with_bar(folder, config, data, common, "training", std::move(prepared));
  if (!result.finished) {
    fmt::print(stderr, "interrupted after update {} of {}{}; progress saved. To continue:\n  harmonium resume {}\n",
               result.updates, result.total, result.pretraining ? " of pretraining" : "", folder.string());
    return 130;
  }
  const std::filesystem::path model = folder / "model.safetensors", report = folder / "report.html";
  write_report(report, run_report(folder, data.train));
  const std::optional<Evaluation> tracked = final_answer(folder, config, data, result.kept);
  if (config.track != "none" && !tracked && interrupted()) {
    fmt::print(stderr,
               "interrupted; the model is trained and saved, but not all its snapshots are judged. To go on:\n"
               "  harmonium resume {}\n",
               folder.string());
    return 130;
  }
  const double speed = result.seconds > 0 ? static_cast<double>(result.updates) / result.seconds : 0;
  if (common.json) {
    nlohmann::ordered_json answer = {{"updates", result.updates},   {"seconds", result.seconds},
                                     {"updates_per_second", speed}, {"model", model.string()},
                                     {"report", report.string()},   {"metrics", result.metrics}};
    if (config.keep == "best") answer["kept_update"] = result.kept;
    print_json(answer);
    return 0;
  }
  fmt::print("trained {} updates in {:.1f} s ({:.0f} updates/s)\n", result.updates, result.seconds, speed);
  if (tracked)
    fmt::print("  log-likelihood of {} rows of {}, binarization {}: {}\n", tracked->n, tracked->data,
               tracked->binarization, log_likelihood_in_words(*tracked));
  fmt::print("  model   {}\n  report  {}\n", model.string(), report.string());
  const std::string judge = judging_data(config.data);
  const std::unique_ptr<Model> trained = open_model(folder);
  if (trained->classifier() != nullptr)
    fmt::print("  next    harmonium classify {}\n", folder.string());
  else if (trained->density() != nullptr)
    fmt::print("  next    harmonium evaluate {} --data {}\n", folder.string(), judge);
  else if (trained->encoder() != nullptr && trained->encoder()->reconstructs())
    fmt::print("  next    harmonium reconstruct {} --data {}\n", folder.string(), judge);
  else if (trained->encoder() != nullptr)
    fmt::print("  next    harmonium {} {} --data {}\n", data.train.labels.defined() ? "retrieve" : "encode",
               folder.string(), judge);
  return 0;
}

}  // namespace harmonium
