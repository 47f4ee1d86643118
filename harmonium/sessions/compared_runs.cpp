#include "harmonium/sessions/compared_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "harmonium/core/error.h"
#include "harmonium/families/open_model.h"
#include "harmonium/report/estimates.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/damaged_records.h"
#include "harmonium/runs/snapshots.h"
#include "harmonium/sessions/training_session.h"

namespace harmonium {

namespace {

namespace fs = std::filesystem;

std::string last_name(const std::string& folder) {
  const fs::path path = fs::path(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

std::string name_among(const std::string& folder, const std::vector<std::string>& all) {
  const std::string name = last_name(folder);
  const auto same = std::ranges::count_if(all, [&](const std::string& other) { return last_name(other) == name; });
  return same == 1 ? name : folder;
}

std::string how_to_judge(const std::string& folder, const RunConfig& config) {
  const bool snapshots = !list_snapshots(folder).empty();
  if (!snapshots && !RunFolder(folder).finished()) return "harmonium resume " + folder;
  if (!snapshots) {
    const std::unique_ptr<Model> model = open_model(folder);
    if (model->density() == nullptr)
      return format("harmonium {} {} --data {}", model->classifier() != nullptr ? "classify" : "reconstruct", folder,
                    judging_data(config.data));
  }
  return format("harmonium evaluate {}{} --data {}", folder, snapshots ? " --snapshots" : "",
                judging_data(config.data));
}

std::string seconds_text(double seconds) {
  return fmt::format("{:.{}f}", seconds, seconds < 10 ? 2 : seconds < 100 ? 1 : 0);
}

// Columns as wide as their widest cell; numbers to the right. Characters are counted, not bytes.
std::string text_table(const std::vector<std::array<std::string, 7>>& rows) {
  constexpr std::array<bool, 7> to_the_right = {false, false, false, true, true, true, false};
  const auto width = [](const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
  };
  std::array<std::size_t, 7> widths{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      line += (i > 0 ? "  " : "") + (to_the_right[i] ? space + row[i] : row[i] + space);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::vector<ComparedRun> read_compared_runs(const std::vector<std::string>& folders) {
  std::vector<ComparedRun> runs;
  for (const std::string& folder : folders) {
    require(
        RunFolder(folder).is_run(),
        "{} is not a run folder: it has no config.toml. Give folders that `harmonium train --out FOLDER` has written",
        folder);
    RunConfig config;
    read_toml(RunFolder(folder).config(), config);
    for (const std::string& sentence : damaged_records(folder)) fmt::print(stderr, "{}\n", sentence);
    ComparedRun run = compared_run(folder, name_among(folder, folders));
    run.optimizer = config.optimizer;
    run.watched = format("{} {} {} {}", config.data, config.valid, config.binarize, config.limit);
    run.judge_command = how_to_judge(folder, config);
    runs.push_back(std::move(run));
  }
  return runs;
}

std::string likelihood_table(const std::vector<ComparedRun>& runs) {
  std::vector<std::array<std::string, 7>> rows = {
      {"run", "optimizer", "data", "updates", "seconds", "log-likelihood", "kind"}};
  std::string unjudged;
  for (const ComparedRun& run : runs) {
    for (const Evaluation& each : run.evaluations) {
      const EstimateText text = describe(*each.log_likelihood);
      const Judgement found = judgement(each);
      rows.push_back({run.name, run.optimizer, format("{}, {} rows, {}", each.data, each.n, each.binarization),
                      std::to_string(each.updates), seconds_text(each.seconds),
                      !found.trusted         ? bracket(found)
                      : text.kind == "exact" ? text.value
                                             : text.value + " " + text.interval,
                      found.trusted ? text.kind : doubt(found)});
    }
    if (run.evaluations.empty()) unjudged += fmt::format("{} was not judged yet:  {}\n", run.name, run.judge_command);
  }
  return (rows.size() > 1 ? text_table(rows) : "") + unjudged;
}

nlohmann::ordered_json to_json(const std::vector<ComparedRun>& runs) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const ComparedRun& run : runs) {
    nlohmann::ordered_json evaluations = nlohmann::ordered_json::array();
    for (const Evaluation& each : run.evaluations) evaluations.push_back(harmonium::to_json(each));
    all.push_back({{"name", run.name},
                   {"folder", run.folder},
                   {"optimizer", run.optimizer},
                   {"evaluations", evaluations},
                   {"judge", run.evaluations.empty() ? nlohmann::ordered_json(run.judge_command)
                                                     : nlohmann::ordered_json(nullptr)}});
  }
  return all;
}

}  // namespace harmonium
