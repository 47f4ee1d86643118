#include "harmonium/families/capsule_model.h"

#include <c10/core/GradMode.h>

#include <algorithm>

#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/data/formats/json_numbers.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/normalized_model.h"
#include "harmonium/kernels/pose.h"
#include "harmonium/models/capsules/posing.h"
#include "harmonium/models/capsules/refinement.h"

namespace harmonium {

namespace {

struct NamedOutput {
  std::string name;
  OutputModel model;
};
const std::vector<NamedOutput>& output_models() {
  static const std::vector<NamedOutput> table = {{"semisoft", OutputModel::semisoft},
                                                 {"sum", OutputModel::sum},
                                                 {"max", OutputModel::maximum},
                                                 {"soft", OutputModel::soft},
                                                 {"logistic", OutputModel::logistic},
                                                 {"clamped", OutputModel::clamped},
                                                 {"soft_clamped", OutputModel::soft_clamped}};
  return table;
}

}  // namespace

OutputModel parse_output_model(const std::string& name) {
  return find_named(output_models(), name, "output model").model;
}
std::string to_string(OutputModel model) {
  return std::ranges::find(output_models(), model, &NamedOutput::model)->name;
}
std::string output_model_names() { return names_of(output_models()); }

CapsuleModel::CapsuleModel(ModelInfo info, CapsuleAutoencoder capsules, PosePrior prior, std::int64_t steps)
    : Model(std::move(info)),
      capsules_(std::move(capsules)),
      prior_(std::move(prior)),
      visible_(make_unit(format("gaussian:{}", capsules_.shape().canvas.pixels()))),
      steps_(steps) {}

Scene CapsuleModel::describe(const at::Tensor& images) const {
  return steps_ > 0 ? refined(capsules_, prior_, images, {.steps = steps_}) : capsules_.describe(images);
}

std::unique_ptr<Model> CapsuleModel::refined_by(std::int64_t steps) const {
  if (capsules_.shape().composites == 0) return nullptr;
  return std::make_unique<CapsuleModel>(info_, capsules_, prior_, steps);
}

Moments CapsuleModel::parameters() const {
  Moments all = capsules_.parameters();
  all.insert("poses.shares", prior_.shares);
  all.insert("poses.means", prior_.means);
  all.insert("poses.factors", prior_.factors);
  if (prior_.pixel_error.defined()) all.insert("poses.pixel_error", prior_.pixel_error);
  return all;
}

std::string CapsuleModel::subtitle() const {
  const CapsuleShape& shape = capsules_.shape();
  const std::string parts = format("{} parts of {} × {} pixels on {} × {}", shape.parts, shape.template_size,
                                   shape.template_size, shape.canvas.rows, shape.canvas.columns);
  return shape.composites == 0
             ? parts
             : format("{} composites with {} distortions, of {}", shape.composites, shape.distortions, parts);
}

std::vector<Model::LayerText> CapsuleModel::layers() const {
  const CapsuleShape& shape = capsules_.shape();
  std::vector<LayerText> texts = {{.name = "visible", .unit = visible().spec(), .observed = true}};
  const std::vector<std::int64_t>& hidden = shape.layers_of_encoder();
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    const bool squares = shape.encoder.squares && i + 1 == hidden.size();
    texts.push_back(
        {.name = format("layer{}", i + 1), .unit = format("{}:{}", squares ? "square" : "logistic", hidden[i])});
  }
  if (shape.composites > 0) texts.push_back({.name = "composite", .unit = format("softmax:1x{}", shape.composites)});
  texts.push_back({.name = "parts", .unit = format("linear:{}x{}", shape.parts, capsules_.numbers_of_part())});
  return texts;
}

std::unique_ptr<Model> CapsuleModel::to(const at::Device& device) const {
  return std::make_unique<CapsuleModel>(
      info_, capsules_.to(at::TensorOptions().device(device)),
      PosePrior{.shares = prior_.shares.to(device),
                .means = prior_.means.to(device),
                .factors = prior_.factors.to(device),
                .pixel_error = prior_.pixel_error.defined() ? prior_.pixel_error.to(device) : at::Tensor()},
      steps_);
}

std::string CapsuleModel::remark() const {
  return "Capsules have no likelihood, although they draw samples: their errors are squared errors of pixels, and say nothing about how probable a "
         "picture is.";
}

at::Tensor CapsuleModel::draw(const Request& request) const {
  const c10::NoGradGuard no_gradients;
  const Scene scene = imagined(capsules_, prior_, Key(request.seed), request.count);
  return on_cpu(capsules_.draw(scene)).to(at::kFloat);
}

std::string CapsuleModel::method() const {
  return "posing: poses from a Gaussian fitted to training data for each composite, then drawn";
}

double CapsuleModel::products(std::int64_t count) const {
  return static_cast<double>(count * parameters().dimension());
}

std::vector<std::string> CapsuleModel::code_layers() const {
  if (capsules_.shape().composites == 0) return {"nice", "world"};
  return {"composite", "nice", "world"};
}

at::Tensor CapsuleModel::encode(const at::Tensor& rows, std::size_t layer) const {
  const std::string name = code_layers().at(layer);
  return by_pieces(rows, [&](const at::Tensor& piece) {
    const Scene scene = describe(piece);
    if (name == "composite") return scene.shares;
    if (name == "nice") return scene.pose.defined() ? scene.pose : scene.part_codes.flatten(1);
    return at::cat({scene.intensities, scene.part_poses.flatten(2)}, 2).flatten(1);
  });
}

at::Tensor CapsuleModel::log_weights(const at::Tensor& rows) const {
  return by_pieces(rows, [&](const at::Tensor& piece) { return describe(piece).preferences; }).to(at::kDouble);
}

std::vector<std::string> CapsuleModel::movable() const { return names_of_pose(capsules_); }

at::Tensor CapsuleModel::sweep(std::int64_t whole, const std::string& moved, std::int64_t steps) const {
  const std::vector<std::string> names = movable();
  const auto found = std::ranges::find(names, moved);
  if (found == names.end()) {
    std::string known;
    for (const std::string& each : names)
      if (!each.starts_with("distortion:")) known += (known.empty() ? "" : ", ") + each;
    const std::int64_t distortions = capsules_.shape().distortions;
    fail("there is no number {} in the pose of a composite; there are: {}{}", moved, known,
         distortions > 0 ? format(", distortion:0 … distortion:{}", distortions - 1) : "");
  }
  return on_cpu(capsules_.draw(swept(capsules_, prior_, whole, found - names.begin(), steps))).to(at::kFloat);
}

at::Tensor CapsuleModel::around(const at::Tensor& row, double spread, std::int64_t count, std::uint64_t seed) const {
  const at::Tensor image = row.to(parameters()["templates"].options());
  return on_cpu(capsules_.draw(scenes_around(capsules_, prior_, image, spread, Key(seed), count))).to(at::kFloat);
}

Poser::Tries CapsuleModel::tries(const at::Tensor& rows) const {
  std::vector<at::Tensor> all;
  for (std::int64_t i = 0; i < wholes(); ++i)
    all.push_back(
        by_pieces(rows, [&](const at::Tensor& piece) { return capsules_.draw(described_as(capsules_, piece, i)); }));
  return {.drawn = at::stack(all, 1), .chosen = log_weights(rows).argmax(1)};
}

at::Tensor CapsuleModel::parts_of(const at::Tensor& rows) const {
  const std::int64_t K = capsules_.shape().parts;
  return by_pieces(rows, [&](const at::Tensor& piece) { return shared_out(capsules_, describe(piece)).flatten(1); })
      .view({rows.size(0), K, capsules_.shape().canvas.pixels()});
}

at::Tensor CapsuleModel::reconstruct(const at::Tensor& rows) const {
  return by_pieces(rows, [&](const at::Tensor& piece) { return capsules_.draw(describe(piece)); });
}

std::string CapsuleModel::encode_file() const {
  const CapsuleShape& shape = capsules_.shape();
  return encode_model(info_, parameters(),
                      {{"capsules",
                        {{"rows", shape.canvas.rows},
                         {"columns", shape.canvas.columns},
                         {"composites", shape.composites},
                         {"parts", shape.parts},
                         {"template", shape.template_size},
                         {"channels", shape.channels},
                         {"distortions", shape.distortions},
                         {"hidden", shape.hidden},
                         {"encoder_hidden", shape.encoder_hidden},
                         {"skips", shape.encoder.skips},
                         {"squares", shape.encoder.squares},
                         {"matrix_poses", shape.poses == PoseForm::matrix},
                         {"output_model", to_string(shape.output.model)},
                         {"sharpness", shape.output.sharpness},
                         {"negative_ink", shape.negative_ink}}}});
}

namespace {

CapsuleShape shape_in_file(const nlohmann::json& text, const std::string& where) {
  try {
    CapsuleShape shape{
        .canvas = {whole_number(text.at("rows")), whole_number(text.at("columns"))},
        .composites = whole_number(text.at("composites")),
        .parts = whole_number(text.at("parts")),
        .template_size = whole_number(text.at("template")),
        .channels = whole_number(text.at("channels")),
        .distortions = whole_number(text.at("distortions")),
        .hidden = whole_numbers(text.at("hidden")),
        // Files of the first version say nothing of these.
        .encoder_hidden =
            text.contains("encoder_hidden") ? whole_numbers(text.at("encoder_hidden")) : std::vector<std::int64_t>{},
        .encoder = {.skips = text.value("skips", true), .squares = text.value("squares", true)},
        .poses = text.value("matrix_poses", false) ? PoseForm::matrix : PoseForm::nice,
        .output = {.model = parse_output_model(text.at("output_model")), .sharpness = text.at("sharpness")},
        .negative_ink = text.at("negative_ink")};
    require_capsules(shape);
    return shape;
  } catch (const Error& error) {
    fail("{}: the description of the capsules is damaged ({})", where, error.what());
  }
}

}  // namespace

std::unique_ptr<Model> read_capsules(const ModelHeader& header, const TensorFile& file, const std::string& where) {
  return read_structure(header, "capsules", where, [&](const nlohmann::json& text) {
    const CapsuleShape shape = shape_in_file(text, where);
    constexpr std::int64_t most_units = 1 << 20;  // a damaged number must not ask for memory
    const auto number = [](std::int64_t n) { return static_cast<double>(n); };
    double numbers = number(shape.parts * shape.channels) * number(shape.template_size * shape.template_size);
    const double outputs = shape.composites > 0 ? number(shape.composites * (8 + shape.distortions))
                                                : number(shape.parts * (6 + shape.channels)),
                 of_pose = shape.composites > 0 ? number(7 + shape.distortions) : outputs;
    numbers += number(std::max<std::int64_t>(1, shape.composites)) * of_pose * (of_pose + 2);
    const auto count = [&](const std::vector<std::int64_t>& hidden, double below, double fed) {
      for (const std::int64_t width : hidden) {
        require(width >= 1 && width <= most_units, "{}: a layer of {} units is no layer of capsules", where, width);
        numbers += number(width) * (below + fed);
        below = number(width);
      }
    };
    count(shape.layers_of_encoder(), number(shape.canvas.pixels()), shape.encoder.skips ? outputs : 0);
    if (shape.composites > 0) count(shape.hidden, 1, 0);
    require_numbers(file, numbers, where);
    CapsuleAutoencoder capsules(shape);
    PosePrior prior = empty_pose_prior(capsules);
    const bool knows_error =
        std::ranges::any_of(file.tensors, [](const auto& each) { return each.first == "poses.pixel_error"; });
    if (!knows_error) prior.pixel_error = at::Tensor();  // a file of the first version
    auto model = std::make_unique<CapsuleModel>(info_of(header, shape.canvas.pixels()), capsules, std::move(prior));
    read_parameters(model->parameters(), file, where);
    return model;
  });
}

}  // namespace harmonium
