// Opening a model for a command: what is remarkable about it is said first.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>

#include "harmonium/families/model.h"

namespace harmonium {

// open_run() (runs/open_run.h), with its remarks on standard error.
[[nodiscard]] std::unique_ptr<Model> open_for_use(const std::filesystem::path& path);

// Adds {"unfinished": "update 2871 of 10000"} where the model is of a run that has not ended.
[[nodiscard]] nlohmann::ordered_json with_standing(nlohmann::ordered_json answer, const Model& model);

// Records an answer that was printed already. Returns the exit code: 1, with a sentence on standard error that says
// why, where it cannot be recorded.
[[nodiscard]] int record_or_say(const std::function<void()>& record);

}  // namespace harmonium
