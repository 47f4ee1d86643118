#include "harmonium/gradients/negative_phase.h"

#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/gradients/cd.h"
#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/gradients/fpcd.h"
#include "harmonium/gradients/mean_field_cd.h"
#include "harmonium/gradients/pcd.h"
#include "harmonium/gradients/pseudo_likelihood.h"
#include "harmonium/gradients/pt_gradient.h"
#include "harmonium/gradients/tempered_gradient.h"

namespace harmonium {

std::int64_t NegativePhaseOptions::sweeps_at(double fraction) const {
  if (sweeps_final == 0) return sweeps;
  const double first = static_cast<double>(sweeps), last = static_cast<double>(sweeps_final);
  return std::llround(first * std::pow(last / first, fraction));
}

const std::vector<std::pair<std::string, std::string>>& negative_phases() {
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"pcd", "persistent contrastive divergence: chains that are never reset"},
      {"fpcd", "the same with fast weights that push the chains on"},
      {"cd", "contrastive divergence: chains that start at the batch (biased)"},
      {"mf_cd", "contrastive divergence with means instead of draws (biased)"},
      {"pl", "pseudo-likelihood: every unit given all others (another objective)"},
      {"exact", "enumeration of the smaller side (at most 25 binary units)"},
      {"pt", "parallel tempering: persistent chains at many temperatures that exchange their states"},
      {"tempered", "tempered transitions: persistent chains that go to the base rates and back"},
  };
  return names;
}

std::unique_ptr<NegativePhase> make_negative_phase(const std::string& name, const NegativePhaseOptions& options) {
  require(options.sweeps >= 1, "the negative phase needs at least one sweep per update, not {}", options.sweeps);
  require(options.particles >= 1, "the negative phase needs at least one particle, not {}", options.particles);
  require(options.sweeps_final >= 0, "the final number of sweeps is 0 (as at the start) or more, not {}",
          options.sweeps_final);
  require(options.mean_field_steps >= 0, "the number of mean-field steps is 0 (none) or more, not {}",
          options.mean_field_steps);
  require(options.mean_field_steps == 0 || name == "pcd" || name == "fpcd",
          "mean-field steps ({}) are for the chains of pcd and fpcd, not for the gradient {}", options.mean_field_steps,
          name);
  require(options.fast_rate >= 0, "the fast rate of fpcd is 0 or more, not {}", options.fast_rate);
  require(options.fast_decay >= 0 && options.fast_decay < 1, "the decay of fpcd's fast weights lies in [0, 1), not {}",
          options.fast_decay);
  if (name == "fpcd") return std::make_unique<Fpcd>(options);
  if (name == "mf_cd") return std::make_unique<MeanFieldCd>(options);
  if (name == "pl") return std::make_unique<PseudoLikelihood>();
  if (name == "pcd") return std::make_unique<Pcd>(options);
  if (name == "cd") return std::make_unique<Cd>(options);
  if (name == "exact") return std::make_unique<ExactGradient>();
  if (name == "pt") return std::make_unique<PtGradient>(options);
  if (name == "tempered") return std::make_unique<TemperedGradient>(options);
  std::string known;
  for (const auto& [key, help] : negative_phases()) known += (known.empty() ? "" : ", ") + key;
  fail("unknown gradient '{}'; there are: {}", name, known);
}

}  // namespace harmonium
