#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "harmonium/cli/sample_options.h"
#include "harmonium/core/atomic_file.h"
#include "harmonium/core/error.h"
#include "harmonium/data/formats/npy.h"
#include "harmonium/data/formats/text_table.h"
#include "harmonium/families/rolls.h"
#include "harmonium/report/picture.h"
#include "harmonium/sessions/class_samples.h"
#include "harmonium/sessions/open_for_use.h"
#include "harmonium/sessions/progress.h"

namespace harmonium::cli {

namespace {

// Values that --clamp FILE holds, a row for every sample; undefined where no file is given.
at::Tensor held_values(const std::vector<std::string>& clamp, const Model& model, std::int64_t count) {
  if (clamp.size() != 1 || !names_file(clamp.front())) return {};
  const std::string& path = clamp.front();
  require(model.generator()->completes(),
          "--clamp {}: this model ({}) cannot hold visible values; an orderless_nade or a Boltzmann machine can", path,
          model.title());
  const std::int64_t width = model.visible().width();
  const at::Tensor rows = read_held_rows(path, width);
  const std::string complaint = model.visible().complaint(at::nan_to_num(rows));
  // A one-hot value that is free has no state at all.
  const bool free_states = model.visible().support() == Unit::Support::one_hot && rows.isnan().any().item<bool>();
  require(complaint.empty() || free_states, "--clamp {}: {}", path, complaint);
  require(rows.size(0) == 1 || rows.size(0) == count,
          "--clamp {}: the file has {} rows, but {} samples are asked for (-n); without -n there is one for each row",
          path, rows.size(0), count);
  return rows.expand({count, width}).contiguous();
}

// The class that --clamp label=3 holds; nothing where nothing is held.
std::optional<std::int64_t> held_label(const std::vector<std::string>& clamp, std::int64_t classes) {
  if (clamp.empty()) return std::nullopt;
  const std::string start = "label=", &text = clamp.front();
  const std::string number = text.starts_with(start) ? text.substr(start.size()) : "";
  require(clamp.size() == 1 && !number.empty() && number.find_first_not_of("0123456789") == std::string::npos &&
              number.size() < 10,
          "--clamp {}: only the class of this model can be held: --clamp label=3", text);
  require(classes > 0, "--clamp {}: the model knows no classes; train one with --model classification_dbn", text);
  require(std::stoll(number) < classes, "--clamp {}: the classes are 0 … {}", text, classes - 1);
  return std::stoll(number);
}

}  // namespace

bool names_file(const std::string& clamp) { return clamp.find('=') == std::string::npos; }

at::Tensor read_held_rows(const std::string& path, std::int64_t width) {
  const std::string bytes = read_file(path);
  require(
      is_text(bytes) || bytes.starts_with("\x93NUMPY"),
      "--clamp {}: neither an NPY file nor a text table; give visible values in one of these, NaN or an empty field "
      "where a unit is free",
      path);
  const at::Tensor values = is_text(bytes) ? parse_text_table(bytes, path).values : parse_npy(bytes, path);
  const at::Tensor rows = values.dim() == 1 ? values.unsqueeze(0) : values;
  require(rows.dim() == 2 && rows.size(1) == width && rows.size(0) >= 1,
          "--clamp {}: needs rows of {} values (NaN where free), as many as there are visible units", path, width);
  return rows.to(at::kFloat);
}

void follow_held_rows(SampleOptions& options, std::int64_t width) {
  if (options.asked) return;
  for (const std::string& text : options.clamp)
    if (names_file(text))
      if (const std::int64_t rows = read_held_rows(text, width).size(0); rows > 1)
        options.asked = rows * std::max<std::int64_t>(options.plan.per_chain, 1);
}

void require_picture_or_array(const std::string& out) {
  require(out.ends_with(".npy") || out.ends_with(".png"), "--out {}: the name must end in .png or .npy", out);
}

int sample_all_classes(const SampleOptions& options, const Model& model) {
  require(options.plan.sampler.name == "gibbs" && !options.diagnose && options.plan.per_chain <= 1 &&
              options.clamp.empty() && options.plan.start == "biases",
          "--clamp-label all draws one state of each chain by gibbs, from biases, and holds nothing beside the label; "
          "leave out --sampler, --start, --per-chain, --diagnose and --clamp");
  const std::string out = options.out.empty() ? "samples.png" : options.out;
  require_picture_or_array(out);
  constexpr std::int64_t usual = 10;
  const std::int64_t classes = count_classes(model, options.model), count = options.asked.value_or(usual * classes);
  require(count >= classes && count % classes == 0, "-n {} cannot be shared out among {} classes; {} can", count,
          classes, (count / classes + 1) * classes);
  const ClassSamples drawn = draw_class_samples(model, options.model,
                                                {.of_each = count / classes,
                                                 .sweeps = options.plan.sweeps,
                                                 .means = options.plan.means,
                                                 .seed = options.plan.seed,
                                                 .common = options.common});
  if (out.ends_with(".npy"))
    write_npy(out, drawn.visible);
  else
    write_png(out, drawn.picture());
  if (options.common.json)
    print_json(with_standing({{"model", options.model},
                              {"sampler", "gibbs"},
                              {"samples", count},
                              {"classes", classes},
                              {"sweeps", options.plan.sweeps},
                              {"seed", options.plan.seed},
                              {"out", out}},
                             model));
  else
    fmt::print("{} samples of each of {} classes after {} sweeps, one class after the other  {}\n", count / classes,
               classes, options.plan.sweeps, out);
  return 0;
}

int sample_generator(const SampleOptions& options, const Model& model) {
  const Generator& generator = *model.generator();
  const auto refuse = [&](const char* flag, bool given) {
    require(!given, "{} applies only to a single Boltzmann machine, and {} is a {}", flag, options.model,
            model.title());
  };
  refuse("--sampler", options.plan.sampler.name != "gibbs");
  const DrawPlan& plan = options.plan;
  if (generator.frames() > 0) {
    refuse("--start", plan.start != "biases");
    require(plan.per_chain >= 0, "--frames {}: give the number of frames of each sequence, 1 or more", plan.per_chain);
  } else if (generator.walks()) {
    require(plan.start == "biases" || plan.start == "noise", "--start {}: chains of a {} start at biases or noise",
            plan.start, model.title());
    require(plan.per_chain >= 0 && plan.every >= 1, "--per-chain {} --every {}: both must be at least 1",
            plan.per_chain, plan.every);
  } else {
    refuse("--start", plan.start != "biases");
    refuse("--per-chain", plan.per_chain > 1);
  }
  refuse("--diagnose", options.diagnose);
  refuse("--data", !options.data.empty());
  const std::string out = options.out.empty() ? "samples.png" : options.out;
  require_picture_or_array(out);
  constexpr std::int64_t usual_chains = 10;
  const bool sequences = generator.frames() > 0;
  const std::int64_t per_chain =
      sequences && plan.per_chain == 0 ? generator.frames() : std::max<std::int64_t>(plan.per_chain, 1);
  // Whole sequences are asked for, and states of chains.
  const std::int64_t asked = options.asked.value_or(sequences || per_chain > 1 ? usual_chains : 100) *
                             (sequences || (!options.asked && per_chain > 1) ? per_chain : 1);
  Generator::Request request{.count = asked,
                             .sweeps = plan.sweeps,
                             .per_chain = per_chain,
                             .every = plan.every,
                             .from_noise = plan.start == "noise",
                             .means = plan.means,
                             .seed = plan.seed};
  require(request.count % per_chain == 0, "-n {} cannot be shared out by --per-chain {}; {} can", request.count,
          per_chain, (request.count / per_chain + 1) * per_chain);
  require(request.count >= 1 && (request.sweeps >= 1 || !generator.markov()),
          "-n {} --sweeps {}: both must be at least 1", request.count, request.sweeps);
  request.known = held_values(options.clamp, model, request.count);
  if (const auto label =
          held_label(request.known.defined() ? std::vector<std::string>{} : options.clamp, generator.classes()))
    request.labels = at::full({request.count}, *label, at::kLong);
  limit_threads(options.common, generator.products(request.count));
  ProgressBar bar("sampling", options.common.json);
  request.progress = [&](std::int64_t done, std::int64_t total) {
    if (interrupted()) throw RunFailure("interrupted; nothing was written");
    bar.show(done, total, 0, "");
  };
  const at::Tensor rows = generator.draw(request);
  if (out.ends_with(".npy")) {
    write_npy(out, rows);
  } else {
    TileOptions tiles;
    std::tie(tiles.black, tiles.white) = model.shown_range();
    if (per_chain > 1) tiles.columns = per_chain;  // a chain per row
    if (sequences && per_chain > 1 && !model.info().image) {
      tiles.columns = 1;
      write_png(out, tile_images(as_rolls(rows, per_chain), {rows.size(1), per_chain}, tiles));
    } else {
      write_png(out, tile_images(rows, model.info().image.value_or(near_square_shape(rows.size(1))), tiles));
    }
  }
  if (options.common.json)
    print_json(with_standing({{"model", options.model},
                              {"sampler", generator.method()},
                              {"samples", sequences ? request.count / per_chain : request.count},
                              {"frames", sequences ? nlohmann::ordered_json(per_chain) : nullptr},
                              {"sweeps", generator.markov() ? request.sweeps : 0},
                              {"seed", request.seed},
                              {"out", out}},
                             model));
  else if (generator.markov())
    fmt::print("{} samples after {} sweeps ({})  {}\n", request.count, request.sweeps, generator.method(), out);
  else if (sequences)
    fmt::print("{} sequences of {} frames ({})  {}\n", request.count / per_chain, per_chain, generator.method(), out);
  else
    fmt::print("{} independent samples ({})  {}\n", request.count, generator.method(), out);
  return 0;
}

}  // namespace harmonium::cli
