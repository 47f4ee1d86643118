#include "harmonium/sessions/training_session.h"

#include <fmt/core.h>

#include "harmonium/data/catalog/catalog.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/report/run_report.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/trained_rows.h"
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
  for (const std::string& sentence : tracker.take_news()) bar.say(sentence);
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

// What to do with the model now: it is judged by data it has not learnt from.
void print_next_step(const RunFolder& folder, const RunConfig& config, const RunData& data) {
  const std::unique_ptr<Model> trained = open_model(folder.path());
  std::string command;
  if (trained->classifier() != nullptr)
    command = "classify";
  else if (trained->density() != nullptr)
    command = "evaluate";
  else if (trained->encoder() != nullptr && trained->encoder()->reconstructs())
    command = "reconstruct";
  else if (trained->encoder() != nullptr)
    command = data.train.labels.defined() ? "retrieve" : "encode";
  else
    return;
  const auto held_out = held_out_data(config, data.train);
  if (command == "classify" && held_out == judging_data(config.data, &data.train))  // which it takes by itself
    fmt::print("  next    harmonium classify {}\n", folder.string());
  else if (held_out)
    fmt::print("  next    harmonium {} {} --data {}\n", command, folder.string(), *held_out);
  else
    fmt::print("  next    harmonium {} {} --data OTHER     (OTHER: data that it was not trained on)\n", command,
               folder.string());
}

// The exit code: a tracked run has more to do than to train.
int tell_unjudged(const RunFolder& folder, const RunResult& result) {
  if (result.unjudged == 0) return 0;
  fmt::print(stderr,
             "harmonium: the model is trained and saved, but {} of its models could not be judged, or the answer not "
             "recorded (see above); `harmonium resume {}` tries again\n",
             result.unjudged, folder.string());
  return 1;
}

}  // namespace

std::string judging_data(const std::string& spec, const Dataset* train) {
  if (train != nullptr && !is_named(spec)) return part_beside(spec, *train, "test").value_or(spec);
  const std::string name = spec.substr(0, spec.find(':'));
  for (const CatalogEntry& entry : list_datasets())
    if (entry.name == name && std::ranges::find(entry.parts, "test", &CatalogPart::name) != entry.parts.end())
      return name + ":test";
  return spec;
}

std::optional<std::string> held_out_data(const RunConfig& config, const Dataset& train) {
  const std::string own_valid = config.data.substr(0, config.data.find(':')) + ":valid";
  const std::string test = judging_data(config.data, &train);
  std::vector<std::string> choices = {test, config.valid};
  if (config.valid != own_valid) std::ranges::reverse(choices);  // somebody has chosen it
  for (const std::string& choice : choices)
    if (choice != "none" && choice != config.data) return choice;
  return std::nullopt;
}

bool is_trained(const RunFolder& folder, const RunConfig& config) {
  if (folder.is_blank()) return false;
  require(folder.is_run(), "{}: the folder holds other things than a run; give another --out", folder.string());
  RunConfig before;
  read_toml(folder.config(), before);
  require(to_toml(before) == to_toml(config),
          "{} holds a run with another configuration; remove it to do it again, or give another --out",
          folder.string());
  return folder.finished();
}

RunResult train_with_bar(const RunFolder& folder, const RunConfig& config, const RunData& data,
                         const SessionOptions& common, const std::string& label, PreparedRun prepared,
                         const AcceptedChanges& accepted) {
  limit_threads(common, find_family(config.model).products(config));
  watch_interrupts();
  std::optional<ProgressBar> bar(std::in_place, label);
  std::optional<LikelihoodTracker> tracker;
  if (config.track != "none") tracker.emplace(folder.path(), config, data);
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
  hooks.accepted = accepted;
  RunResult result = run_training(folder, config, to_toml, data, hooks, std::move(prepared));
  write_trained_rows(folder, data.train);
  bar.reset();
  if (tracker && result.finished) finish_tracking(*tracker, folder.path());
  if (tracker) result.unjudged = tracker->failed();
  return result;
}

int run_and_report(const RunFolder& folder, const RunConfig& config, const RunData& data, const SessionOptions& common,
                   PreparedRun prepared, const AcceptedChanges& accepted) {
  const RunResult result = train_with_bar(folder, config, data, common, "training", std::move(prepared), accepted);
  if (!result.finished) {
    fmt::print(stderr, "interrupted after update {} of {}{}; progress saved. To continue:\n  harmonium resume {}\n",
               result.updates, result.total, result.pretraining ? " of pretraining" : "", folder.string());
    return 130;
  }
  const std::filesystem::path model = folder.model(), report = folder.report();
  write_report(report, run_report(folder.path(), complete_rows(data.train)));
  const std::optional<Evaluation> tracked = final_answer(folder.path(), config, data, result.kept);
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
    return tell_unjudged(folder, result);
  }
  fmt::print("trained {} updates in {:.1f} s ({:.0f} updates/s)\n", result.updates, result.seconds, speed);
  if (tracked)
    fmt::print("  log-likelihood of {} rows of {}, binarization {}: {}\n", tracked->n, tracked->data,
               tracked->binarization, log_likelihood_in_words(*tracked));
  fmt::print("  model   {}\n  report  {}\n", model.string(), report.string());
  print_next_step(folder, config, data);
  return tell_unjudged(folder, result);
}

}  // namespace harmonium
