#include "harmonium/runs/open_run.h"

#include "harmonium/core/error.h"
#include "harmonium/families/open_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/runs/checkpoint.h"
#include "harmonium/runs/config_file.h"
#include "harmonium/runs/damaged_records.h"
#include "harmonium/runs/run_folder.h"
#include "harmonium/runs/run_identity.h"

namespace harmonium {

namespace {

RunData open_run_data(const RunFolder& folder, RunConfig& config) {
  try {
    return resolve(config);
  } catch (const Error& error) {
    fail("{} is unfinished, and the model of a checkpoint is made with the data it learns: {}", folder.string(),
         error.marked());
  }
}

OpenedRun open_unfinished(const RunFolder& folder) {
  const auto loaded = read_checkpoint(folder.checkpoints());
  require(loaded.has_value(),
          "{} holds no model.safetensors, and no checkpoint that a model could be made of: its run {} "
          "(`harmonium resume {}` goes on with it)",
          folder.string(), folder.stages().empty() ? "has just begun" : "is still training its layers one by one",
          folder.string());
  RunConfig config;
  read_toml(folder.config(), config);
  config.device = "cpu";
  const RunData data = open_run_data(folder, config);
  const Family& family = find_family(config.model);
  const bool kept_start = family.keeps_start != nullptr && family.keeps_start(config);
  const std::unique_ptr<Model> start = kept_start ? open_model(folder.start()) : family.make(config, data, {});
  const std::unique_ptr<Trainee> trainee = family.train(config, data, *start);
  trainee->training().restore(loaded->checkpoint.update, loaded->checkpoint.tensors);

  OpenedRun opened{.model = trainee->kept()->clone(), .remarks = {}};
  const std::string progress = format("update {} of {}", loaded->checkpoint.update, config.updates);
  opened.model->info().notes["unfinished"] = progress;
  const std::int64_t of = opened.model->info().updates();
  opened.remarks.push_back(format("{} is unfinished: {}; its {} model{} is taken", folder.string(), progress,
                                  of == loaded->checkpoint.update ? "averaged" : "best",
                                  of == loaded->checkpoint.update ? "" : format(", of update {},", of)));
  if (!loaded->warning.empty()) opened.remarks.push_back(loaded->warning);
  const std::string trained_on = RunIdentity::from_notes(loaded->checkpoint.notes).data;
  if (!trained_on.empty() && trained_on != data_digest(data))
    opened.remarks.push_back(format("{}: the data have changed since the run was trained on them", folder.string()));
  return opened;
}

}  // namespace

OpenedRun open_run(const std::filesystem::path& path) {
  const RunFolder folder(path);
  if (!folder.is_run()) return {.model = open_model(path), .remarks = {}};
  folder.remove_unfinished_files();
  OpenedRun opened = folder.finished() ? OpenedRun{open_model(path), {}} : open_unfinished(folder);
  for (std::string& sentence : damaged_records(folder)) opened.remarks.push_back(std::move(sentence));
  return opened;
}

}  // namespace harmonium
