#include "harmonium/cli/stack_commands.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "harmonium/core/error.h"
#include "harmonium/data/catalog/catalog.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/likelihood/belief_net_bound.h"
#include "harmonium/report/picture.h"
#include "harmonium/samplers/belief_net_samples.h"
#include "harmonium/training/files/stages.h"

namespace harmonium::cli {

namespace {

// Of every row, to average the bound over; more draws make its interval smaller, not its value larger.
constexpr std::int64_t bound_draws = 5;
enum : std::uint64_t { raise_stream = 1, bound_stream = 2 };

std::optional<std::int64_t> held_label(const std::vector<std::string>& clamp) {
  if (clamp.empty()) return std::nullopt;
  const std::string start = "label=", &text = clamp.front();
  const std::string number = text.starts_with(start) ? text.substr(start.size()) : "";
  require(clamp.size() == 1 && !number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
              number.size() < 10,
          "--clamp {}: of a belief net only its class can be held: --clamp label=3", text);
  return std::stoll(number);
}

// What the top machine has for data: draws of the way up, with the rows' classes where it has a label.
// Nothing where it has one and the rows have no classes.
std::optional<TestData> top_data(const StackModel& model, const TestData& test, const at::Tensor& labels,
                                 const Key& key) {
  const MachineStack stack = model.stack();
  const BoltzmannMachine& top = stack.back();
  const std::vector<at::Tensor> drawn = up_sample(stack, test.state.layers[0], key);
  std::vector<at::Tensor> values = {drawn.empty() ? test.state.layers[0] : drawn.back()};
  if (top.observed().size() == 2) {
    if (!labels.defined()) return std::nullopt;
    values.push_back(at::one_hot(labels, top.unit(top.observed()[1]).width()).to(at::kFloat));
  }
  return TestData{.spec = test.spec,
                  .state = top.observe(values),
                  .rows = test.rows,
                  .binarization = test.binarization + ", drawn up",
                  .seed = test.seed};
}

}  // namespace

int sample_stack(const StackSampleOptions& options) {
  require(options.out.ends_with(".npy") || options.out.ends_with(".png"), "--out {}: the name must end in .png or .npy",
          options.out);
  require(options.count >= 1 && options.sweeps >= 1, "--count {} --sweeps {}: both must be at least 1", options.count,
          options.sweeps);
  const StackModel model = read_stack_model(options.model);
  const std::optional<std::int64_t> label = held_label(options.clamp);
  require(!label || model.kind == "classification_dbn",
          "--clamp {}: the belief net knows no classes; train one with --model classification_dbn",
          options.clamp.empty() ? "" : options.clamp.front());
  const BeliefNetSamples drawn =
      sample_belief_net(model.net(), Key(options.seed), options.count, options.sweeps, label);
  const at::Tensor& rows = options.means ? drawn.means : drawn.visible;
  if (options.out.ends_with(".npy"))
    write_npy(options.out, rows);
  else
    write_png(options.out, tile_images(rows, model.image.value_or(near_square_shape(rows.size(1)))));
  if (options.json)
    print_json({{"model", options.model},
                {"sampler", "gibbs in the top machine, then down"},
                {"samples", options.count},
                {"sweeps", options.sweeps},
                {"seed", options.seed},
                {"out", options.out}});
  else
    fmt::print("{} samples after {} sweeps of the top machine  {}\n", options.count, options.sweeps, options.out);
  return 0;
}

Evaluation evaluate_stack(const std::string& path, const JudgingData& data, const JudgeOptions& options,
                          const CommonOptions& common) {
  require(common.device == "cpu", "--device {}: belief nets are judged on the CPU", common.device);
  require(options.data.draws == 1, "--draws {}: the bound of a belief net is found for one draw of the pixels",
          options.data.draws);
  const StackModel model = read_stack_model(path);
  const Model& top = model.machines.back();
  std::optional<TestData> test, upper;
  if (!data.spec.empty()) {
    test = open_test_data(data, options.data, model.machines.front().machine);
    const at::Tensor labels =
        open_dataset(data.spec, {.limit = data.limit, .label_column = options.data.label_column}).labels;
    upper = top_data(model, *test, labels, Key(options.estimation.seed).fold_in(raise_stream));
  }
  JournaledFindings found = find_with_bars(path, top, upper ? &*upper : nullptr, options.estimation, common);
  const Findings& findings = found.findings;
  Evaluation evaluation;
  evaluation.model = path;
  if (const auto note = model.notes.find("updates"); note != model.notes.end())
    evaluation.updates = std::atoll(note->second.c_str());
  if (is_run_folder(path)) evaluation.seconds = seconds_of_run(path);
  evaluation.log_z = findings.log_z;
  evaluation.upper_log_z = findings.upper(options.estimation.gap);
  if (test) {
    const BeliefNet net = model.net();
    const auto bound = [&](const Estimate& log_z) {
      return belief_net_bound(net, test->state.layers[0], log_z, bound_draws,
                              Key(options.estimation.seed).fold_in(bound_stream));
    };
    evaluation.data = test->spec;
    evaluation.n = test->rows;
    evaluation.binarization = test->binarization;
    evaluation.log_likelihood = bound(findings.log_z);
    if (findings.raise_rows > 0) {
      evaluation.raise = bound(*findings.raise);
      evaluation.raise_rows = findings.raise_rows;
    }
  }
  if (evaluation.upper_log_z && findings.log_z.kind == EstimateKind::unbiased_estimate) {
    const Sandwich both{findings.log_z, *evaluation.upper_log_z};
    evaluation.gap = both.gap();
    evaluation.verdict = verdict(both, std::nullopt, options.estimation.gap);
  } else {
    evaluation.verdict = warning(findings.log_z);
  }
  if (test && model.machines.size() > 1)
    evaluation.verdict += (evaluation.verdict.empty() ? "" : "; ") +
                          std::string("the log-likelihood is at least what is said, as far as log Z is right");
  if (is_run_folder(path)) record_evaluation(path, evaluation);
  found.recorded();
  return evaluation;
}

JudgedRun judge_stack_run(const std::filesystem::path& folder, const std::vector<JudgingData>& data,
                          const JudgeOptions& options, const CommonOptions& common) {
  const StackModel model = read_stack_model(folder);
  const auto updates = model.notes.find("updates");
  const std::vector<Evaluation> known = read_evaluations(folder);
  JudgedRun result;
  bool asked = false;
  for (const JudgingData& each : data) {
    const TestData test = open_test_data(each, options.data, model.machines.front().machine);
    const auto same = std::ranges::find_if(known, [&](const Evaluation& old) {
      return old.data == test.spec && old.n == test.rows && old.binarization == test.binarization &&
             old.log_likelihood.has_value() && updates != model.notes.end() &&
             std::to_string(old.updates) == updates->second &&
             (old.log_z.kind == EstimateKind::exact ||
              (old.log_z.chains == options.estimation.chains && old.log_z.betas == options.estimation.betas));
    });
    if (same == known.end()) asked = true;
    result.evaluations.push_back(same != known.end() ? *same : evaluate_stack(folder.string(), each, options, common));
  }
  ++(asked ? result.asked : result.known);
  return result;
}

}  // namespace harmonium::cli
