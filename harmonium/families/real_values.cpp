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

Key noise_key(const RunConfig& config) { return Key(config.seed).fold_in(run_streams::noise); }

std::string protocol_for(const std::string& asked, const ModelInfo& model) {
  const std::string noisy = to_string(Binarization::dequantized);
  return asked == "auto" && model.note("binarization") == noisy ? noisy : asked;
}

}  // namespace harmonium
