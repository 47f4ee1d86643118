#include "harmonium/sessions/sample_density.h"

#include <fmt/core.h>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/report/report.h"
#include "harmonium/samplers/wang_landau.h"
#include "harmonium/sessions/progress.h"

namespace harmonium {

namespace {

constexpr int quickly_enumerated_bits = 20;
// Steps grow with the square of the range of log f. Models of the digits with 144 units take a minute or two.
constexpr std::int64_t most_units = 200;

std::vector<double> to_vector(const at::Tensor& values) {
  const at::Tensor flat = values.to(at::kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

ReportContent density_page(const DensityOptions& options, const DensityOfStates& found, const std::string& exact) {
  ReportContent page;
  page.title = "Density of states of " + options.model;
  page.subtitle = "Wang–Landau sampling: the number of states at every level of log f, and their share of Z";
  page.headline = {{"log Z", fmt::format("{} nats  ± {}  {}", fixed_number(found.log_z, 3),
                                         short_number(found.standard_error), found.flat ? "estimate" : "not flat")}};
  if (!exact.empty()) page.headline.emplace_back("exact", exact);
  Series states, share;
  states.name = "log number of states";
  states.x = share.x = to_vector(found.level);
  states.y = to_vector(found.log_states);
  share.name = "log of their share of Z";
  share.y = to_vector(found.log_states + found.log_mean - found.log_z);
  Chart chart;
  chart.id = "density";
  chart.title = "Density of states";
  chart.x_label = "log f";
  chart.y_label = "nats";
  chart.series = {states, share};
  chart.caption = "By bins of log f. The share of Z is where samples of the model are found.";
  page.charts = {chart};
  page.reproduce = {fmt::format("harmonium sample {} --sampler wang_landau --seed {} --out {}", options.model,
                                options.seed, options.out)};
  return page;
}

}  // namespace

int sample_density(const TrainedMachine& model, const DensityOptions& options, const SessionOptions& common) {
  require(options.out.ends_with(".html") || options.out.ends_with(".json"),
          "--out {}: wang_landau computes a density of states, not samples; the name must end in .html or .json",
          options.out);
  require(options.bin_width > 0, "--bin-width {}: give a width above 0, in nats", options.bin_width);
  std::int64_t units = 0;
  for (const Layer& layer : model.machine.layers()) units += layer.unit->width();
  require(units <= most_units,
          "wang_landau is for small machines: this one has {} units, and it is too slow beyond {}. Use "
          "`harmonium evaluate` for log Z, and --sampler parallel_tempering for samples",
          units, most_units);
  limit_threads(common, 500.0 * static_cast<double>(units));
  DensityOfStates found;
  {
    ProgressBar bar("wang_landau", common.json);
    found = wang_landau(model.machine, Key(options.seed),
                        {.bin_width = options.bin_width, .progress = [&](std::int64_t done, std::int64_t total) {
                           if (interrupted()) throw RunFailure("interrupted; nothing was written");
                           bar.show(done, total, 0, "at most");
                         }});
  }
  std::string exact;
  nlohmann::ordered_json exact_json = nullptr;
  if (can_enumerate(model.machine, quickly_enumerated_bits)) {
    const double value = exact_log_z(model.machine).value;
    exact_json = value;
    exact = fixed_number(value, 3) + " nats";
  }
  nlohmann::ordered_json result = {{"model", options.model},
                                   {"sampler", "wang_landau"},
                                   {"log_z", found.log_z},
                                   {"standard_error", found.standard_error},
                                   {"exact_log_z", exact_json},
                                   {"flat", found.flat},
                                   {"steps", found.steps},
                                   {"bin_width", options.bin_width},
                                   {"seed", options.seed},
                                   {"level", to_vector(found.level)},
                                   {"log_states", to_vector(found.log_states)},
                                   {"log_mean", to_vector(found.log_mean)},
                                   {"out", options.out}};
  if (!options.unfinished.empty()) result["unfinished"] = options.unfinished;
  if (options.out.ends_with(".json"))
    write_file_atomically(options.out, result.dump(1) + "\n");
  else
    write_report(options.out, density_page(options, found, exact));
  if (common.json) {
    print_json(result);
    return 0;
  }
  fmt::print("log Z  {} ± {} nats{}\n", fixed_number(found.log_z, 3), short_number(found.standard_error),
             exact.empty() ? "" : "; exact " + exact);
  if (!found.flat)
    fmt::print(
        "the histogram was not flat after {} steps: the error may be larger than it says; `harmonium evaluate` asks "
        "otherwise\n",
        found.steps);
  fmt::print("{} levels of log f from {} to {}  {}\n", found.level.size(0), short_number(found.level[0].item<double>()),
             short_number(found.level[-1].item<double>()), options.out);
  return 0;
}

}  // namespace harmonium
