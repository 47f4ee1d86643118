#include "harmonium/families/draw_model.h"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/number_text.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/model_header.h"
#include "harmonium/gradients/objectives/draw_bound.h"

namespace harmonium {

std::string attention_words(std::int64_t read, std::int64_t write) {
  const auto grid = [](std::int64_t size) { return size == 0 ? std::string("all") : format("{} × {}", size, size); };
  return read == 0 && write == 0 ? "no attention" : format("reads {}, writes {}", grid(read), grid(write));
}

double weights_of(const DrawStructure& structure) {
  const auto hidden = static_cast<double>(structure.hidden), latent = static_cast<double>(structure.latent);
  const auto seen = [&](std::int64_t size) {
    return static_cast<double>(size == 0 ? structure.height * structure.width : size * size);
  };
  return hidden * (4 * (2 * seen(structure.read) + 3 * hidden + latent) + 2 * latent + seen(structure.write));
}

DrawModel::DrawModel(ModelInfo info, DrawNet net)
    : RealLatentModel(std::move(info), net.visible().unit_spec()), net_(std::move(net)) {}

std::string DrawModel::subtitle() const {
  const DrawStructure& shape = net_.structure();
  return format("{} – {} step{} of {} latent variables – two LSTMs of {} units, {}", shape.visible, shape.steps,
                shape.steps == 1 ? "" : "s", shape.latent, shape.hidden, attention_words(shape.read, shape.write));
}

std::vector<Model::LayerText> DrawModel::layers() const {
  const DrawStructure& shape = net_.structure();
  return {{.name = "visible", .unit = shape.visible, .observed = true},
          {.name = "encoder", .unit = format("lstm:{}", shape.hidden)},
          {.name = "latent", .unit = format("gaussian:{}x{}", shape.steps, shape.latent)},
          {.name = "decoder", .unit = format("lstm:{}", shape.hidden)}};
}

std::unique_ptr<Model> DrawModel::to(const at::Device& device) const {
  return std::make_unique<DrawModel>(info_, net_.to(at::TensorOptions().device(device)));
}

std::unique_ptr<Model> DrawModel::clone() const { return std::make_unique<DrawModel>(info_, net_); }

// Time runs down.
Exhibit DrawModel::filmstrip() const {
  constexpr std::int64_t columns = 12, most_frames = 10;
  const std::vector<at::Tensor> canvases = net_.canvases(net_.parameters(), net_.sample(Key(2), columns).latents);
  const std::int64_t steps = net_.structure().steps, frames = std::min(steps, most_frames);
  std::vector<at::Tensor> shown;
  std::string numbers;
  for (std::int64_t frame = 1; frame <= frames; ++frame) {
    const std::int64_t step = frame * steps / frames;
    const at::Tensor& canvas = canvases[static_cast<std::size_t>(step)];
    shown.push_back(on_cpu(net_.visible().mean(net_.visible_raw(net_.parameters(), canvas))));
    numbers += format("{}{}", frame == 1 ? "" : ", ", step);
  }
  return {.id = "filmstrip",
          .title = "Filmstrip",
          .caption = format("How {} samples are painted: means of the canvas after step {}, from top to bottom.",
                            columns, numbers),
          .rows = at::cat(shown),
          .columns = columns};
}

std::vector<Exhibit> DrawModel::exhibits(const ExhibitInput& input) const {
  std::vector<Exhibit> all = shown_rows(input, *this);
  all.push_back(filmstrip());
  return all;
}

std::string DrawModel::use_of_latents(const at::Tensor& rows) const {
  const c10::NoGradGuard no_gradients;
  std::string text = "KL of the steps' latent variables, in nats:";
  for (const at::Tensor& kl : draw_terms(net_, net_.parameters(), rows, Key(3)).kl)
    text += format(" {}", fixed_number(kl.sum(1).mean().item<double>(), 2));
  return text + ".";
}

at::Tensor DrawModel::placed(const at::Tensor& rows) const { return net_.encode(rows); }

at::Tensor DrawModel::divergences(const at::Tensor& rows) const {
  return at::cat(draw_terms(net_, net_.parameters(), rows, Key(3)).kl, 1).mean(0);
}

nlohmann::json DrawModel::structure() const {
  const DrawStructure& shape = net_.structure();
  return {{"draw",
           {{"visible", shape.visible},
            {"height", shape.height},
            {"width", shape.width},
            {"steps", shape.steps},
            {"latent", shape.latent},
            {"hidden", shape.hidden},
            {"read", shape.read},
            {"write", shape.write}}}};
}

at::Tensor DrawModel::encode(const at::Tensor& rows, std::size_t) const {
  return on_cpu(net_.encode(rows.to(device())));
}

at::Tensor DrawModel::reconstruct(const at::Tensor& rows) const { return on_cpu(net_.reconstruct(rows.to(device()))); }

std::unique_ptr<Model> read_draw_model(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "draw", where, [&](const nlohmann::json& shape) {
    DrawStructure structure{.visible = shape.at("visible"),
                            .height = whole_number(shape.at("height")),
                            .width = whole_number(shape.at("width")),
                            .steps = whole_number(shape.at("steps")),
                            .latent = whole_number(shape.at("latent")),
                            .hidden = whole_number(shape.at("hidden")),
                            .read = whole_number(shape.at("read")),
                            .write = whole_number(shape.at("write"))};
    constexpr std::int64_t most_pixels = 1 << 20;  // a damaged number must not ask for memory
    const auto within = [](std::int64_t value, std::int64_t least, std::int64_t most) {
      return least <= value && value <= most;
    };
    require(
        within(structure.height, 1, most_pixels) && within(structure.width, 1, most_pixels) &&
            structure.height * structure.width <= most_pixels && within(structure.steps, 1, DrawModel::most_steps) &&
            within(structure.latent, 1, DrawModel::most_numbers) &&
            within(structure.hidden, 1, DrawModel::most_numbers) &&
            within(structure.read, 0, DrawModel::most_filters) && within(structure.write, 0, DrawModel::most_filters),
        "{}: {} × {} pixels, {} steps of {} latent variables, {} units, grids of {} and {} filters make no DRAW "
        "net",
        where, structure.height, structure.width, structure.steps, structure.latent, structure.hidden, structure.read,
        structure.write);
    require_numbers(file, weights_of(structure), where);
    DrawNet net(std::move(structure));
    read_parameters(net.parameters(), file, where);
    const std::int64_t width = net.visible().width();
    return std::make_unique<DrawModel>(info_of(header, width), std::move(net));
  });
}

}  // namespace harmonium
