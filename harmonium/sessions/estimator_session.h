// A study of gradient estimators with progress: what `gradients` and experiments of kind "estimators" run.
#pragma once

#include <filesystem>
#include <string>

#include "harmonium/data/reading.h"
#include "harmonium/report/estimator_report.h"
#include "harmonium/sessions/session.h"

namespace harmonium {

struct EstimatorSessionOptions {
  std::string data;       // empty: the test part of what the model was trained on
  std::int64_t rows = 5;  // drawn at random
  Reading reading = {};
  EstimatorStudyOptions study = {};
};

// Of a trained model. Fails, saying what the model can do instead, where it has no latent variables to infer.
[[nodiscard]] EstimatorResult look_at_estimators(const std::string& path, const EstimatorSessionOptions& options,
                                                 const SessionOptions& common);
// Of a net at hand, on these rows.
[[nodiscard]] EstimatorResult look_at_estimators(const std::string& model, const StudiedNet& net,
                                                 const std::string& data, const at::Tensor& rows,
                                                 const EstimatorStudyOptions& options, const SessionOptions& common);

// estimators.json and estimators.html.
void write_estimators(const std::filesystem::path& folder, const EstimatorResult& result);
void print_estimators(const EstimatorResult& result);

}  // namespace harmonium
