#include "harmonium/gradients/negative_phase.h"

#include "harmonium/core/error.h"
#include "harmonium/gradients/cd.h"
#include "harmonium/gradients/exact_gradient.h"
#include "harmonium/gradients/pcd.h"
#include "harmonium/gradients/pt_gradient.h"
#include "harmonium/gradients/tempered_gradient.h"

namespace harmonium {

const std::vector<std::pair<std::string, std::string>>& negative_phases() {
  static const std::vector<std::pair<std::string, std::string>> names = {
      {"pcd", "persistent contrastive divergence: chains that are never reset"},
      {"cd", "contrastive divergence: chains that start at the batch (biased)"},
      {"exact", "enumeration of the smaller side (at most 25 binary units)"},
      {"pt", "parallel tempering: persistent chains at many temperatures that exchange their states"},
      {"tempered", "tempered transitions: persistent chains that go to the base rates and back"},
  };
  return names;
}

std::unique_ptr<NegativePhase> make_negative_phase(const std::string& name, const NegativePhaseOptions& options) {
  require(options.sweeps >= 1, "the negative phase needs at least one sweep per update, not {}", options.sweeps);
  require(options.particles >= 1, "the negative phase needs at least one particle, not {}", options.particles);
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
