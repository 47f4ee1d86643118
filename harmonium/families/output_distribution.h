// The distribution of a row that a directed net puts out (distributions/), by what the options say of the data.
#pragma once

#include <string>

#include "harmonium/distributions/distribution.h"
#include "harmonium/families/family.h"
#include "harmonium/families/test_data.h"

namespace harmonium {

// Help of the option components of families that take gray levels.
inline constexpr const char* components_help =
    "@binarize levels: logistic distributions of which the probabilities of a pixel's gray levels are mixed";

// bernoulli for bits, one shared deviation of at least 0.01 for real values, a mixture of so many logistic
// distributions for gray levels (@binarize levels), categorical for softmax units. The configuration is resolved.
[[nodiscard]] std::string output_distribution(const RunConfig& config, const RunData& data, std::int64_t components);
// "bernoulli:64", "64 gray values": what a row is made of, for a line of words.
[[nodiscard]] std::string values_in_words(const RunConfig& config);
// Columns that the net puts out for it.
[[nodiscard]] std::int64_t output_columns(const RunConfig& config, std::int64_t components);
// Fails where `components` make no sense: none but 0, "auto", without gray levels; replaces 0 by what it stands for.
void resolve_components(const RunConfig& config, std::int64_t& components);
// Fails where rows were not prepared as a model with this output takes them: gray levels as real values, or the other
// way round.
void check_protocol(const Distribution& output, const TestData& test);

}  // namespace harmonium
