#include "harmonium/sessions/fisher_session.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>

#include <fstream>

#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/likelihood/exact.h"
#include "harmonium/models/exact_fisher.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/sessions/progress.h"

namespace harmonium {

namespace {

constexpr double gibibyte = 1 << 30;

// Bytes that can be had without swapping; none where the system does not say.
std::optional<double> available_memory() {
  std::ifstream lines("/proc/meminfo");
  std::string key, unit;
  for (double kibibytes = 0; lines >> key >> kibibytes >> unit;)
    if (key == "MemAvailable:") return kibibytes * 1024;
  return std::nullopt;
}

// A bar per stage; stages come one after the other.
class StagedBar {
 public:
  explicit StagedBar(bool silent) : silent_(silent) {}
  void show(const std::string& stage, std::int64_t done, std::int64_t total) {
    if (interrupted()) throw RunFailure("interrupted; nothing was written");
    if (stage != stage_) {
      bar_.emplace(stage, silent_);
      stage_ = stage;
    }
    bar_->show(done, total, 0, "");
  }

 private:
  bool silent_;
  std::string stage_;
  std::optional<ProgressBar> bar_;
};

void announce(const FisherPlan& plan, const BoltzmannMachine& machine, const SessionOptions& common) {
  // Measured with AVX-512: 10 to 20 billion multiplications a second and core in these shapes. Eigenvectors and the
  // comparison take longer than G itself where there are many statistics.
  constexpr double per_second = 1e10;
  const double minutes = plan.products / per_second / at::get_num_threads() / 60;
  // Beside G: its damped copy, its factor and one block of rows.
  const double bytes = plan.bytes + 2 * 8.0 * static_cast<double>(plan.dimension * plan.dimension);
  if (!common.json)
    fmt::print(stderr, "exact: {}, {} statistics; needs {:.1f} GiB and about {:.0f} min for G\n",
               plan.states.describe(machine), plan.dimension, bytes / gibibyte, std::ceil(minutes));
  if (const auto available = available_memory())
    require(bytes <= *available,
            "the exact Fisher information of {} statistics needs {:.1f} GiB and {:.1f} GiB are free; use --method "
            "sampled",
            plan.dimension, bytes / gibibyte, *available / gibibyte);
}

FisherResult exactly(const TrainedMachine& model, const FisherOptions& options, const SessionOptions& common) {
  const BoltzmannMachine& machine = model.machine;
  if (common.device != "cpu" && !common.json)
    fmt::print(stderr, "states are enumerated on the CPU; --device {} applies to --method sampled\n", common.device);
  const FisherPlan plan = plan_exact_fisher(machine);
  announce(plan, machine, common);
  StagedBar bar(common.json);
  ExactFisher fisher = exact_fisher(
      machine, fisher_bits, [&](std::int64_t done, std::int64_t total) { bar.show("enumerating", done, total); });
  FisherResult result{.exact = true,
                      .dimension = fisher.mean.dimension(),
                      .damping = options.damping > 0 ? options.damping : 1e-6,
                      .states = plan.states.states};
  const DenseStatistics statistics(machine.topology(), fisher.mean, fisher.covariance);
  bar.show("eigenvectors", 0, 1);
  const std::int64_t most = std::ranges::max(options.ranks) + 1;
  const Eigenpairs pairs = statistics.leading_eigenpairs(
      std::min(result.dimension, std::max({options.spectrum, options.eigenvectors, most})));
  const Eigenpairs known = statistics.known_eigenpairs();
  result.eigenvalues = known.values;
  result.covariance_fractions = covariance_fractions(machine.topology(), fisher.mean, known.vectors);
  result.vectors = pairs.vectors.narrow(1, 0, std::min(options.eigenvectors, pairs.values.size(0))).clone();
  result.mean = fisher.mean;
  if (!options.approximations) return result;
  const FisherStudyOptions study{
      .damping = result.damping, .ranks = options.ranks, .random_draws = options.random_draws, .seed = options.seed};
  result.approximations = compare_approximations(
      statistics, machine.topology(), study,
      [&](const std::string& stage, std::int64_t done, std::int64_t total) { bar.show(stage, done, total); });
  return result;
}

FisherResult sampled(const TrainedMachine& model, const FisherOptions& options, const SessionOptions& common) {
  const BoltzmannMachine machine = model.machine.to(find_device(common.device));
  require(options.samples >= 20, "--samples {}: at least 20 are needed, half to fit and half to judge",
          options.samples);
  const std::int64_t dimension = machine.parameters().dimension(), half = options.samples / 2;
  const std::int64_t spectrum = std::min(options.spectrum, half - 1);
  const double bytes = 4.0 * static_cast<double>(dimension) * static_cast<double>(2 * spectrum + 20) +
                       16.0 * static_cast<double>(half) * static_cast<double>(half);
  if (const auto available = available_memory())
    require(bytes <= *available,
            "{} eigenvectors of {} statistics need {:.1f} GiB and {:.1f} GiB are free; lower --spectrum or --rank",
            spectrum, dimension, bytes / gibibyte, *available / gibibyte);
  limit_threads(common, static_cast<double>(options.samples * dimension));
  StagedBar bar(common.json);
  const Key key(options.seed);
  State state = machine.independent_sample(key.fold_in(0), 2 * half);
  for (std::int64_t sweep = 0; sweep < options.sweeps; ++sweep) {
    gibbs(machine, state, key.fold_in(1).fold_in(static_cast<std::uint64_t>(sweep)));
    bar.show("sampling", sweep + 1, options.sweeps);
  }
  const auto part = [&](std::int64_t first) {
    State rows;
    for (const at::Tensor& layer : state.layers) rows.layers.push_back(layer.narrow(0, first, half));
    const auto drawn = [machine, rows] { return machine.particles(rows); };
    // Drawn states everywhere: the approximations are judged on drawn states too.
    return std::make_shared<ParticleStatistics>(machine.topology(), machine.parameters(),
                                                ParticleSource{.drawn = drawn, .expected = drawn});
  };
  const auto fit = part(0), fresh = part(half);
  // A dense covariance of so many units fitted to fewer draws than this is mostly noise, and looks worse than it is.
  if (const std::int64_t units = fit->unary_mean().size(0); half < 10 * units && !common.json)
    fmt::print(
        stderr,
        "only {} draws to fit {} units: FANG's dense covariance will look worse than it is; --samples {} or more "
        "is better\n",
        half, units, 20 * units);
  FisherResult result{.exact = false,
                      .dimension = dimension,
                      .damping = options.damping > 0 ? options.damping : 1e-3,
                      .samples = 2 * half,
                      .sweeps = options.sweeps};
  bar.show("eigenvectors", 0, 1);
  const Eigenpairs pairs = fit->leading_eigenpairs(spectrum);
  result.mean = fit->mean();
  result.eigenvalues = pairs.values;
  result.covariance_fractions = covariance_fractions(machine.topology(), result.mean, pairs.vectors);
  result.vectors = pairs.vectors.narrow(1, 0, std::min(options.eigenvectors, pairs.values.size(0))).clone();
  if (!options.approximations) return result;
  FisherStudyOptions study{.damping = result.damping, .ranks = {}, .random_draws = 1, .seed = options.seed};
  for (const std::int64_t rank : options.ranks)
    if (rank < half) study.ranks.push_back(rank);
  result.approximations = compare_approximations(
      fit, *fresh, machine.topology(), machine.parameters(), study,
      [&](const std::string& stage, std::int64_t done, std::int64_t total) { bar.show(stage, done, total); });
  return result;
}

}  // namespace

FisherResult look_at_fisher(const std::string& name, const TrainedMachine& model, const FisherOptions& options,
                            const SessionOptions& common) {
  require(options.method == "auto" || options.method == "exact" || options.method == "sampled",
          "unknown method '{}'; there are: auto, exact, sampled", options.method);
  require(options.damping >= 0, "--damping must not be negative, not {}", options.damping);
  require(options.eigenvectors >= 1, "--eigenvectors must be at least 1, not {}", options.eigenvectors);
  require(options.spectrum >= 1, "--spectrum must be at least 1, not {}", options.spectrum);
  require(options.random_draws >= 1, "--random-draws must be at least 1, not {}", options.random_draws);
  for (const std::int64_t rank : options.ranks) require(rank >= 1, "--rank must be at least 1, not {}", rank);
  require(!model.machine.topology().edges.empty(), "{}: the model has no edges, so there is nothing to approximate",
          name);
  const bool exact =
      options.method == "exact" || (options.method == "auto" && can_enumerate(model.machine, fisher_bits));
  FisherResult result = exact ? exactly(model, options, common) : sampled(model, options, common);
  for (at::Tensor* each : {&result.eigenvalues, &result.covariance_fractions, &result.vectors}) *each = on_cpu(*each);
  result.mean = result.mean.to(at::kCPU);
  result.model = name;
  result.seed = options.seed;
  result.topology = model.machine.topology();
  result.image = model.image;
  return result;
}

void write_fisher(const std::filesystem::path& folder, const FisherResult& result) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw RunFailure(format("cannot create the folder {}: {}", folder.string(), failure.message()));
  write_file_atomically(folder / "fisher.json", to_json(result).dump(1) + "\n");
  write_png(folder / "eigenvectors.png", eigenvector_picture(result));
  write_report(folder / "fisher.html", fisher_report(result));
}

void print_fisher(const FisherResult& result) {
  fmt::print("{}: {} statistics, {}\n\n", result.model, result.dimension,
             result.exact ? fmt::format("exact, {:.0f} states enumerated", result.states)
                          : fmt::format("{} draws after {} sweeps", result.samples, result.sweeps));
  if (!result.approximations.empty())
    fmt::print("{:<44} {:>12} {:>22} {:>11}\n", "approximation", result.exact ? "KL, nats" : "KL − diagonal", "",
               "parameters");
  for (const Approximation& one : result.approximations)
    fmt::print("{:<44} {:>12.1f} {:>22} {:>11}\n", describe_approximation(one.name), one.divergence,
               one.low == one.high ? "" : fmt::format("[{:.1f}, {:.1f}]", one.low, one.high), one.parameters);
  std::string values;
  for (std::int64_t k = 0; k < std::min<std::int64_t>(8, result.eigenvalues.size(0)); ++k)
    values += fmt::format(" {:.2f}", result.eigenvalues[k].item<double>());
  fmt::print("\nlargest eigenvalues {} …\n", values);
}

}  // namespace harmonium
