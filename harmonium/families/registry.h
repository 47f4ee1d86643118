// The table of families. A new one is a function below, a line in registry.cpp, its file and its test.
#pragma once

#include <string>
#include <vector>

#include "harmonium/families/family.h"

namespace harmonium {

[[nodiscard]] const std::vector<Family>& families();
// Fails naming those there are.
[[nodiscard]] const Family& find_family(const std::string& name);
// Families that begin from trained models: of those with the same `to`, the first.
[[nodiscard]] std::vector<const Family*> beginnings();
// "rbm, dbn": those that have an option of this name; empty where none has.
[[nodiscard]] std::string families_with(const std::string& option);

// Calls visitor(name, field, help) for every option that the configuration's family has. A configuration of another
// family is first given that family's own options.
template <class Config, class Visitor>
void visit_options(Config& config, const Visitor& visitor) {
  const Family& family = find_family(config.model);
  RunConfig::visit(config, [&](const char* name, auto& field, const char* help) {
    if (family.has(name)) visitor(name, field, help);
  });
}
// Gives options that the configuration's family does not have their usual values.
void forget_foreign_options(RunConfig& config);
// A configuration of this family with its usual options.
[[nodiscard]] RunConfig usual_config(const std::string& family);

[[nodiscard]] Family rbm_family();
[[nodiscard]] Family classification_rbm_family();
[[nodiscard]] Family mrf_family();
[[nodiscard]] Family semi_restricted_family();
[[nodiscard]] Family boltzmann_family();
[[nodiscard]] Family dbm_family();
[[nodiscard]] Family dbn_family();
[[nodiscard]] Family classification_dbn_family();
[[nodiscard]] Family mlp_family();
[[nodiscard]] Family autoencoder_family();
[[nodiscard]] Family nade_family();
[[nodiscard]] Family made_family();
[[nodiscard]] Family fvbn_family();
[[nodiscard]] Family neural_autoregressive_family();
[[nodiscard]] Family orderless_nade_family();
[[nodiscard]] Family pixel_net_family();
[[nodiscard]] Family rnade_family();
[[nodiscard]] Family vae_family();
[[nodiscard]] Family ladder_family();
[[nodiscard]] Family sbn_family();
[[nodiscard]] Family draw_family();
[[nodiscard]] Family vrnn_family();
[[nodiscard]] Family mixture_family();
[[nodiscard]] Family factor_analyzers_family();
[[nodiscard]] Family capsules_family();
[[nodiscard]] Family pot_family();
[[nodiscard]] Family mpot_family();
[[nodiscard]] Family covariance_rbm_family();
[[nodiscard]] Family mcrbm_family();
[[nodiscard]] Family ssrbm_family();
[[nodiscard]] Family deep_energy_family();
[[nodiscard]] Family s3c_family();

}  // namespace harmonium
