#include "harmonium/families/autoregressive_family.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "harmonium/core/error.h"

namespace harmonium {

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
                     const Dataset& train, std::int64_t width) {
  constexpr std::int64_t columns = 20;
  if (train.rows() < columns || train.columns() != width) return;
  const at::Tensor rows = train.first(columns).to_float();
  at::Tensor known = rows.clone();
  const std::int64_t half = width / 2;
  known.narrow(1, half, width - half).fill_(std::nan(""));
  exhibits.push_back(
      {.id = "completions",
       .title = "Completions",
       .caption = format("Rows of {}; below each two draws of its second half given the first.", train.name),
       .rows = at::cat({rows, on_cpu(complete(Key(2), known).values), on_cpu(complete(Key(3), known).values)}),
       .columns = columns});
}

void add_nats(std::vector<Exhibit>& exhibits, const std::function<at::Tensor(const at::Tensor& rows)>& log_conditionals,
              const Dataset& train, std::int64_t width) {
  constexpr std::int64_t most_rows = 200;
  if (train.rows() == 0 || train.columns() != width) return;
  const c10::NoGradGuard without_gradient;
  const at::Tensor rows = train.first(most_rows).to_float();
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
