// Pictures of capsules for the report: what was learnt, and what becomes of rows.
#include <algorithm>

#include "harmonium/families/capsule_model.h"
#include "harmonium/families/coloured_parts.h"
#include "harmonium/kernels/pose.h"

namespace harmonium {

namespace {

std::string tries_caption(const Poser::Tries& found) {
  std::string chosen;
  for (std::int64_t row = 0; row < found.chosen.size(0); ++row)
    chosen += format("{}{}", row > 0 ? ", " : "", found.chosen[row].item<std::int64_t>());
  return format("A row of the data, then how each composite, from 0, would draw it. Chosen were {}.", chosen);
}

}  // namespace

std::vector<Exhibit> CapsuleModel::exhibits(const ExhibitInput& input) const {
  const c10::NoGradGuard no_gradients;
  const CapsuleShape& shape = capsules_.shape();
  const std::int64_t K = shape.parts, L = shape.channels, P = shape.canvas.pixels();
  const at::TensorOptions options = parameters()["templates"].options();
  const at::Tensor one_by_one = at::eye(L, options).unsqueeze(1).expand({L, K, L}).contiguous(),
                   whole = pose_matrix(rest_pose(options)).expand({L, K, 2, 3}).contiguous();
  const at::Tensor templates =
      on_cpu(
          contributions({.poses = whole, .intensities = one_by_one, .templates = capsules_.templates()}, shape.canvas))
          .reshape({L * K, P})
          .to(at::kFloat);
  constexpr double no_ink = 1e-12;
  constexpr std::int64_t samples = 60;
  std::vector<Exhibit> all = {
      {.id = "templates",
       .title = "Templates",
       .caption =
           format("The {} × {} pixels of each part, enlarged to a whole picture and made as bright as it can be.",
                  shape.template_size, shape.template_size),
       .rows = templates / templates.abs().amax(1, /*keepdim=*/true).clamp_min(no_ink),
       .columns = K},
      {.id = "samples",
       .title = "Samples by posing",
       .caption = "Composites in new poses, drawn from a Gaussian that was fitted to those of training data.",
       .rows = draw({.count = samples, .seed = 1}),
       .samples = true}};
  if (shape.composites > 0) {
    // The composite that most rows are; its first distortions.
    constexpr std::int64_t most_lines = 8, steps = 9;
    const auto largest = prior_.shares.argmax().item<std::int64_t>();
    std::vector<at::Tensor> lines;
    for (std::int64_t d = 0; d < std::min(most_lines, shape.distortions); ++d)
      lines.push_back(sweep(largest, format("distortion:{}", d), steps));
    if (!lines.empty())
      all.push_back({.id = "distortions",
                     .title = "Distortions",
                     .caption = format("Composite {}, the most frequent, in its mean pose: each line moves one "
                                       "distortion from −2 to 2 standard deviations, the others are 0.",
                                       largest),
                     .rows = at::cat(lines),
                     .columns = steps});
  }
  const std::vector<Exhibit> of_rows = exhibits_of_rows(input.train);
  all.insert(all.end(), of_rows.begin(), of_rows.end());
  return all;
}

std::vector<Exhibit> CapsuleModel::exhibits_of_rows(const Dataset& train) const {
  const CapsuleShape& shape = capsules_.shape();
  const std::int64_t K = shape.parts, P = shape.canvas.pixels();
  const at::TensorOptions options = parameters()["templates"].options();
  constexpr double no_ink = 1e-12;
  constexpr std::int64_t columns = 20, most_rows = 1000;
  if (train.rows() < columns || train.columns() != P) return {};
  std::vector<Exhibit> all;
  const at::Tensor many = train.first(most_rows).to_float();
  if (shape.composites > 0) {
    const Scene scene = capsules_.describe(many.to(options));
    const at::Tensor share = scene.shares.unsqueeze(2);  // rows × C × 1
    at::Tensor pose = (share * scene.proposals).sum(0) / share.sum(0).clamp_min(no_ink);
    pose.narrow(1, 7, shape.distortions).zero_();
    all.push_back(
        {.id = "composites",
         .title = "Composites",
         .caption = "Each composite without distortions, in the mean pose of the rows that chose it.",
         .rows = on_cpu(capsules_.draw(capsules_.decode(at::eye(shape.composites, options), pose))).to(at::kFloat)});
  }
  const at::Tensor rows = many.narrow(0, 0, columns), drawn = reconstruct(rows),
                   parts = by_pieces(rows, [&](const at::Tensor&piece) {
                             return capsules_.draw_parts(capsules_.describe(piece)).flatten(1);
                           }).view({columns, K, P});
  all.push_back({.id = "reconstructions",
                 .title = "Reconstructions",
                 .caption = format(
                     "Rows of {}, below each how it was drawn again, and below that what each part draws.", train.name),
                 .rows = at::cat({rows, drawn, parts.transpose(0, 1).reshape({K * columns, P})}),
                 .columns = columns});
  all.push_back({.id = "coloured_parts",
                 .title = "Parts in colour",
                 .caption = "The same rows as they were drawn, each part in a colour of its own.",
                 .rows = coloured_parts(parts_of(rows)),
                 .columns = columns,
                 .colours = true});
  // Where a part's ink lies: the mean of what it draws, over many rows.
  const at::Tensor places =
      by_pieces(many,
                [&](const at::Tensor& piece) { return capsules_.draw_parts(capsules_.describe(piece)).flatten(1); })
          .view({many.size(0), K, P})
          .abs()
          .mean(0);
  all.push_back(
      {.id = "places",
       .title = "Where parts draw",
       .caption = format("What each part adds to {} rows on average, each as bright as it can be.", many.size(0)),
       .rows = places / places.amax(1, /*keepdim=*/true).clamp_min(no_ink),
       .columns = K});
  if (shape.composites > 1) {
    constexpr std::int64_t tried = 6;
    const Tries found = tries(rows.narrow(0, 0, tried));
    all.push_back({.id = "tries",
                   .title = "Rows read as every composite",
                   .caption = tries_caption(found),
                   .rows = at::cat({rows.narrow(0, 0, tried).unsqueeze(1), found.drawn}, 1).flatten(0, 1),
                   .columns = shape.composites + 1});
  }
  return all;
}

}  // namespace harmonium
