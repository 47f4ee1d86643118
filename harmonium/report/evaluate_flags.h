// How to ask for an evaluation again.
#pragma once

#include <string>

#include "harmonium/likelihood/evaluation.h"

namespace harmonium {

// The flags of `evaluate` that ask for this answer again, data apart: "--method ais --chains 100 --betas 1000".
[[nodiscard]] std::string evaluate_flags(const Evaluation& evaluation);

}  // namespace harmonium
