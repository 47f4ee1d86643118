// `sample --sampler wang_landau`: the density of states of a small machine, and the log Z that follows from it.
#pragma once

#include <string>

#include "harmonium/families/machine_file.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct DensityOptions {
  std::string model;  // as the user calls it
  std::string out;    // .html (a page with the curve) or .json
  double bin_width = 0.5;
  std::uint64_t seed = 0;
  std::string unfinished = {};  // "update 2871 of 10000" where the model is of a run that has not ended
};

// Returns the exit code.
int sample_density(const TrainedMachine& model, const DensityOptions& options, const SessionOptions& common);

}  // namespace harmonium
