// A journal (likelihood/journal.h) in a folder: NAME.safetensors for each name, replaced whole.
//
// The folder carries a digest of the question, so that work for another question is never taken up. It is made with the
// first thing kept and is removed by finish(). A full disk stops nobody: what cannot be kept is told at the end.
#pragma once

#include <chrono>
#include <filesystem>

#include "harmonium/core/moments.h"
#include "harmonium/likelihood/journal.h"

namespace harmonium {

class FolderJournal final : public Journal {
 public:
  FolderJournal(std::filesystem::path folder, std::chrono::duration<double> interval)
      : folder_(std::move(folder)), interval_(interval) {}

  [[nodiscard]] std::optional<NamedTensors> find(const std::string& name) override;
  void keep(const std::string& name, const NamedTensors& tensors) override;
  [[nodiscard]] bool due() override;
  // The work is done and its result is safe elsewhere.
  void finish();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Why unfinished work could not be kept, the first time; empty where it could. The work itself goes on.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  std::filesystem::path folder_;
  std::chrono::duration<double> interval_;
  std::string trouble_ = {};
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Sixteen hexadecimal digits that stand for a model's parameters and a text that says what is asked about it.
[[nodiscard]] std::string question_digest(const Moments& parameters, const std::string& question);

}  // namespace harmonium
