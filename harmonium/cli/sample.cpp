#include <fmt/core.h>

#include "harmonium/cli/command.h"
#include "harmonium/cli/progress.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/report/picture.h"
#include "harmonium/samplers/gibbs.h"
#include "harmonium/training/files/model_file.h"

namespace harmonium::cli {

namespace {

struct SampleOptions {
  CommonOptions common;
  std::string model, out = "samples.png";
  std::int64_t count = 100, sweeps = 1000;
  std::vector<std::string> clamp;
  bool means = false;
  std::uint64_t seed = 0;
};

std::string layer_names(const BoltzmannMachine& machine) {
  std::string names;
  for (const Layer& layer : machine.layers()) names += (names.empty() ? "" : ", ") + layer.name;
  return names;
}

// "LAYER=CLASS" holds a one-hot layer at a class; "FILE.npy" holds visible units at the file's values, NaN leaving a
// unit free.
void add_known(const std::string& text, const BoltzmannMachine& machine, KnownUnits& known) {
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    const std::string name = text.substr(0, equals);
    const auto found = std::ranges::find(machine.layers(), name, &Layer::name);
    require(found != machine.layers().end(), "--clamp {}: the model has no layer '{}'; it has {}", text, name,
            layer_names(machine));
    require(found->unit->spec().starts_with("softmax:1x"),
            "--clamp {}: layer '{}' ({}) has no classes to choose from; a .npy file can hold visible units", text, name,
            found->unit->spec());
    const auto layer = static_cast<std::size_t>(found - machine.layers().begin());
    const std::int64_t width = machine.unit(layer).width();
    const std::string digits = text.substr(equals + 1);
    require(!digits.empty() && digits.size() < 9 && digits.find_first_not_of("0123456789") == std::string::npos &&
                std::stoll(digits) < width,
            "--clamp {}: '{}' is not a class of layer '{}', which has 0 … {}", text, digits, name, width - 1);
    known[layer] = at::one_hot(at::full({1}, static_cast<std::int64_t>(std::stoll(digits)), at::kLong), width)
                       .to(machine.scalar_type());
    return;
  }
  const at::Tensor values = parse_npy(read_file(text), text).to(machine.scalar_type());
  const at::Tensor rows = values.dim() == 1 ? values.unsqueeze(0) : values;
  require(rows.dim() == 2 && rows.size(1) == machine.unit(0).width(),
          "--clamp {}: needs rows of {} values (NaN where free), as many as there are visible units", text,
          machine.unit(0).width());
  const std::string complaint = machine.unit(0).complaint(at::nan_to_num(rows));
  require(complaint.empty(), "--clamp {}: {}", text, complaint);
  known[0] = rows;
}

int sample(const SampleOptions& options) {
  watch_interrupts();
  const Model model = read_model(options.model);
  const BoltzmannMachine& machine = model.machine;
  require(options.count >= 1, "-n {}: at least one sample is needed", options.count);
  require(options.sweeps >= 0, "--sweeps {}: the number of sweeps cannot be negative", options.sweeps);
  const bool array = options.out.ends_with(".npy");
  require(array || options.out.ends_with(".png"), "--out {}: the name must end in .png or .npy", options.out);

  KnownUnits known(machine.layers().size());
  for (const std::string& text : options.clamp) add_known(text, machine, known);
  if (known[0].defined() && known[0].size(0) > 1)
    require(known[0].size(0) == options.count, "--clamp: the file has {} rows, but -n asks for {} samples",
            known[0].size(0), options.count);
  limit_threads(options.common, static_cast<double>(options.count * machine.parameters().dimension()));
  const Key key(options.seed);
  State state = machine.independent_sample(key.fold_in(0), options.count);
  {
    ProgressBar bar("sampling", options.common.json);
    for (std::int64_t sweep = 0; sweep < options.sweeps; ++sweep) {
      if (interrupted()) throw RunFailure("interrupted; nothing was written");
      conditional_gibbs(machine, state, key.fold_in(1).fold_in(static_cast<std::uint64_t>(sweep)), 1, known);
      bar.show(sweep + 1, options.sweeps, 0, "");
    }
  }
  at::Tensor visible = state.layers[0];
  if (options.means) {
    visible = machine.unit(0).mean(machine.field(0, state), machine.layer_parameters(0));
    if (known[0].defined()) visible = at::where(known[0].isnan(), visible, known[0]);
  }
  if (array)
    write_file_atomically(options.out, encode_npy(visible));
  else
    write_png(options.out, tile_images(visible, model.image.value_or(near_square_shape(visible.size(1)))));
  if (options.common.json)
    print_json({{"model", options.model},
                {"samples", options.count},
                {"sweeps", options.sweeps},
                {"seed", options.seed},
                {"out", options.out}});
  else
    fmt::print("{} samples after {} sweeps  {}\n", options.count, options.sweeps, options.out);
  return 0;
}

}  // namespace

void add_sample(CLI::App& app) {
  auto options = std::make_shared<SampleOptions>();
  CLI::App* command = add_command(app, "sample", "Draw from a model by Gibbs sampling",
                                  "  harmonium sample runs/digits-1 -n 100 --out samples.png\n"
                                  "  harmonium sample runs/joint --clamp label=3 --means --out threes.png\n"
                                  "  harmonium sample runs/mnist --clamp halves.npy -n 16 --out filled.npy\n",
                                  options->common, [options] { return sample(*options); });
  command->add_option("model", options->model, "run folder, .safetensors, or .npz")->required();
  command->add_option("-n,--count", options->count, "how many samples")->capture_default_str();
  command->add_option("--sweeps", options->sweeps, "Gibbs sweeps before they are taken")->capture_default_str();
  command->add_option("--clamp", options->clamp,
                      "hold units: LAYER=CLASS (label=3), or a .npy of visible values with NaN where free");
  command->add_flag("--means", options->means, "give E[v | h] instead of drawn values");
  command->add_option("--out", options->out, "x.png or x.npy")->capture_default_str();
  command->add_option("--seed", options->seed, "seed of the chains")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

}  // namespace harmonium::cli
