// The folder of a run: where its files are, and what belongs to it. Nothing else spells their names.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace harmonium {

class RunFolder {
 public:
  // Implicit: a path names its run.
  RunFolder(std::filesystem::path path) : path_(std::move(path)) {}
  RunFolder(const std::string& path) : path_(path) {}

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string string() const { return path_.string(); }

  [[nodiscard]] std::filesystem::path config() const { return path_ / "config.toml"; }  // resolved
  [[nodiscard]] std::filesystem::path model() const { return path_ / "model.safetensors"; }
  [[nodiscard]] std::filesystem::path start() const { return path_ / "start.safetensors"; }  // before the first update
  [[nodiscard]] std::filesystem::path trained_rows() const { return path_ / "trained_rows.safetensors"; }
  [[nodiscard]] std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  [[nodiscard]] std::filesystem::path checkpoints() const { return path_ / "checkpoint"; }
  [[nodiscard]] std::filesystem::path snapshots() const { return path_ / "snapshots"; }
  [[nodiscard]] std::filesystem::path evaluations() const { return path_ / "evaluations.jsonl"; }
  [[nodiscard]] std::filesystem::path classifications() const { return path_ / "classifications.jsonl"; }
  [[nodiscard]] std::filesystem::path retrievals() const { return path_ / "retrievals.jsonl"; }
  [[nodiscard]] std::filesystem::path mistakes() const { return path_ / "mistakes.png"; }
  [[nodiscard]] std::filesystem::path report() const { return path_ / "report.html"; }
  [[nodiscard]] std::filesystem::path journals() const { return path_ / "evaluating"; }  // unfinished estimates
  [[nodiscard]] std::filesystem::path lock() const { return path_ / "run.lock"; }        // runs/run_lock.h
  [[nodiscard]] std::filesystem::path pretraining() const { return path_ / "pretraining"; }
  // Runs of their own before this one that are there, in order: layer-1, … or pretraining/layer-1, ….
  [[nodiscard]] std::vector<RunFolder> stages() const;

  [[nodiscard]] bool is_run() const;    // a run was begun here
  [[nodiscard]] bool finished() const;  // and has come to its end
  // Nothing is here but what a run leaves that was killed before its first file was whole.
  [[nodiscard]] bool is_blank() const;

  void create() const;  // with the folders above it; throws RunFailure
  // Half-written files of processes that are no more, here and in stages. Those of living ones stay.
  void remove_unfinished_files() const;
  // All that a run writes; anything else that a person has put here stays. Throws RunFailure.
  void remove_run() const;

 private:
  std::filesystem::path path_;
};

}  // namespace harmonium
