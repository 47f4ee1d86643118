#include "harmonium/families/test_data.h"

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"

namespace harmonium {

namespace {

std::string protocol_text(Binarization binarization, std::uint64_t seed, int draws) {
  if (binarization != Binarization::stochastic) return to_string(binarization);
  if (draws == 1) return format("stochastic (seed {})", seed);
  return format("stochastic (seeds {}–{})", seed, seed + static_cast<std::uint64_t>(draws) - 1);
}

}  // namespace

Dataset TestData::draw(int number) const {
  return number == 0 ? rows : binarize(gray, Binarization::stochastic, seed + static_cast<std::uint64_t>(number));
}

TestData open_test_data(const JudgingData& from, const TestDataOptions& options, const Unit& visible) {
  return make_test_data(from.spec, open_dataset(from.spec, {.limit = from.limit, .label_column = options.label_column}),
                        options, visible);
}

TestData make_test_data(const std::string& spec, Dataset data, const TestDataOptions& options, const Unit& visible) {
  require(options.draws >= 1, "@draws {}: give the number of draws to average over, 1 or more", options.draws);
  require(data.columns() == visible.width(), "{} has {} columns, the model has {} visible units", spec, data.columns(),
          visible.width());
  const bool binary_units = visible.support() == Unit::Support::bits;
  Binarization binarization = Binarization::none;
  if (options.binarize != "auto")
    binarization = parse_binarization(options.binarize);
  else if (binary_units && !data.is_binary())
    binarization = Binarization::stochastic;
  if (binary_units && binarization == Binarization::none) require_binary(data);
  require(options.draws == 1 || binarization == Binarization::stochastic,
          "@draws {}: only stochastic binarization draws anything, and {} is judged with binarization {}; leave @draws "
          "out, or add @binarize stochastic",
          options.draws, spec, to_string(binarization));
  TestData test{.spec = spec,
                .rows = binarize(data, binarization, options.seed),
                .binarization = protocol_text(binarization, options.seed, options.draws),
                .draws = options.draws,
                .seed = options.seed};
  if (options.draws > 1) test.gray = std::move(data);
  return test;
}

}  // namespace harmonium
