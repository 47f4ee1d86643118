#include "harmonium/families/vrnn_model.h"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/data/packed_sequences.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/rolls.h"
#include "harmonium/families/vrnn_judging.h"
#include "harmonium/gradients/objectives/vrnn_bound.h"

namespace harmonium {

namespace {

// Frames of equally many steps, step after step, as rows of one sequence after the other.
at::Tensor sequence_after_sequence(const at::Tensor& packed, std::int64_t frames) {
  return packed.view({frames, -1, packed.size(1)}).transpose(0, 1).reshape({packed.size(0), packed.size(1)});
}

}  // namespace

double weights_of(const VrnnStructure& structure) {
  const auto columns = static_cast<double>(make_distribution(structure.visible)->width());
  const auto units = static_cast<double>(structure.units), latent = static_cast<double>(structure.latent);
  const auto chain = [&](double inputs, double outputs) {
    double numbers = 0;
    for (const std::int64_t width : structure.layers) {
      numbers += inputs * static_cast<double>(width);
      inputs = static_cast<double>(width);
    }
    return numbers + inputs * outputs;
  };
  return 3 * units * (columns + latent + units) + chain(units, 2 * latent) + chain(columns + units, 2 * latent) +
         chain(latent + units, columns);
}

VrnnModel::VrnnModel(ModelInfo info, Vrnn net, std::int64_t frames)
    : NormalizedModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)), frames_(frames) {}

std::string VrnnModel::subtitle() const {
  const VrnnStructure& shape = net_.structure();
  std::string text =
      format("{} – {} latent variables a frame – GRU of {} units", shape.visible, shape.latent, shape.units);
  for (std::size_t i = 0; i < shape.layers.size(); ++i)
    text += format("{}{}", i == 0 ? ", nets of " : ",", shape.layers[i]);
  return text;
}

std::string VrnnModel::remark() const {
  return "Log-likelihoods are lower bounds, in nats per frame, over all frames of all sequences.";
}

std::vector<Model::LayerText> VrnnModel::layers() const {
  const VrnnStructure& shape = net_.structure();
  return {{.name = "visible", .unit = shape.visible, .observed = true},
          {.name = "latent", .unit = format("gaussian:{}", shape.latent)},
          {.name = "memory", .unit = format("gru:{}", shape.units)}};
}

std::unique_ptr<Model> VrnnModel::to(const at::Device& device) const {
  return std::make_unique<VrnnModel>(info_, net_.to(at::TensorOptions().device(device)), frames_);
}

std::unique_ptr<Model> VrnnModel::clone() const { return std::make_unique<VrnnModel>(info_, net_, frames_); }

std::vector<Exhibit> VrnnModel::exhibits(const ExhibitInput& input) const {
  constexpr std::int64_t longest = 100, shown = 4, single_frames = 40;
  const c10::NoGradGuard no_gradients;
  const bool frames_alone = frames_ == 1;
  // Frames that are pictures, and single ones, stay what they are; others are columns of a roll.
  const auto strips = [&](const at::Tensor& rows, std::int64_t frames, Exhibit exhibit) {
    if (info_.image || frames == 1) {
      exhibit.rows = rows;
      exhibit.columns = frames == 1 ? 20 : frames;
    } else {
      // About as wide as half a page.
      const std::int64_t zoom = std::clamp<std::int64_t>(300 / frames, 1, 6);
      exhibit.rows = as_rolls(rows, frames)
                         .view({-1, rows.size(1), frames})
                         .repeat_interleave(zoom, 1)
                         .repeat_interleave(zoom, 2)
                         .flatten(1);
      exhibit.shape = ImageShape{zoom * rows.size(1), zoom * frames};
      exhibit.columns = 2;
    }
    return exhibit;
  };
  const std::int64_t frames = std::min(frames_, longest);
  std::vector<Exhibit> all;
  all.push_back(
      strips(draw({.count = frames_alone ? single_frames : shown * frames, .per_chain = frames, .seed = 1}), frames,
             {.id = "samples",
              .title = "Samples",
              .caption = frames_alone ? std::string("Frames that the model draws.")
                                      : format("{} sequences of {} frames that the model draws.", shown, frames),
              .rows = {}}));
  const Dataset& train = input.train;
  if (train.rows() == 0 || train.columns() != visible().width()) return all;

  // The first sequences, cut to the length of the shortest of them.
  const Dataset few =
      train.select_cases(at::arange(std::min(frames_alone ? single_frames / 2 : shown / 2, train.cases()), at::kLong));
  const std::int64_t count = few.cases(),
                     length = few.lengths.empty() ? 1 : std::min(std::ranges::min(few.lengths), longest);
  const PackedSequences packed = pack(few, at::arange(count, at::kLong));
  const at::Tensor values = few.gather(packed.rows).to(net_.parameters().entries().front().second.device());
  const at::Tensor rebuilt = on_cpu(net_.reconstruct(net_.parameters(), values, packed.alive));
  const VrnnTerms terms = vrnn_terms(net_, net_.parameters(), values, packed.alive, Key(3));
  // While all of them last, steps are equally wide.
  const std::int64_t kept = count * length;
  const at::Tensor above = sequence_after_sequence(on_cpu(values).narrow(0, 0, kept), length),
                   below = sequence_after_sequence(rebuilt.narrow(0, 0, kept), length);
  at::Tensor rows = at::cat({above, below});
  if (!frames_alone && !info_.image)  // each beside what is made of it
    rows = at::stack({above.view({count, length, -1}), below.view({count, length, -1})}, 1)
               .reshape({2 * kept, above.size(1)});
  all.push_back(strips(
      rows, length,
      {.id = "reconstructions",
       .title = "Reconstructions",
       .caption = format("{} of {}, and {} means of the visible units given means of the latent variables. KL of the "
                         "latent variables: {} nats a frame.",
                         frames_alone ? std::string("Frames") : format("The first {} frames of sequences", length),
                         train.name, frames_alone || info_.image ? "below" : "beside each",
                         fixed_number(terms.kl.sum(1).mean().item<double>(), 2)),
       .rows = {}}));
  return all;
}

nlohmann::json VrnnModel::structure() const {
  const VrnnStructure& shape = net_.structure();
  return {{"vrnn",
           {{"visible", shape.visible},
            {"units", shape.units},
            {"latent", shape.latent},
            {"layers", shape.layers},
            {"activation", to_string(shape.activation)},
            {"frames", frames_}}}};
}

void VrnnModel::check(const EstimationOptions& options) const {
  (void)sequence_method(options.method);
  EstimationOptions rest = options;
  rest.method = "auto";
  harmonium::check(rest);
}

std::vector<Evaluation> VrnnModel::judge(const std::vector<const TestData*>& tests, const EstimationOptions& options,
                                         Watcher& watcher, Journal*) const {
  check(options);
  require_tests(tests);
  return judge_vrnn(net_, visible(), tests, options, watcher);
}

bool VrnnModel::same_way(const Evaluation& old, const EstimationOptions& options) const {
  const SequenceMethod method = sequence_method(options.method);
  return old.log_likelihood && old.log_likelihood->method == name_of(method) &&
         old.log_likelihood->chains == (method == SequenceMethod::bound ? bound_draws : options.importance);
}

at::Tensor VrnnModel::draw(const Request& request) const {
  const std::int64_t frames = std::max<std::int64_t>(1, request.per_chain);
  require(request.count % frames == 0, "{} rows are no sequences of {} frames", request.count, frames);
  const std::int64_t sequences = request.count / frames;
  if (sequences == 0) return at::empty({0, visible().width()});
  const c10::NoGradGuard no_gradients;
  const VrnnDream dream = net_.dream(
      net_.parameters(), std::vector<std::int64_t>(static_cast<std::size_t>(frames), sequences), Key(request.seed));
  return sequence_after_sequence(on_cpu(request.means ? dream.means : dream.visible), frames);
}

std::unique_ptr<Model> read_vrnn_model(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "vrnn", where, [&](const nlohmann::json& shape) {
    VrnnStructure structure{.visible = shape.at("visible"),
                            .units = whole_number(shape.at("units")),
                            .latent = whole_number(shape.at("latent")),
                            .layers = whole_numbers(shape.at("layers")),
                            .activation = parse_activation(shape.at("activation"))};
    const std::int64_t frames = whole_number(shape.at("frames"));
    constexpr std::size_t most_layers = 100;
    constexpr std::int64_t most_columns = 1 << 20;  // a damaged number must not ask for memory
    const auto possible = [](std::int64_t width) { return width >= 1 && width <= VrnnModel::most_numbers; };
    require(possible(structure.units) && possible(structure.latent) && structure.layers.size() <= most_layers &&
                std::ranges::all_of(structure.layers, possible) && frames >= 1 && frames <= VrnnModel::most_frames &&
                make_distribution(structure.visible)->width() <= most_columns,
            "{}: {} units, {} latent variables, {} layers and {} frames make no variational recurrent net", where,
            structure.units, structure.latent, structure.layers.size(), frames);
    require_numbers(file, weights_of(structure), where);
    Vrnn net(std::move(structure));
    read_parameters(net.parameters(), file, where);
    const std::int64_t width = net.visible().width();
    return std::make_unique<VrnnModel>(info_of(header, width), std::move(net), frames);
  });
}

}  // namespace harmonium
