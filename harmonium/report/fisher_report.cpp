#include "harmonium/report/fisher_report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "harmonium/core/number_text.h"

namespace harmonium {

namespace {

constexpr std::int64_t most_hidden_shown = 20;

std::vector<double> to_vector(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.to(at::kDouble).contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

at::Tensor normalized_image(const at::Tensor& values) {
  const double largest = values.abs().max().item<double>();
  return largest > 0 ? values / largest : values;
}

// The hidden part, as a block of squares in the middle of a picture of the visible layer's size.
at::Tensor in_frame(const at::Tensor& values, ImageShape frame) {
  const ImageShape block = near_square_shape(values.size(0));
  at::Tensor image = at::full({frame.height, frame.width}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  const std::int64_t zoom = std::min(frame.height / block.height, frame.width / block.width);
  const std::int64_t top = (frame.height - zoom * block.height) / 2, left = (frame.width - zoom * block.width) / 2;
  for (std::int64_t i = 0; i < values.size(0); ++i)
    image.narrow(0, top + i / block.width * zoom, zoom)
        .narrow(1, left + i % block.width * zoom, zoom)
        .fill_(values[i].item<double>());
  return image.reshape(-1);
}

// A frame that holds both a picture of the visible layer and the hidden units at one square each.
ImageShape frame_for(ImageShape visible, std::int64_t hidden) {
  const ImageShape block = near_square_shape(hidden);
  return {std::max(visible.height, block.height), std::max(visible.width, block.width)};
}

at::Tensor pad(const at::Tensor& values, ImageShape shape, ImageShape frame) {
  at::Tensor image = at::full({frame.height, frame.width}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  at::Tensor cells = at::full({shape.height * shape.width}, std::numeric_limits<double>::quiet_NaN(), at::kDouble);
  cells.narrow(0, 0, values.size(0)).copy_(values);
  image.narrow(0, 0, shape.height).narrow(1, 0, shape.width).copy_(cells.view({shape.height, shape.width}));
  return image.reshape(-1);
}

std::string number(double value, int decimals) { return fixed_number(value, decimals); }

std::string interval(const Approximation& one) {
  return one.low == one.high ? "" : format("[{}, {}]", number(one.low, 1), number(one.high, 1));
}

Chart spectrum_chart(const FisherResult& result) {
  Series series{.name = "eigenvalue", .x = {}, .y = to_vector(result.eigenvalues), .low = {}, .high = {}};
  for (std::size_t i = 0; i < series.y.size(); ++i) series.x.push_back(static_cast<double>(i + 1));
  return {.id = "spectrum",
          .title = "Eigenvalues of the Fisher information",
          .x_label = "eigenvector, largest first",
          .y_label = "eigenvalue",
          .log_x = true,
          .log_y = true,
          .series = {std::move(series)},
          .caption = result.exact
                         ? "Curvature of the log-likelihood along each direction of the parameters. The ratio of the "
                           "ends is how much faster a plain gradient moves along the first than along the last."
                         : format("From {} draws: the largest come out too large and the rest too small, the more so "
                                  "the fewer draws there are.",
                                  result.samples)};
}

Chart fraction_chart(const FisherResult& result) {
  // Further down the changes of means and covariances cancel each other and the fraction says nothing.
  constexpr double least_of_largest = 1e-3;
  const auto shown = result.eigenvalues.ge(least_of_largest * result.eigenvalues[0]).sum().item<std::int64_t>();
  Series series{.name = "fraction",
                .x = {},
                .y = to_vector(result.covariance_fractions.narrow(0, 0, shown)),
                .low = {},
                .high = {}};
  for (std::size_t i = 0; i < series.y.size(); ++i) series.x.push_back(static_cast<double>(i + 1));
  return {.id = "covariance_fraction",
          .title = "How much of each eigenvector changes covariances",
          .x_label = "eigenvector, largest first",
          .y_label = "fraction of the squared change of moments",
          .log_x = true,
          .series = {std::move(series)},
          .caption =
              "The rest is a change of the units' means, which moves every product of units along. Directions "
              "of high curvature are mostly about means: what centering and FANG take out of the weights. Shown down "
              "to a thousandth of the largest eigenvalue; a fraction can pass one where both changes cancel."};
}

}  // namespace

std::string describe_approximation(const std::string& name) {
  if (name == "isotropic") return "isotropic, a multiple of the identity";
  if (name.starts_with("low_rank:")) return format("rank {} + λI", name.substr(9));
  if (name == "diagonal") return "diagonal";
  if (name == "block_diagonal") return "block-diagonal, one block per hidden unit";
  if (name == "centering") return "centering";
  if (name == "fang") return "FANG";
  if (name == "fang_random") return "FANG with random parents (control)";
  return name;
}

nlohmann::ordered_json to_json(const FisherResult& result) {
  nlohmann::ordered_json json;
  json["model"] = result.model;
  json["method"] = result.exact ? "exact" : "sampled";
  json["dimension"] = result.dimension;
  json["damping"] = result.damping;
  if (result.exact) {
    json["states"] = result.states;
  } else {
    json["samples"] = result.samples;
    json["sweeps"] = result.sweeps;
  }
  json["seed"] = result.seed;
  json["divergence"] = result.exact ? "KL(N(0,G) || N(0,Ghat)), nats"
                                    : "KL relative to the diagonal, nats, with a 95 % interval over fresh draws";
  json["approximations"] = nlohmann::ordered_json::array();
  for (const Approximation& one : result.approximations)
    json["approximations"].push_back({{"name", one.name},
                                      {"parameters", one.parameters},
                                      {"divergence", one.divergence},
                                      {"low", one.low},
                                      {"high", one.high}});
  json["eigenvalues"] = to_vector(result.eigenvalues);
  json["covariance_fractions"] = to_vector(result.covariance_fractions);
  return json;
}

Picture eigenvector_picture(const FisherResult& result) {
  const EdgeInfo& edge = result.topology.edges.front();
  const LayerInfo &lower = result.topology.layers[edge.lower], &upper = result.topology.layers[edge.upper];
  const ImageShape shape = result.image.value_or(near_square_shape(lower.width));
  const ImageShape frame = frame_for(shape, upper.width);
  const std::int64_t shown = std::min(most_hidden_shown, upper.width);
  std::vector<at::Tensor> cells;
  for (std::int64_t k = 0; k < result.vectors.size(1); ++k) {
    const Moments vector = result.mean.unflatten(result.vectors.select(1, k)).to(at::kDouble);
    cells.push_back(pad(normalized_image(vector[lower.parameters.front()]), shape, frame));
    cells.push_back(in_frame(normalized_image(vector[upper.parameters.front()]), frame));
    const at::Tensor weights = normalized_image(vector[edge.weights]).t();
    const at::Tensor order =
        upper.width > shown ? weights.norm(2, 1).argsort(0, true).narrow(0, 0, shown) : at::arange(shown, at::kLong);
    for (std::int64_t j = 0; j < shown; ++j) cells.push_back(pad(weights[order[j].item<std::int64_t>()], shape, frame));
  }
  return tile_images(at::stack(cells).to(at::kFloat), frame,
                     {.colouring = Colouring::diverging, .columns = shown + 2, .scale = 1});
}

ReportContent fisher_report(const FisherResult& result) {
  ReportContent content;
  content.title = "Fisher information of " + result.model;
  std::string layers;
  for (const LayerInfo& layer : result.topology.layers)
    layers += (layers.empty() ? "" : " – ") + format("{} {}", layer.name, layer.width);
  content.subtitle = format("{}; {} statistics", layers, result.dimension);
  content.headline.emplace_back("method", result.exact
                                              ? format("exact  {:.0f} states enumerated", result.states)
                                              : format("sampled  {} draws after {} sweeps, half to fit and half to "
                                                       "judge",
                                                       result.samples, result.sweeps));
  content.headline.emplace_back("largest eigenvalue", number(result.eigenvalues[0].item<double>(), 2));
  for (const Approximation& one : result.approximations)
    if (one.name == "fang")
      content.headline.emplace_back(
          result.exact ? "KL of FANG" : "FANG against diagonal",
          number(one.divergence, 1) + " nats" + (interval(one).empty() ? "" : "  " + interval(one)));
  Table table{
      .id = "approximations",
      .title = "How well approximations fit G",
      .caption = result.exact
                     ? format("KL(N(0,G) ‖ N(0,Ĝ)) with {} added to the diagonal of G; every Ĝ is fitted to the "
                              "same G. Intervals are min and max over draws of the parents.",
                              short_number(result.damping))
                     : format("KL relative to the diagonal from fresh draws, 95 % intervals; damping {}. Lower "
                              "is better; the part that no approximation changes is unknown.",
                              short_number(result.damping)),
      .header = {"Ĝ", result.exact ? "KL, nats" : "KL − KL(diagonal), nats", "interval", "parameters"},
      .rows = {}};
  for (const Approximation& one : result.approximations)
    table.rows.push_back(
        {describe_approximation(one.name), number(one.divergence, 1), interval(one), format("{}", one.parameters)});
  if (!table.rows.empty()) content.tables.push_back(std::move(table));
  content.charts = {spectrum_chart(result), fraction_chart(result)};
  if (result.vectors.defined() && !result.topology.edges.empty())
    content.galleries.push_back(
        {.id = "eigenvectors",
         .title = "Leading eigenvectors",
         .caption = format(
             "One row per eigenvector, the largest on top: change of the {} units, of the {} units (in "
             "reading order), and of the products of each hidden unit with the visible ones. Red up, blue "
             "down; the products of a row share one scale.",
             result.topology.layers.front().name, result.topology.layers[result.topology.edges.front().upper].name),
         .picture = eigenvector_picture(result)});
  content.footer =
      "Eigenvectors are shown as changes of moments, ds = G dη, which for an eigenvector are those of the "
      "parameters up to a factor.";
  return content;
}

}  // namespace harmonium
