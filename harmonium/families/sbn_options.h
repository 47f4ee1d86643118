// Options of the family sbn, and what they come to: a structure, an objective, a prior.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harmonium/families/run_config.h"
#include "harmonium/families/run_data.h"
#include "harmonium/gradients/objectives/latent_objective.h"
#include "harmonium/models/directed/sigmoid_belief_net.h"

namespace harmonium {

[[nodiscard]] const char* latent_objective_help();
[[nodiscard]] const char* baseline_help();
[[nodiscard]] const char* prior_gradient_help();
[[nodiscard]] const char* prior_metric_help();
[[nodiscard]] const char* layer_help();

struct SbnOptions {
  std::string latent = "200", objective = "vimco:10", baseline = "auto", normalize = "auto";
  std::string layer = "factorial", inference_layer = "auto";
  std::int64_t layer_hidden = 0;
  std::string prior = "auto", prior_gradient = "auto", prior_metric = "auto";
  double prior_rate = 0;
  std::int64_t prior_particles = 0, prior_sweeps = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor&& visitor) {
    visitor("latent", self.latent, "layers of binary latent variables from the data up, such as 200,200");
    visitor("objective", self.objective, latent_objective_help());
    visitor("baseline", self.baseline, baseline_help());
    visitor("normalize", self.normalize,
            "elbo:K and nvil: divide signals by their running standard deviation where it is above 1: yes, no; auto: "
            "yes for nvil");
    visitor("layer", self.layer, layer_help());
    visitor("inference_layer", self.inference_layer, "the same for the layers of inference; auto: as @layer");
    visitor("layer_hidden", self.layer_hidden,
            "hidden units of layers that are NADEs (0: as many as the layer has units)");
    visitor("prior", self.prior,
            "law of the uppermost latent variables: factorial, autoregressive, nade, or rbm:N (a restricted Boltzmann "
            "machine with N hidden units, trained together with the net); auto: as @layer");
    visitor("prior_gradient", self.prior_gradient, prior_gradient_help());
    visitor("prior_metric", self.prior_metric, prior_metric_help());
    visitor("prior_rate", self.prior_rate,
            "prior rbm: initial learning rate of its weights; its biases move faster, in the metric's usual proportion "
            "(0: as an RBM of that size would be trained)");
    visitor("prior_particles", self.prior_particles, "prior rbm: persistent chains (0: 500, or the batch if larger)");
    visitor("prior_sweeps", self.prior_sweeps, "prior rbm: Gibbs sweeps of its chains per update (0: 1)");
  }
};

// Widths of latent layers, and of deterministic layers between two of them.
[[nodiscard]] std::vector<std::int64_t> latent_widths(const RunConfig& config);
[[nodiscard]] std::vector<std::int64_t> between_widths(const RunConfig& config);
// Hidden units of the RBM that is the prior; 0: it is another.
[[nodiscard]] std::int64_t prior_hidden(const RunConfig& config);
[[nodiscard]] SigmoidBeliefNetStructure sbn_structure(const RunConfig& config);
// The objective with its baseline, for a net whose layers have these widths below them.
[[nodiscard]] LatentObjective sbn_objective(const RunConfig& config, const std::vector<std::int64_t>& widths_below);
// The same for those who only ask about the objective, whose nets are never made.
[[nodiscard]] LatentObjective sbn_objective(const RunConfig& config);

// Fails where a value makes no sense; "auto" and 0 become what they stand for, but for those about an RBM that is no
// prior here, which are refused if they were given.
void resolve_sbn(RunConfig& config, RunData& data);

}  // namespace harmonium
