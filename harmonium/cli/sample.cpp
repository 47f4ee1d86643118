#include <fmt/core.h>

#include <tuple>

#include "harmonium/cli/sample_options.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/report/picture.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/progress.h"
#include "harmonium/sessions/sample_density.h"
#include "harmonium/sessions/sample_session.h"

namespace harmonium::cli {

namespace {

std::string layer_names(const BoltzmannMachine& machine) {
  std::string names;
  for (const Layer& layer : machine.layers()) names += (names.empty() ? "" : ", ") + layer.name;
  return names;
}

// "LAYER=CLASS" holds a one-hot layer at a class; a file holds visible units at its values.
void add_known(const std::string& text, const BoltzmannMachine& machine, KnownUnits& known) {
  if (!names_file(text)) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto found = std::ranges::find(machine.layers(), name, &Layer::name);
    require(found != machine.layers().end(), "--clamp {}: the model has no layer '{}'; it has {}", text, name,
            layer_names(machine));
    require(found->unit->classes() > 0,
            "--clamp {}: layer '{}' ({}) has no classes to choose from; a file can hold visible units", text, name,
            found->unit->spec());
    const auto layer = static_cast<std::size_t>(found - machine.layers().begin());
    const std::int64_t width = machine.unit(layer).width();
    const std::string digits = text.substr(equals + 1);
    require(!digits.empty() && digits.size() < 9 && digits.find_first_not_of("0123456789") == std::string::npos &&
                std::stoll(digits) < width,
            "--clamp {}: '{}' is not a class of layer '{}', which has 0 … {}", text, digits, name, width - 1);
    known[layer] = at::one_hot(at::full({1}, static_cast<std::int64_t>(std::stoll(digits)), at::kLong), width)
                       .to(machine.options());
    return;
  }
  const at::Tensor rows = read_held_rows(text, machine.unit(0).width()).to(machine.scalar_type());
  const std::string complaint = machine.unit(0).complaint(at::nan_to_num(rows));
  require(complaint.empty(), "--clamp {}: {}", text, complaint);
  known[0] = rows.to(machine.device());
}

// How many chains, and how many states of each: one state of many chains where the user does not say.
void share_out(SampleOptions& options, const SamplerKind& kind) {
  DrawPlan& plan = options.plan;
  require(options.asked.value_or(1) >= 1, "-n {}: at least one sample is needed", options.asked.value_or(1));
  require(plan.per_chain >= 0, "--per-chain {}: take at least one state of each chain", plan.per_chain);
  constexpr std::int64_t default_count = 100, default_chains = 10;
  if (kind.single_chain) {
    options.count = options.asked.value_or(default_count);
    require(plan.per_chain == 0 || plan.per_chain == options.count,
            "--per-chain {}: {} is one chain, all {} states are taken of it", plan.per_chain, kind.name, options.count);
    plan.chains = 1;
    plan.per_chain = options.count;
    return;
  }
  if (plan.per_chain == 0) plan.per_chain = 1;
  options.count = options.asked.value_or(plan.per_chain == 1 ? default_count : default_chains * plan.per_chain);
  require(options.count % plan.per_chain == 0, "-n {} cannot be shared out by --per-chain {}; {} can", options.count,
          plan.per_chain, (options.count / plan.per_chain + 1) * plan.per_chain);
  plan.chains = options.count / plan.per_chain;
}

KnownUnits known_units(const SampleOptions& options, const SamplerKind& kind, const BoltzmannMachine& machine) {
  KnownUnits known(machine.layers().size());
  require(options.clamp.empty() || kind.clamps,
          "--clamp {}: units can be held with --sampler gibbs only, and this is {}", options.clamp.front(), kind.name);
  for (const std::string& text : options.clamp) add_known(text, machine, known);
  if (known[0].defined() && known[0].size(0) > 1)
    require(known[0].size(0) == options.plan.chains,
            "--clamp: the file has {} rows, but {} are asked for (-n); without -n there is one for each row",
            known[0].size(0),
            options.plan.chains == options.count ? format("{} samples", options.count)
                                                 : format("{} chains", options.plan.chains));
  return known;
}

// What tells the class of a state: the model's own label layer, labelled rows given, or those of the run.
std::optional<ClassAssigner> class_assigner(const SampleOptions& options, const BoltzmannMachine& machine) {
  if (!options.diagnose || options.labels == "none") return std::nullopt;
  if (!options.labels.empty()) return ClassAssigner(machine, {.spec = options.labels});
  if (const auto layer = find_label_layer(machine)) return ClassAssigner(machine, *layer);
  try {
    if (const auto source = find_data(options.data, options.model)) return ClassAssigner(machine, *source);
  } catch (const Error&) {
    // Nobody has asked for classes: data without labels, or that have moved, are no mistake.
  }
  return std::nullopt;
}

void write_samples(const SampleOptions& options, const TrainedMachine& model, const at::Tensor& visible) {
  if (options.out.ends_with(".npy")) {
    write_file_atomically(options.out, encode_npy(visible));
    return;
  }
  const DrawPlan& plan = options.plan;
  TileOptions tiles;
  std::tie(tiles.black, tiles.white) = model.shown_range();
  if (plan.chains > 1 && plan.per_chain > 1) tiles.columns = plan.per_chain;  // a chain per row
  write_png(options.out, tile_images(visible, model.image.value_or(near_square_shape(visible.size(1))), tiles));
}

int sample(SampleOptions options) {
  watch_interrupts();
  const std::unique_ptr<Model> opened = open_for_use(options.model)->to(find_device(options.common.device));
  if (opened->generator() == nullptr) cannot(*opened, options.model, "draws no rows");
  if (options.latent()) return sample_latent(options, *opened);
  if (options.posed()) return sample_posed(options, *opened);
  if (options.clamp_label == "all") return sample_all_classes(options, *opened);
  if (!options.clamp_label.empty()) {
    require(options.clamp_label.size() < 9 && options.clamp_label.find_first_not_of("0123456789") == std::string::npos,
            "--clamp-label {}: give the number of a class, or all", options.clamp_label);
    options.clamp.push_back("label=" + options.clamp_label);
  }
  if (opened->machine() == nullptr) {
    if (opened->generator()->completes()) follow_held_rows(options, opened->visible().width());
    return sample_generator(options, *opened);
  }
  const TrainedMachine& model = *opened->machine();
  const BoltzmannMachine& machine = model.machine;
  if (options.plan.sampler.name == "wang_landau") {
    require(options.clamp.empty(), "--clamp {}: units can be held with --sampler gibbs only, and this is wang_landau",
            options.clamp.front());
    return sample_density(model,
                          {.model = options.model,
                           .out = options.out.empty() ? "density.html" : options.out,
                           .bin_width = options.bin_width,
                           .seed = options.plan.seed,
                           .unfinished = opened->info().note("unfinished")},
                          options.common);
  }
  if (options.out.empty()) options.out = "samples.png";
  const SamplerKind& kind = find_sampler(options.plan.sampler.name);
  options.plan.sampler.name = kind.name;
  if (kind.clamps) follow_held_rows(options, machine.unit(0).width());
  share_out(options, kind);
  if (!options.diagnose) options.plan.trace = 0;
  check(options.plan);
  require_picture_or_array(options.out);
  const KnownUnits known = known_units(options, kind, machine);
  limit_threads(options.common, static_cast<double>(options.plan.chains * machine.parameters().dimension()));

  std::optional<SteeringData> data;
  if (needs_data(options.plan) || !options.data.empty()) {
    const auto source = find_data(options.data, options.model);
    require(source.has_value(),
            "{} needs the data that the model was trained on, and {} lies in no run folder that would name them: give "
            "--data",
            options.plan.start == "data" ? "--start data" : "--sampler " + options.plan.sampler.name, options.model);
    data = open_steering_data(*source, machine);
  }
  const std::optional<ClassAssigner> classes = class_assigner(options, machine);
  const Drawn drawn = draw(model, options.plan, data ? &data->state : nullptr, classes ? &*classes : nullptr, known,
                           "sampling", options.common.json);
  write_samples(options, model, drawn.visible);
  const std::int64_t sweeps = kind.markov ? options.plan.sweeps : 0;
  if (options.common.json) {
    nlohmann::ordered_json result = {{"model", options.model},    {"sampler", kind.name},
                                     {"samples", options.count},  {"chains", options.plan.chains},
                                     {"sweeps", sweeps},          {"start", options.plan.start},
                                     {"seed", options.plan.seed}, {"out", options.out}};
    if (data) result["data"] = {{"name", data->spec}, {"rows", data->rows}, {"binarization", data->binarization}};
    if (drawn.diagnosis)
      result["diagnosis"] = drawn.diagnosis->to_json();
    else
      result["notes"] = to_json(drawn.notes);
    print_json(with_standing(result, *opened));
    return 0;
  }
  for (const std::string& sentence : drawn.diagnosis ? drawn.diagnosis->sentences() : drawn.notes.sentences)
    fmt::print("{}\n", as_flags(sentence));
  if (kind.markov)
    fmt::print("{} samples after {} sweeps  {}\n", options.count, sweeps, options.out);
  else
    fmt::print("{} independent samples  {}\n", options.count, options.out);
  return 0;
}

std::string sampler_help() {
  std::string text;
  for (const SamplerKind& kind : sampler_kinds())
    text += format("{}{}{} ({}); ", kind.name, *kind.alias == '\0' ? "" : " or ", kind.alias, kind.help);
  return text + "wang_landau (density of states and log Z of a small model)";
}

}  // namespace

void add_sample(CLI::App& app) {
  auto options = std::make_shared<SampleOptions>();
  options->common.devices = SessionOptions::Devices::any;
  options->plan.per_chain = 0;
  options->plan.trace = 1000;
  DrawPlan& plan = options->plan;
  CLI::App* command = add_command(
      app, "sample", "Draw from a model, and see how well its chains mix",
      "  harmonium sample runs/digits-1 -n 100 --out samples.png\n"
      "  harmonium sample runs/joint --clamp-label 3 --means --out threes.png\n"
      "  harmonium sample runs/joint --clamp-label all --means --out classes.png  # a row for each class\n"
      "  harmonium sample runs/mnist --clamp halves.npy --out filled.npy\n"
      "  harmonium sample runs/mnist --sampler pt --diagnose         # does it mix?\n"
      "  harmonium sample runs/mnist --per-chain 20 --every 50       # a row of the picture is a chain\n"
      "  harmonium sample runs/mnist --sampler pt --device cuda\n"
      "  harmonium sample runs/dbn --start noise --sweeps 20 --per-chain 20 --every 20 --means\n"
      "  harmonium sample runs/tiny --sampler wang_landau --out density.html\n"
      "  harmonium sample runs/vae --traverse --out latents.png               # what each latent variable does\n"
      "  harmonium sample runs/vae --interpolate 8 --data digits:test\n"
      "  harmonium sample runs/capsules --composite 3 --sweep distortion:2   # from −2 to 2 deviations\n"
      "  harmonium sample runs/capsules --around 7 --spread 0.5              # like row 7 of the test data\n",
      options->common, [options] { return sample(*options); });
  command->add_option("model", options->model, "run folder, .safetensors, or .npz")->required();
  command->add_option("--sampler", plan.sampler.name, sampler_help())->capture_default_str();
  command->add_option(
      "-n,--count", options->asked,
      "how many samples (default: 100, or 10 chains; with --clamp FILE one for each row); vrnn: sequences (10)");
  command->add_option("--sweeps", plan.sweeps, "steps before they are taken")->capture_default_str();
  command->add_option(
      "--per-chain,--frames", plan.per_chain,
      "states taken of each chain, one chain per row of the picture (default: 1; herding: all); vrnn: frames of each "
      "sequence, of which there are -n (default: as long as those of the data)");
  command->add_option("--every", plan.every, "steps between states of one chain")->capture_default_str();
  command
      ->add_option("--start", plan.start,
                   "biases: each unit by its own bias; noise: a coin for each; data: rows of the data")
      ->capture_default_str();
  command->add_flag("--diagnose", options->diagnose,
                    "watch the chains: autocorrelation times, effective samples per second, changes of class, and what "
                    "the sampler says of itself");
  command->add_option("--trace", plan.trace, "diagnose: steps that are watched")->capture_default_str();
  command->add_option("--labels", options->labels,
                      "diagnose: labelled data; a state has the class of the nearest row (default: the model's label "
                      "layer, or the data of the run; none)");
  command->add_option(
      "--data", options->data,
      "herding, rates_fpcd, --start data: the data (default: those the run has learnt); --around, --traverse, --interpolate, "
      "--posterior: whose rows");
  command->add_option("--rungs", plan.sampler.rungs,
                      "parallel_tempering, tempered_transitions: inverse temperatures, both ends counted (default: 20, "
                      "50)");
  command->add_option("--fast-rate", plan.sampler.fast_rate, "rates_fpcd: learning rate of the fast weights (0: gibbs)")
      ->capture_default_str();
  command->add_option("--fast-decay", plan.sampler.fast_decay, "rates_fpcd: what is left of them after a step")
      ->capture_default_str();
  command->add_option("--bin-width", options->bin_width, "wang_landau: nats of log f")->capture_default_str();
  command->add_option("--clamp", options->clamp,
                      "gibbs, autoregressive models: hold units: LAYER=CLASS (label=3), or a .npy or .csv of visible "
                      "values, NaN or empty where free");
  command->add_option("--clamp-label", options->clamp_label,
                      "gibbs, models with labels: N, short for --clamp label=N; all: -n samples shared out among all "
                      "classes (default: ten of each), a row of the picture for every class");
  command->add_option("--composite", options->composite,
                      "capsules: this composite, a line for each number of its pose that can be moved");
  command->add_option("--sweep", options->sweep,
                      "capsules: move intensity, t0, t1, s0, s1, shear, rotation or distortion:N from −2 to 2 standard "
                      "deviations (of --composite; without it a line for each)");
  command->add_option("--around", options->around, "capsules: draw row N of the data in poses near its own");
  command->add_option("--spread", options->spread, "--around: how far, in usual standard deviations")
      ->capture_default_str();
  declare_latent(*command, *options);
  command->add_flag("--means", plan.means, "give E[v | h] instead of drawn values");
  command->add_option("--out", options->out,
                      "x.png or x.npy (default: samples.png); wang_landau: x.html or x.json (default: density.html)");
  command->add_option("--seed", plan.seed, "seed of the chains")->capture_default_str()->check(not_negative());
}

}  // namespace harmonium::cli
