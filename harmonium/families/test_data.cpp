#include "harmonium/families/test_data.h"

#include <algorithm>

#include "harmonium/core/error.h"
#include "harmonium/data/binarize.h"
#include "harmonium/data/catalog/catalog.h"

namespace harmonium {

namespace {

bool is_drawn(Binarization binarization) {
  return binarization == Binarization::stochastic || binarization == Binarization::dequantized;
}

std::string protocol_text(Binarization binarization, const Dataset& data, std::uint64_t seed, int draws) {
  if (binarization == Binarization::levels)
    return format("levels (probabilities of {} stored values)", gray_levels(data));
  if (!is_drawn(binarization)) return to_string(binarization);
  const std::string seeds =
      draws == 1 ? format("seed {}", seed) : format("seeds {}–{}", seed, seed + static_cast<std::uint64_t>(draws) - 1);
  if (binarization == Binarization::stochastic) return format("stochastic ({})", seeds);
  return format("dequantized (uniform noise of one stored step, {})", seeds);
}

}  // namespace

Dataset TestData::draw(int number) const {
  return number == 0 ? rows : binarize(gray, protocol, seed + static_cast<std::uint64_t>(number));
}

Dataset as_shown_to(const Unit& visible, Dataset data, const Reading& reading) {
  if (visible.support() != Unit::Support::one_hot || data.columns() == visible.width()) return data;
  const std::int64_t states = visible.width() / std::max<std::int64_t>(1, data.columns());
  if (states < 2 || states * data.columns() != visible.width()) return data;
  std::optional<std::int64_t> first;
  if (reading.first_category != "auto") first = reading.first_category == "1" ? 1 : 0;
  return one_hot_coded(std::move(data), states, first);
}

TestData open_test_data(const JudgingData& from, const TestDataOptions& options, const Unit& visible) {
  const Reading reading = reading_for(from.spec, options.reading);
  return make_test_data(
      from.spec,
      open_dataset(from.spec, {.limit = from.limit, .reading = reading, .missing_values = options.missing_values}),
      options, visible);
}

TestData make_test_data(const std::string& spec, Dataset data, const TestDataOptions& options, const Unit& visible) {
  require(options.draws >= 1, "@draws {}: give the number of draws to average over, 1 or more", options.draws);
  data = as_shown_to(visible, std::move(data), options.reading);
  require(data.columns() == visible.width(), "{} has {} columns, the model has {} visible units", spec, data.columns(),
          visible.width());
  const bool binary_units = visible.support() == Unit::Support::bits;
  if (binary_units) require_known_meaning(data);
  Binarization binarization = Binarization::none;
  if (options.binarize != "auto")
    binarization = parse_binarization(options.binarize);
  else if (binary_units && !data.is_binary())
    binarization = Binarization::stochastic;
  if (binarization == Binarization::dequantized)
    require(visible.support() == Unit::Support::reals,
            "@dequantize {}: noise between whole numbers is for models of real values, not for {} units", spec,
            visible.spec());
  if (data.missing > 0)
    require(data.is_binary() && binarization == Binarization::none,
            "{}: {} values are missing, and the others are gray: missing values are summed out of binary data only. "
            "Binarize the data yourself, or leave those rows out",
            spec, data.missing);
  else if (binary_units && binarization == Binarization::none)
    require_binary(data);
  require(options.draws == 1 || is_drawn(binarization),
          "@draws {}: only stochastic binarization and @dequantize draw anything, and {} is judged with binarization "
          "{}; leave @draws out, or add @binarize stochastic",
          options.draws, spec, to_string(binarization));
  TestData test{.spec = spec,
                .rows = binarize(data, binarization, options.seed),
                .binarization = protocol_text(binarization, data, options.seed, options.draws) +
                                (data.missing > 0 ? ", missing values summed out" : ""),
                .draws = options.draws,
                .seed = options.seed};
  test.gray = std::move(data);
  test.protocol = binarization;
  return test;
}

}  // namespace harmonium
