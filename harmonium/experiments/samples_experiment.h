// Experiments of kind "samples": several ways to train, seen by what their models draw.
//
// All keys of kind "training" (training_experiment.h), and
//   [samples]  sampler, starts = ["data", "noise"], count, sweeps, trace, rungs, fast_rate, fast_decay, seed,
//              labels (data that tell classes; else the run's own), order = [runs from best to worst]
//   [samples.quick]  any of these, for --quick
// Every run is trained and judged; then chains are started from each place, left alone for `sweeps` steps, watched for
// `trace` steps, and shown. `order` is held against the log-likelihood, and against how far data lie from the
// nearest sample of chains that did not start there: a model that draws blank pages is near to data, but not data to
// it.
#pragma once

#include "harmonium/experiments/experiment_file.h"
#include "harmonium/sessions/sample_session.h"

namespace harmonium {

struct SamplesPlan {
  DrawPlan draw;
  std::vector<std::string> starts = {"data", "noise"}, order;
  std::string labels;
};

// What [samples] says. The rest of the file is a training experiment.
[[nodiscard]] SamplesPlan parse_samples(const ExperimentFile& file, bool quick);

}  // namespace harmonium
