#include "harmonium/families/autoregressive_family.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"

namespace harmonium {

namespace {

// At most so many, as the model has seen them; none where they have other columns.
at::Tensor rows_as_learnt(const Dataset& train, const Model& model, std::int64_t most) {
  if (train.rows() == 0 || train.columns() != model.visible().width()) return at::empty({0, 0});
  const std::string how = model.info().note("binarization");
  const Dataset rows = train.first(most);
  return (how.empty() ? rows : binarize(rows, parse_binarization(how), 0)).to_float();
}

}  // namespace

Exhibit sample_exhibit(const std::function<OrderedDraw(const Key& key, std::int64_t count)>& sample,
                       const std::string& caption) {
  constexpr std::int64_t samples = 60;
  return {.id = "samples",
          .title = "Samples",
          .caption = caption,
          .rows = on_cpu(sample(Key(1), samples).means),
          .samples = true};
}

void add_completions(std::vector<Exhibit>& exhibits,
                     const std::function<OrderedDraw(const Key& key, const at::Tensor& known)>& complete,
                     const Dataset& train, const Model& model) {
  constexpr std::int64_t columns = 20;
  const at::Tensor rows = rows_as_learnt(train, model, columns);
  if (rows.size(0) < columns) return;
  const std::int64_t width = rows.size(1), half = width / 2;
  at::Tensor known = rows.clone();
  known.narrow(1, half, width - half).fill_(std::nan(""));
  exhibits.push_back(
      {.id = "completions",
       .title = "Completions",
       .caption = format("Rows of {}; below each two draws of its second half given the first.", train.name),
       .rows = at::cat({rows, on_cpu(complete(Key(2), known).values), on_cpu(complete(Key(3), known).values)}),
       .columns = columns});
}

void add_nats(std::vector<Exhibit>& exhibits, const std::function<at::Tensor(const at::Tensor& rows)>& log_conditionals,
              const Dataset& train, const Model& model) {
  constexpr std::int64_t most_rows = 200;
  const at::Tensor rows = rows_as_learnt(train, model, most_rows);
  if (rows.size(0) == 0) return;
  const c10::NoGradGuard without_gradient;
  const at::Tensor nats = on_cpu(-log_conditionals(rows)).to(at::kDouble).mean(0, /*keepdim=*/true);
  const double most = nats.max().item<double>();
  exhibits.push_back(
      {.id = "nats",
       .title = "Nats of each pixel",
       .caption = format("−log p of every pixel given those before it, in the mean over {} rows of {}: black is 0, "
                         "white the most, {:.2f}; all together {:.1f}.",
                         rows.size(0), train.name, most, nats.sum().item<double>()),
       .rows = (nats / std::max(most, 1e-9)).to(at::kFloat),
       .columns = 1});
}

}  // namespace harmonium
