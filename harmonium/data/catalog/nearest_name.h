// The name a user probably meant.
#pragma once

#include <string>
#include <vector>

namespace harmonium {

// The candidate with the fewest insertions, deletions and replacements from `word` (Levenshtein distance); empty when
// even that one needs more than a third of the word's letters (at least two) changed.
[[nodiscard]] std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace harmonium
