// Classifying labelled data with a model: what `classify` and experiments have in common.
#pragma once

#include <string>
#include <vector>

#include "harmonium/data/reading.h"
#include "harmonium/report/picture.h"
#include "harmonium/runs/classification_result.h"
#include "harmonium/runs/run_folder.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct ClassifyOptions {
  SessionOptions common;
  std::string model;  // run folder or file
  std::string data;   // empty: the test part of what the model was trained on
  std::string binarize = "auto";
  Reading reading = {};
  bool allow_trained_rows = true;  // else data called test or valid that were trained on are refused
  std::int64_t limit = 0;
  std::uint64_t seed = 0;
};

struct Classified {
  ClassificationResult result;
  Picture confusion;
  Picture mistakes;  // empty where there are none
};

// With a bar. Throws RunFailure when interrupted.
[[nodiscard]] Classified classify_model(ClassifyOptions options);
// In a run folder the answer is recorded and the report made anew; nothing for other models.
void record(const Classified& done, const RunFolder& folder);

}  // namespace harmonium
