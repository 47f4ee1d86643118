#include "harmonium/report/evaluate_flags.h"

#include <vector>

#include "harmonium/core/format.h"
#include "harmonium/likelihood/bidirectional.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/likelihood/mean_field_bound.h"

namespace harmonium {

std::string evaluate_flags(const Evaluation& evaluation) {
  const Estimate& z = evaluation.way();
  if (!evaluation.log_z) {
    if (is_mean_field_bound(z)) return "--method mean_field";
    if (z.betas > 0)  // of a decoder; what is annealed are all rows or some
      return format("--method ais --chains {} --betas {} --rows {}{}", z.chains, z.betas, evaluation.n,
                    z.method.starts_with("ais from the prior") ? " --base prior" : "");
    const std::string draws = z.chains > 0 ? format("--importance {}", z.chains) : std::string();
    return is_bidirectional(z) ? "--method bihm " + draws : draws;
  }
  const std::int64_t draws = evaluation.log_likelihood ? importance_draws(*evaluation.log_likelihood) : 0;
  const std::string importance = draws > 0 ? format(" --importance {}", draws) : "";
  if (z.kind == EstimateKind::exact) return "--method exact" + importance;
  // "ais, schedule adaptive, base uniform, even layers summed out": its name, and what is not as usual.
  std::vector<std::string> parts;
  std::string rest = z.method;
  for (std::size_t comma = rest.find(", "); comma != std::string::npos; comma = rest.find(", ")) {
    parts.push_back(rest.substr(0, comma));
    rest = rest.substr(comma + 2);
  }
  parts.push_back(rest);
  std::string flags = "--method " + (evaluation.gap ? "sandwich" : parts[0]);
  if (parts[0] != "raise") flags += format(" --chains {}", z.chains);
  if (z.betas > 0) flags += format(" --betas {}", z.betas);
  if (evaluation.raise_rows > 0)
    flags += format(" --raise-rows {} --raise-chains {}", evaluation.raise_rows, evaluation.raise->chains);
  for (const std::string& part : parts) {
    for (const char* name : {"schedule", "base"})
      if (part.starts_with(name + std::string(" "))) flags += " --" + part;
    if (part == "even layers summed out") flags += " --sum-out even";
  }
  if (evaluation.hidden && evaluation.hidden->gap)
    flags +=
        format(" --rows-by ais --row-chains {} --row-betas {}", evaluation.hidden->chains, evaluation.hidden->betas);
  return flags + importance;
}

}  // namespace harmonium
