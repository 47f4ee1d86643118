// kind = "reconstruction": autoencoders, chosen by validation data, beside principal components of as many numbers.
// judged_runs.h has the keys of its file; `at_most` is squared error per row.
#include <fmt/core.h>

#include <algorithm>

#include "harmonium/data/catalog/catalog.h"
#include "harmonium/experiments/judged_runs.h"
#include "harmonium/experiments/results_file.h"
#include "harmonium/families/net_file.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/resolve.h"
#include "harmonium/measures/principal_components.h"
#include "harmonium/sessions/reconstruction_error.h"
#include "harmonium/training/net_error.h"

namespace harmonium {

namespace {

JudgedRuns parse_reconstruction(const ExperimentFile& file, bool quick) {
  RunConfig config;
  config.model = "autoencoder";
  return parse_judged_runs(file, quick, config);
}

struct RebuiltRun : ExperimentRun {
  ReconstructionError error = {};
  Picture picture = {};

  [[nodiscard]] std::string verdict() const { return verdict_of(error.mean); }
};

struct LinearCode {
  std::int64_t numbers = 0;
  ReconstructionError error = {};
};

std::string with_interval(const ReconstructionError& error) {
  return format("{:.3f} [{:.3f}, {:.3f}]", error.mean, error.low, error.high);
}

nlohmann::ordered_json squared_rows(const std::vector<RebuiltRun>& runs, const std::vector<LinearCode>& linear,
                                    const std::string& test) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  const auto add = [&](const std::string& what, const ReconstructionError& error, const RebuiltRun* run) {
    const bool expects = run != nullptr && run->expected != nullptr;
    rows.push_back({{"what", format("{}: squared error per row on {} ({} rows)", what, test, error.rows)},
                    {"value", error.mean},
                    {"low", error.low},
                    {"high", error.high},
                    {"kind", "mean"},
                    {"expected", expects ? ordered_json(run->verdict()) : ordered_json(nullptr)},
                    {"source", expects ? ordered_json(run->expected->source) : ordered_json(nullptr)},
                    {"run", run != nullptr ? ordered_json(run->name) : ordered_json("pca")},
                    {"data", test},
                    {"updates", run != nullptr ? ordered_json(run->config.updates) : ordered_json(nullptr)},
                    {"seconds", run != nullptr ? ordered_json(run->seconds) : ordered_json(nullptr)}});
  };
  for (const RebuiltRun& run : runs)
    add(format("{} ({}), {:.0f} s of training", run.name, run.config.layers, run.seconds), run.error, &run);
  for (const LinearCode& code : linear)
    add(format("{} principal components of the training rows", code.numbers), code.error, nullptr);
  return rows;
}

ReportContent reconstruction_report(const std::vector<RebuiltRun>& runs, const std::vector<LinearCode>& linear) {
  ReportContent content;
  Table table{.id = "errors",
              .title = "Squared error per row of test data",
              .caption = "Means with 95 % intervals over rows. Principal components are the best linear code.",
              .header = {"code", "layers", "squared error", "expected", "training"},
              .rows = {}};
  for (const RebuiltRun& run : runs) {
    content.headline.emplace_back(run.name, format("{:.2f}", run.error.mean));
    table.rows.push_back(
        {run.name, run.config.layers, with_interval(run.error), run.verdict(), format("{:.0f} s", run.seconds)});
    content.galleries.push_back({.id = "pairs-" + run.name,
                                 .title = run.name,
                                 .caption = "Test rows, and below each its reconstruction.",
                                 .picture = run.picture});
  }
  for (const LinearCode& code : linear)
    table.rows.push_back({format("{} principal components", code.numbers), "", with_interval(code.error), "", ""});
  content.tables.push_back(std::move(table));
  return content;
}

}  // namespace

int reproduce_reconstruction(const ExperimentFile& file, const ReproduceOptions& options) {
  JudgedRuns experiment = parse_reconstruction(file, options.quick);
  place_runs(experiment.runs, options.common);
  std::vector<RebuiltRun> runs = prepare_runs<RebuiltRun>(experiment, options.out);
  for (const RebuiltRun& run : runs)
    require(find_family(run.config.model).has("code"), "{}: run '{}' is a {}, which cannot reconstruct data",
            file.source, run.name, run.config.model);
  begin_experiment(file, options, experiment.time);
  const Dataset test = open_dataset(experiment.test, {});
  std::vector<LinearCode> linear;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    RebuiltRun& run = runs[i];
    if (!train_if_needed(run, i, runs.size(), options.common)) return stopped_experiment(options);
    const RunData data = resolve(run.config);
    const TrainedNet model = read_net(run.folder);
    run.error =
        reconstruction_error(test, data.binarization, [&](const at::Tensor& rows) { return model.net.forward(rows); });
    const at::Tensor shown = shown_values(test.first(40), data.binarization);
    run.picture = reconstruction_picture(shown, model.net.forward(shown),
                                         model.image.value_or(near_square_shape(model.net.inputs())));
    const std::int64_t numbers = model.net.layers()[model.net.code().value()].outputs;
    if (std::ranges::find(linear, numbers, &LinearCode::numbers) == linear.end()) {
      const PrincipalComponents components(data.train, numbers);
      linear.push_back({numbers, reconstruction_error(test, data.binarization, [&](const at::Tensor& rows) {
                          return components.reconstruct(rows);
                        })});
    }
    if (interrupted()) return stopped_experiment(options);
  }
  const auto found =
      experiment_results(file, options, squared_rows(runs, linear, experiment.test), runs.front().config.seed);
  return publish_experiment(file, options, found, reconstruction_report(runs, linear), [&] {
    for (const RebuiltRun& run : runs)
      fmt::print("{:<16} {:<26} {}\n", run.name, with_interval(run.error), run.verdict());
    for (const LinearCode& code : linear)
      fmt::print("{:<16} {:<26}\n", format("pca, {}", code.numbers), with_interval(code.error));
  });
}

}  // namespace harmonium
