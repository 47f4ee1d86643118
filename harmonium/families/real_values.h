// Options that are about real values and gray ones, and which models they suit.
#pragma once

#include "harmonium/families/family.h"

namespace harmonium {

// @scale standardize: models of standardized data are written in the units of the data, which Gaussian units allow.
void check_standardization(const RunConfig& config, const Family& family);
// @binarize dequantized: noise between whole numbers needs whole numbers, and a density over them.
void check_dequantization(const RunConfig& config, const Family& family, const RunData& data);
// @binarize levels: pictures kept gray, each level with a probability.
void check_gray_levels(const RunConfig& config, const Family& family, const RunData& data);
// The noise with which means and variances of dequantized data are found.
[[nodiscard]] Key noise_key(const RunConfig& config);
// How data are to be judged by a model: "auto" is as it was trained where that was with noise
// or on gray levels.
[[nodiscard]] std::string protocol_for(const std::string& asked, const ModelInfo& model);

}  // namespace harmonium
