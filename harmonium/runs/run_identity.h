// What a run is trained on and how, kept in its checkpoints: a run that is taken up again must be the same run.
#pragma once

#include <map>
#include <string>

#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"

namespace harmonium {

struct RunIdentity {
  std::string data;    // a digest of training and validation data as they were read, before anything is drawn
  std::string config;  // the lines of config.toml that shape the model
  int threads = 0;     // on a CPU sums are rounded in another order with another number

  [[nodiscard]] std::map<std::string, std::string> notes() const;
  // Empty where a checkpoint of an older version does not tell.
  [[nodiscard]] static RunIdentity from_notes(const std::map<std::string, std::string>& notes);
};

[[nodiscard]] std::string data_digest(const RunData& data);
// `config_text` is config.toml; `data` what data_digest() has given.
[[nodiscard]] RunIdentity identify_run(const std::string& config_text, std::string data, const RunConfig& config);

// What a person has allowed to be different.
struct AcceptedChanges {
  bool data = false, config = false;
  bool updates = false;  // another length of the run
};

// Fails, saying what is different and what to do about it, where `now` is another run than the one that was `before`;
// `where` names the run folder. Returns a warning, or nothing to say (empty).
[[nodiscard]] std::string require_same_run(const RunIdentity& before, const RunIdentity& now,
                                           const AcceptedChanges& accepted, const std::string& where);

}  // namespace harmonium
