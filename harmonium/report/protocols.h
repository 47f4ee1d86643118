// Which numbers of several runs may be laid over each other: those found under the same protocol of binarization.
//
// The log-likelihood of thresholded images and that of sampled ones are different quantities, and so are densities with
// noise between the stored values and without. The seeds of a draw are
// no part of the protocol: they move a mean by the spread between draws, not by nats.
#pragma once

#include <string>
#include <vector>

#include "harmonium/report/comparison.h"

namespace harmonium {

// "stochastic" of "stochastic (seeds 0–4)".
[[nodiscard]] std::string protocol_of(const std::string& binarization);

// Leaves in every run the evaluations whose protocol is common to all runs judged by the same data, and returns a
// sentence for each data set of which something was left out. Throws Error, saying what to do, where runs judged by the
// same data have no protocol in common.
[[nodiscard]] std::vector<std::string> keep_common_protocols(std::vector<ComparedRun>& runs);

}  // namespace harmonium
