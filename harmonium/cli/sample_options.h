// What `sample` was asked for, and what its two halves share: single Boltzmann machines, whose samplers can be chosen
// (sample.cpp), and all other models, which draw in their own way (sample_generator.cpp).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harmonium/cli/command.h"
#include "harmonium/families/model.h"
#include "harmonium/sessions/sample_session.h"

namespace harmonium::cli {

struct SampleOptions {
  SessionOptions common;
  DrawPlan plan;
  std::string model, out, data, labels;
  std::optional<std::int64_t> asked;  // -n; else 100, or 10 chains
  std::int64_t count = 0;             // what that comes to
  double bin_width = 0.5;
  std::vector<std::string> clamp;
  std::string clamp_label;
  bool diagnose = false;
  // By posing (sample_posed.cpp).
  std::optional<std::int64_t> composite, around;
  std::string sweep;
  double spread = 1;
  // By latent variables (sample_latent.cpp).
  bool traverse = false, grid = false, posterior = false;
  std::optional<std::int64_t> interpolate;
  [[nodiscard]] bool latent() const { return traverse || grid || posterior || interpolate; }
  [[nodiscard]] bool posed() const { return composite || around || !sweep.empty(); }
};

// Whether --clamp names a file, not LAYER=CLASS.
[[nodiscard]] bool names_file(const std::string& clamp);
// Rows of visible values in an NPY file or a text table, NaN or an empty field where a unit is free.
[[nodiscard]] at::Tensor read_held_rows(const std::string& path, std::int64_t width);
// Every row of a file is completed once where the user asks for no number.
void follow_held_rows(SampleOptions& options, std::int64_t width);
// Refuses names that do not end in .png or .npy.
void require_picture_or_array(const std::string& out);

// --clamp-label all: a row of the picture for every class. The exit code.
[[nodiscard]] int sample_all_classes(const SampleOptions& options, const Model& model);
// --composite, --sweep, --around: descriptions changed by hand. The exit code.
[[nodiscard]] int sample_posed(const SampleOptions& options, const Model& model);
// --traverse, --grid, --interpolate, --posterior: what a decoder makes of places of its latent variables. The exit
// code.
[[nodiscard]] int sample_latent(const SampleOptions& options, const Model& model);
void declare_latent(CLI::App& command, SampleOptions& options);
// Writes rows that are no samples, so many in a line of the picture, and says what they are. The exit code.
[[nodiscard]] int write_table(const SampleOptions& options, const Model& model, const at::Tensor& rows,
                              std::int64_t columns, const std::string& what);
// Models that are no single Boltzmann machine. The exit code.
[[nodiscard]] int sample_generator(const SampleOptions& options, const Model& model);

}  // namespace harmonium::cli
