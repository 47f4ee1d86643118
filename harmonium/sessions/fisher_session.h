// A look at the Fisher information of a model, with progress: what `fisher` and experiments of kind "fisher" run.
#pragma once

#include <filesystem>
#include <string>

#include "harmonium/families/machine_file.h"
#include "harmonium/report/fisher_report.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct FisherOptions {
  std::string method = "auto";  // exact, sampled
  double damping = 0;           // 0: 1e-6 for exact, 1e-3 for sampled
  std::vector<std::int64_t> ranks = {50, 200};
  std::int64_t eigenvectors = 12;  // shown as pictures
  std::int64_t spectrum = 200;     // eigenvalues, where not all can be had
  bool approximations = true;      // compare them; false: spectrum and eigenvectors only
  std::int64_t random_draws = 10;
  std::int64_t samples = 4000, sweeps = 1000;
  std::uint64_t seed = 0;
};

[[nodiscard]] FisherResult look_at_fisher(const std::string& name, const TrainedMachine& model,
                                          const FisherOptions& options, const SessionOptions& common);

// fisher.json, fisher.html and eigenvectors.png.
void write_fisher(const std::filesystem::path& folder, const FisherResult& result);
void print_fisher(const FisherResult& result);

}  // namespace harmonium
