#include "harmonium/models/directed/draw.h"

#include <ATen/ATen.h>

#include "harmonium/core/error.h"
#include "harmonium/kernels/random.h"
#include "harmonium/nets/glimpse.h"

namespace harmonium {

namespace {

constexpr const char* draw_shared_columns = "visible.shared";
constexpr const char* first_canvas = "canvas.start";

// Before nets are made of it.
DrawStructure checked_structure(DrawStructure structure) {
  const auto visible = make_distribution(structure.visible);
  require(visible->complaint_as_output().empty(), "the visible layer of a DRAW net: {}",
          visible->complaint_as_output());
  require(visible->raw_width() - visible->shared_width() == visible->width(),
          "a canvas holds one number for each column, and {} has several", structure.visible);
  require(structure.height * structure.width == visible->width(), "pictures of {} × {} pixels are no rows of {}",
          structure.height, structure.width, visible->spec());
  require(structure.steps >= 1, "a DRAW net needs at least one step, not {}", structure.steps);
  require(structure.read >= 0 && structure.write >= 0,
          "grids of {} and {} filters: give numbers that are not negative, 0 for no attention", structure.read,
          structure.write);
  return structure;
}

// Numbers that are read from a row and from its error.
std::int64_t read_width(const DrawStructure& structure) {
  return 2 * (structure.read > 0 ? structure.read * structure.read : structure.height * structure.width);
}

std::int64_t written_width(const DrawStructure& structure) {
  return structure.write > 0 ? structure.write * structure.write : structure.height * structure.width;
}

}  // namespace

DrawNet::DrawNet(DrawStructure structure, at::ScalarType type)
    : structure_(checked_structure(std::move(structure))),
      visible_(make_distribution(structure_.visible)),
      latent_(structure_.latent),
      encoder_("encoder.", read_width(structure_) + structure_.hidden, structure_.hidden),
      decoder_("decoder.", structure_.latent, structure_.hidden),
      posterior_("posterior.", {structure_.hidden, 2 * structure_.latent}, Activation::linear),
      write_("write.", {structure_.hidden, written_width(structure_)}, Activation::linear),
      read_place_("read_place.", {structure_.hidden, GlimpseShape::numbers}, Activation::linear),
      write_place_("write_place.", {structure_.hidden, GlimpseShape::numbers}, Activation::linear) {
  encoder_.declare(parameters_, type);
  posterior_.declare(parameters_, type);
  decoder_.declare(parameters_, type);
  write_.declare(parameters_, type);
  if (structure_.read > 0) read_place_.declare(parameters_, type);
  if (structure_.write > 0) write_place_.declare(parameters_, type);
  parameters_.insert(first_canvas, at::zeros({visible_->width()}, type));
  if (visible_->shared_width() > 0)
    parameters_.insert(draw_shared_columns, at::zeros({visible_->shared_width()}, type));
}

DrawNet DrawNet::with_parameters(Moments parameters) const {
  DrawNet other = *this;
  other.parameters_ = std::move(parameters);
  return other;
}

DrawNet DrawNet::to(const at::TensorOptions& options) const { return with_parameters(parameters_.to(options).clone()); }

at::Tensor DrawNet::encode(const at::Tensor& rows) const {
  return at::cat(
      walk(parameters_, rows, [&](std::int64_t, const at::Tensor& raw) { return latent_.mean(raw); }).latents, 1);
}

at::Tensor DrawNet::reconstruct(const at::Tensor& rows) const {
  const DrawWalk most_probable =
      walk(parameters_, rows, [&](std::int64_t, const at::Tensor& raw) { return latent_.mean(raw); });
  return visible_->mean(visible_raw(parameters_, most_probable.canvas));
}

Dream DrawNet::sample(const Key& key, std::int64_t count) const { return dream(parameters_, count, key); }

DrawNet::Painting DrawNet::begin(const Moments& parameters, std::int64_t count) const {
  return {.decoder = decoder_.begin(parameters, count),
          .canvas = parameters[first_canvas].expand({count, visible_->width()})};
}

void DrawNet::paint(const Moments& parameters, const at::Tensor& latents, Painting& painting) const {
  painting.decoder = decoder_.step(parameters, latents, painting.decoder);
  const at::Tensor& d = painting.decoder.output;
  at::Tensor written = write_.forward(parameters, d);
  if (structure_.write > 0)
    written = Glimpse({structure_.height, structure_.width, structure_.write}, write_place_.forward(parameters, d))
                  .write(written);
  painting.canvas = painting.canvas + written;
}

at::Tensor DrawNet::look(const Moments& parameters, const at::Tensor& rows, const Painting& painting) const {
  const at::Tensor error = rows - visible_->mean(painting.canvas), &d = painting.decoder.output;
  if (structure_.read == 0) return at::cat({rows, error, d}, 1);
  const Glimpse glimpse({structure_.height, structure_.width, structure_.read}, read_place_.forward(parameters, d));
  return at::cat({glimpse.read(rows), glimpse.read(error), d}, 1);
}

DrawWalk DrawNet::walk(const Moments& parameters, const at::Tensor& rows, const ChooseLatent& choose) const {
  require(rows.dim() == 2 && rows.size(1) == visible_->width(), "a DRAW net of {} takes rows of {} values, not of {}",
          visible_->spec(), visible_->width(), rows.dim() == 2 ? rows.size(1) : -1);
  DrawWalk result;
  Painting painting = begin(parameters, rows.size(0));
  LstmCell::State encoder = encoder_.begin(parameters, rows.size(0));
  for (std::int64_t step = 0; step < structure_.steps; ++step) {
    encoder = encoder_.step(parameters, look(parameters, rows, painting), encoder);
    result.posteriors.push_back(posterior_.forward(parameters, encoder.output));
    result.latents.push_back(choose(step, result.posteriors.back()));
    paint(parameters, result.latents.back(), painting);
  }
  result.canvas = painting.canvas;
  return result;
}

std::vector<at::Tensor> DrawNet::canvases(const Moments& parameters, const std::vector<at::Tensor>& latents) const {
  require(!latents.empty(), "a DRAW net paints by latents of each step");
  Painting painting = begin(parameters, latents.front().size(0));
  std::vector<at::Tensor> all = {painting.canvas};
  for (const at::Tensor& each : latents) {
    paint(parameters, each, painting);
    all.push_back(painting.canvas);
  }
  return all;
}

at::Tensor DrawNet::painted(const Moments& parameters, const std::vector<at::Tensor>& latents) const {
  Painting painting = begin(parameters, latents.front().size(0));
  for (const at::Tensor& each : latents) paint(parameters, each, painting);
  return painting.canvas;
}

at::Tensor DrawNet::visible_raw(const Moments& parameters, const at::Tensor& canvas) const {
  if (visible_->shared_width() == 0) return canvas;
  std::vector<std::int64_t> shape = canvas.sizes().vec();
  shape.back() = visible_->shared_width();
  return at::cat({canvas, parameters[draw_shared_columns].expand(shape)}, -1);
}

ChooseLatent DrawNet::posterior_draws(const Key& key, std::int64_t draws, std::int64_t first_draw) const {
  // Noise of all steps is drawn at the first, when the number of rows is known.
  const auto noise = std::make_shared<at::Tensor>();
  return [this, key, draws, first_draw, noise](std::int64_t step, const at::Tensor& raw) {
    const std::int64_t count = raw.size(0);
    if (!noise->defined()) {
      std::vector<at::Tensor> each;
      for (std::int64_t draw = first_draw; draw < first_draw + draws; ++draw)
        each.push_back(normal(key.fold_in(static_cast<std::uint64_t>(draw)), {count / draws, noise_width()},
                              raw.options().requires_grad(false)));
      *noise = at::stack(each, 1).reshape({count, noise_width()});
    }
    return latent_.mean(raw) +
           latent_.log_deviation(raw).exp() * noise->narrow(1, step * structure_.latent, structure_.latent);
  };
}

Trace DrawNet::traced(const Moments& parameters, const at::Tensor& rows, std::int64_t draws,
                      const ChooseLatent& choose) const {
  const std::int64_t count = rows.size(0);
  const DrawWalk made = walk(parameters, draws == 1 ? rows : rows.repeat_interleave(draws, 0), choose);
  const auto of_rows = [&](const at::Tensor& values) { return values.reshape({count, draws, -1}); };
  const at::Tensor prior = at::zeros({latent_.raw_width()}, made.canvas.options().requires_grad(false));
  Trace trace;
  trace.log_p.push_back(visible_->log_prob(rows.unsqueeze(1), visible_raw(parameters, of_rows(made.canvas))));
  for (std::size_t step = 0; step < made.latents.size(); ++step) {
    trace.latents.push_back(of_rows(made.latents[step]));
    trace.log_p.push_back(latent_.log_prob(trace.latents[step], prior));
    trace.log_q.push_back(latent_.log_prob(trace.latents[step], of_rows(made.posteriors[step])));
  }
  return trace;
}

Trace DrawNet::infer(const Moments& parameters, const at::Tensor& rows, std::int64_t draws, const Key& key,
                     std::int64_t first_draw) const {
  require(draws >= 1, "inference in a DRAW net needs at least one draw of each row, not {}", draws);
  return traced(parameters, rows, draws, posterior_draws(key, draws, first_draw));
}

Trace DrawNet::score(const Moments& parameters, const at::Tensor& rows, const std::vector<at::Tensor>& latents) const {
  require(static_cast<std::int64_t>(latents.size()) == structure_.steps,
          "a DRAW net of {} steps was given latents of {}", structure_.steps, latents.size());
  for (const at::Tensor& each : latents)
    require(each.dim() == 3 && each.size(0) == rows.size(0) && each.size(1) == latents.front().size(1) &&
                each.size(2) == structure_.latent,
            "latents of this DRAW net are rows × draws × {}, with as many rows as the data ({})", structure_.latent,
            rows.size(0));
  return traced(parameters, rows, latents.front().size(1), [&](std::int64_t step, const at::Tensor&) {
    return latents[static_cast<std::size_t>(step)].reshape({-1, structure_.latent});
  });
}

Dream DrawNet::dream(const Moments& parameters, std::int64_t count, const Key& key) const {
  require(count >= 0, "a DRAW net cannot draw {} rows", count);
  const at::Tensor noise =
      normal(key.fold_in(0), {count, noise_width()}, parameters[first_canvas].options().requires_grad(false));
  std::vector<at::Tensor> made = latents(parameters, noise);
  const at::Tensor raw = visible_raw(parameters, painted(parameters, made));
  return {.visible = visible_->sample(key.fold_in(1), raw), .means = visible_->mean(raw), .latents = std::move(made)};
}

std::vector<at::Tensor> DrawNet::latents(const Moments&, const at::Tensor& noise) const {
  require(noise.dim() >= 1 && noise.size(-1) == noise_width(), "the noise of this DRAW net has {} columns, not {}",
          noise_width(), noise.dim() >= 1 ? noise.size(-1) : 0);
  return noise.split(structure_.latent, -1);
}

at::Tensor DrawNet::noise(const Moments&, const std::vector<at::Tensor>& latents) const { return at::cat(latents, -1); }

at::Tensor DrawNet::raw_of(const Moments& parameters, const std::vector<at::Tensor>& latents) const {
  std::vector<at::Tensor> flat;
  for (const at::Tensor& each : latents) flat.push_back(each.reshape({-1, structure_.latent}));
  std::vector<std::int64_t> shape = latents.front().sizes().vec();
  shape.back() = visible_->width();
  return visible_raw(parameters, painted(parameters, flat).reshape(shape));
}

at::Tensor DrawNet::means(const Moments& parameters, const std::vector<at::Tensor>& latents) const {
  return visible_->mean(raw_of(parameters, latents));
}

at::Tensor DrawNet::log_likelihood(const Moments& parameters, const at::Tensor& rows,
                                   const std::vector<at::Tensor>& latents) const {
  return visible_->log_prob(rows.unsqueeze(1), raw_of(parameters, latents));
}

void initialize(DrawNet& net, const Key& key, const at::Tensor& data_means) {
  require(data_means.dim() == 1 && data_means.size(0) == net.visible().width(),
          "a DRAW net of {} begins at the means of {} columns, not of {}", net.visible().spec(), net.visible().width(),
          data_means.dim() == 1 ? data_means.size(0) : -1);
  Moments& parameters = net.parameters();
  net.encoder_.initialize(parameters, key.fold_in(0));
  net.decoder_.initialize(parameters, key.fold_in(1));
  net.posterior_.initialize(parameters, key.fold_in(2));
  net.write_.initialize(parameters, key.fold_in(3));
  if (net.structure().read > 0) net.read_place_.initialize(parameters, key.fold_in(4));
  if (net.structure().write > 0) net.write_place_.initialize(parameters, key.fold_in(5));
  at::Tensor& canvas = parameters[first_canvas];
  canvas.copy_(net.visible().raw_of_means(data_means.to(canvas.options())));
  if (parameters.contains(draw_shared_columns)) parameters[draw_shared_columns].zero_();
}

}  // namespace harmonium
