// How good a model is, and what it draws, by the code of the tool's commands `evaluate` and `sample`.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "harmonium/likelihood/judgement.h"
#include "harmonium/likelihood/judging.h"
#include "harmonium/sessions/sample_session.h"
#include "model.h"

namespace harmonium::python {

namespace py = pybind11;

// Options by name; those that are not there keep the tool's defaults. Unknown names fail.
[[nodiscard]] EstimationOptions estimation_from(const py::dict& options);

struct Judgement {
  Estimate value;
  Estimate log_z;
  std::optional<Estimate> lower = {};        // of the log-likelihood, by RAISE
  std::optional<Estimate> upper_log_z = {};  // where a sandwich was asked for
  std::int64_t rows = 0;
  std::string binarization = {}, verdict = {};
  harmonium::Judgement found = {};  // whether the value is trusted, and what it lies between
};

// Who waits: told (what, done, total), and given sentences.
struct JudgeHooks {
  int threads = 0;
  std::function<void(const std::string& what, std::int64_t done, std::int64_t total)> show = {};
  std::function<void(const std::string& sentence)> say = {};
};

// Log-likelihood of data, of data and label where the model has one. Of a stack: the bound of its belief net.
[[nodiscard]] Judgement judge(const PyModel& model, const Dataset& data, const std::string& binarize,
                              const EstimationOptions& options, const JudgeHooks& hooks);
[[nodiscard]] Estimate log_z(const PyModel& model, const EstimationOptions& options, const JudgeHooks& hooks);
// The bound of a belief net for each row, one draw of its hidden units, up to the top machine's log Z.
[[nodiscard]] at::Tensor belief_net_log_f(const PyModel& model, const at::Tensor& rows, std::uint64_t seed);

struct SampleRequest {
  std::int64_t count = 0, sweeps = DrawPlan().sweeps;
  std::string sampler = SamplerOptions().name;
  bool means = false;
  std::optional<std::int64_t> label;  // the class that is held, where the model has a label
  std::uint64_t seed = 0;
  int threads = 0;
};
[[nodiscard]] at::Tensor sample(const PyModel& model, const SampleRequest& request);

}  // namespace harmonium::python
