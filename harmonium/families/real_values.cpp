#include "harmonium/families/real_values.h"

#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/families/registry.h"

namespace harmonium {

namespace {

bool has_gaussian_values(const RunConfig& config) {
  const auto visible = make_unit(config.visible);
  return visible->support() == Unit::Support::reals && visible->activation() == Activation::linear;
}

}  // namespace

void check_standardization(const RunConfig& config, const Family& family) {
  if (config.scale != "standardize") return;
  require(family.standardizes, "@scale standardize does not apply to @model {}; it applies to {}", config.model,
          names_of(families(), [](const Family& each) { return each.standardizes; }));
  require(has_gaussian_values(config), "@scale standardize is for @visible gaussian, not {}", config.visible);
}

void check_dequantization(const RunConfig& config, const Family& family, const RunData& data) {
  if (data.binarization != Binarization::dequantized) return;
  require(family.dequantizes, "@dequantize does not apply to @model {}; it applies to {}", config.model,
          names_of(families(), [](const Family& each) { return each.dequantizes; }));
  require(has_gaussian_values(config), "@dequantize is for @visible gaussian, not {}", config.visible);
  require(config.shrink == 0, "@shrink {} does not go with @dequantize", config.shrink);
  require_whole_numbers(data.train);
  if (data.valid.rows() > 0) require_whole_numbers(data.valid);
}

void check_gray_levels(const RunConfig& config, const Family& family, const RunData& data) {
  if (data.binarization != Binarization::levels) return;
  require(family.gray_levels, "@binarize levels does not apply to @model {}; it applies to {}", config.model,
          names_of(families(), [](const Family& each) { return each.gray_levels; }));
  require(has_gaussian_values(config), "@binarize levels says what values there are; leave @visible {} out",
          config.visible);
  require(config.shrink == 0, "@shrink {} does not go with @binarize levels", config.shrink);
  const std::int64_t levels = gray_levels(data.train);
  require(data.valid.rows() == 0 || gray_levels(data.valid) == levels,
          "validation data {} have {} gray levels, training data {} have {}", data.valid.name, gray_levels(data.valid),
          data.train.name, levels);
}

Key noise_key(const RunConfig& config) { return Key(config.seed).fold_in(run_streams::noise); }

std::string protocol_for(const std::string& asked, const ModelInfo& model) {
  for (const Binarization each : {Binarization::dequantized, Binarization::levels})
    if (asked == "auto" && model.note("binarization") == to_string(each)) return to_string(each);
  return asked;
}

}  // namespace harmonium
