#include "harmonium/families/registry.h"

#include <algorithm>

#include "harmonium/core/named_table.h"
#include "harmonium/families/encoded_data.h"

namespace harmonium {

const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      rbm_family(),
      classification_rbm_family(),
      mrf_family(),
      semi_restricted_family(),
      boltzmann_family(),
      dbm_family(),
      dbn_family(),
      classification_dbn_family(),
      nade_family(),
      made_family(),
      fvbn_family(),
      neural_autoregressive_family(),
      orderless_nade_family(),
      pixel_net_family(),
      rnade_family(),
      vae_family(),
      ladder_family(),
      sbn_family(),
      draw_family(),
      vrnn_family(),
      mixture_family(),
      factor_analyzers_family(),
      mlp_family(),
      autoencoder_family(),
      capsules_family(),
      pot_family(),
      mpot_family(),
      covariance_rbm_family(),
      mcrbm_family(),
      ssrbm_family(),
      deep_energy_family(),
      s3c_family(),
  };
  return all;
}

const Family& find_family(const std::string& name) { return find_named(families(), name, "model"); }

std::string families_with(const std::string& option) {
  return names_of(families(), [&](const Family& each) { return each.has(option); });
}

std::vector<const Family*> beginnings() {
  std::vector<const Family*> found;
  for (const Family& each : families())
    if (each.begin_from &&
        std::ranges::none_of(found, [&](const Family* other) { return other->begin_from->to == each.begin_from->to; }))
      found.push_back(&each);
  return found;
}

bool Family::has(const std::string& option) const {
  return std::ranges::find(options, option) != options.end() || own.has(option);
}

std::string Family::in_words(const RunConfig& config) const {
  if (words != nullptr) return words(config);
  std::string text = config.visible;
  for (const std::string& each : split_layers(config.layers)) text += " – " + each;
  if (config.layers == "none" && has("hidden")) text += " – " + config.hidden;
  if (!has("layers") && !has("hidden")) text += ", all joined";
  if (has("loss")) return text + "; " + config.loss;
  return text + "; " + (config.objective == "discriminative" ? config.objective : config.gradient);
}

void forget_foreign_options(RunConfig& config) {
  const Family& family = find_family(config.model);
  const RunConfig usual;
  RunConfig::visit(config, [&](const char* name, auto& field, const char*) {
    if (family.has(name)) return;
    RunConfig::visit(usual, [&](const char* other, const auto& value, const char*) {
      if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::decay_t<decltype(value)>>)
        if (std::string_view(other) == name) field = value;
    });
  });
}

RunConfig usual_config(const std::string& family) {
  RunConfig config;
  config.model = family;
  config.own = find_family(family).own;
  return config;
}

}  // namespace harmonium
