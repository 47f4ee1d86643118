#include "harmonium/families/sbn_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harmonium/core/error.h"
#include "harmonium/core/named_table.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/machine_training.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/sbn_em.h"

namespace harmonium {

namespace {

LayerKind layer_of(const SbnOptions& own) { return parse_layer_kind(own.layer, "layer"); }
LayerKind inference_layer_of(const SbnOptions& own) {
  return own.inference_layer == "auto" ? layer_of(own) : parse_layer_kind(own.inference_layer, "inference_layer");
}
// Of latents under no RBM.
LayerKind prior_of(const SbnOptions& own) {
  if (own.prior == "auto") return layer_of(own);
  const auto named = std::ranges::find(layer_kinds(), own.prior, &LayerKindName::name);
  return named == layer_kinds().end() ? LayerKind::factorial : named->kind;
}

constexpr std::int64_t usual_particles = 500;  // cheap beside the net's draws, and the gradient of the prior needs them

void require_no_prior_options(const SbnOptions& own) {
  const SbnOptions usual;
  const auto refuse = [&](const char* name, bool given) {
    require(!given, "@{} is about a prior that is an RBM, and @prior is {}; give @prior rbm:N, or leave it out", name,
            own.prior);
  };
  refuse("prior_gradient", own.prior_gradient != usual.prior_gradient);
  refuse("prior_metric", own.prior_metric != usual.prior_metric);
  refuse("prior_rate", own.prior_rate != usual.prior_rate);
  refuse("prior_particles", own.prior_particles != usual.prior_particles);
  refuse("prior_sweeps", own.prior_sweeps != usual.prior_sweeps);
}

// As an RBM whose data are the uppermost latents.
RunConfig machine_config(const RunConfig& config) {
  const auto& own = config.own.as<SbnOptions>();
  RunConfig machine = usual_config("rbm");
  machine.visible = format("bernoulli:{}", latent_widths(config).back());
  machine.hidden = std::to_string(prior_hidden(config));
  machine.gradient = own.prior_gradient;
  machine.optimizer = own.prior_metric;
  machine.rate_weights = own.prior_rate;
  machine.updates = config.updates;
  machine.batch = config.batch;
  machine.particles = own.prior_particles;
  return machine;
}

void resolve_prior(RunConfig& config, RunData& data) {
  auto& own = config.own.as<SbnOptions>();
  const std::int64_t hidden = prior_hidden(config), latents = latent_widths(config).back();
  if (hidden == 0) return require_no_prior_options(own);
  require(!own.objective.starts_with("concrete"),
          "@objective {}: relaxed bits have a density, and an RBM as prior has none; use another objective",
          own.objective);
  require(std::isfinite(own.prior_rate) && own.prior_rate >= 0,
          "@prior_rate must be a number that is not negative, not {}", own.prior_rate);
  require(own.prior_particles >= 0, "@prior_particles must be at least 0, not {}", own.prior_particles);
  require(own.prior_sweeps >= 0, "@prior_sweeps must be at least 0, not {}", own.prior_sweeps);
  constexpr std::int64_t quickly_enumerated = 10;  // bits, at every update
  if (own.prior_gradient == "auto")
    own.prior_gradient = std::min(hidden, latents) <= quickly_enumerated ? "exact" : "pcd";
  (void)find_named(negative_phases(), own.prior_gradient, "prior_gradient");
  if (own.prior_metric != "auto") (void)find_named(metrics(), own.prior_metric, "prior_metric");
  if (own.prior_particles == 0) own.prior_particles = std::max(usual_particles, config.batch);
  if (own.prior_sweeps == 0) own.prior_sweeps = 1;
  RunConfig machine = machine_config(config);
  resolve_machine(machine, data);
  own.prior_metric = machine.optimizer;
  own.prior_rate = machine.rate_weights;
}

void resolve_objective(RunConfig& config) {
  auto& own = config.own.as<SbnOptions>();
  const std::int64_t sweeps = em_sweeps(own.objective);
  if (sweeps == 0) {
    own.objective = sbn_objective(config).spec();
    return;
  }
  own.objective = format("em:{}", sweeps);
  const SbnOptions usual;
  const auto refuse = [&](const char* name, bool given) {
    require(!given, "@objective {}: Gibbs sampling of the latents has no use for @{}; leave it out", own.objective,
            name);
  };
  refuse("baseline", own.baseline != usual.baseline);
  refuse("normalize", own.normalize != usual.normalize);
  refuse("layers", !between_widths(config).empty());
  require(layer_of(own) == LayerKind::factorial,
          "@objective {}: Gibbs sampling is for factorial layers; use another objective with @layer {}", own.objective,
          own.layer);
  require(own.prior == "factorial",
          "@objective {}: expectation maximization is for a factorial prior; use another objective with @prior {}",
          own.objective, own.prior);
}

// Before the objective, which asks what layers are like.
void resolve_layers(RunConfig& config) {
  auto& own = config.own.as<SbnOptions>();
  const LayerKind layer = layer_of(own), inference = inference_layer_of(own);
  own.inference_layer = to_string(inference);
  if (own.prior == "auto") own.prior = own.layer;
  const LayerKind prior = prior_of(own);
  require(layer == LayerKind::factorial || make_unit(config.visible)->support() == Unit::Support::bits,
          "@layer {}: the data's layer is then autoregressive, too, which is for binary data and not {}; leave @layer "
          "out (@inference_layer and @prior may be autoregressive)",
          own.layer, config.visible);
  const bool nades = layer == LayerKind::nade || inference == LayerKind::nade || prior == LayerKind::nade;
  constexpr std::int64_t most = 1 << 20;
  require(own.layer_hidden >= 0 && own.layer_hidden <= most, "@layer_hidden {}: give a number of hidden units, 0 to {}",
          own.layer_hidden, most);
  require(nades || own.layer_hidden == 0, "@layer_hidden applies to layers that are NADEs; give @layer nade");
  const bool relaxes = own.objective.starts_with("concrete") || own.objective == "straight_through";
  const bool factorial =
      layer == LayerKind::factorial && inference == LayerKind::factorial && prior == LayerKind::factorial;
  require(!relaxes || factorial,
          "@objective {}: draws of autoregressive layers wait for each other and cannot be relaxed; use another "
          "objective, such as vimco",
          own.objective);
  require(own.baseline != "optimal" || inference == LayerKind::factorial,
          "@baseline optimal is for factorial inference; choose mean or net with @inference_layer {}",
          own.inference_layer);
}

}  // namespace

const char* latent_objective_help() {
  static const std::string text = [] {
    std::string all = "what to climb, and how its gradient is estimated: ";
    for (const LatentObjectiveType& each : latent_objectives())
      all += format("{} ({}{}); ", each.form, each.help,
                    each.chooses_draws ? format(", {} draws if K is left out", each.usual) : "");
    return all +
           "em:S (expectation maximization: S Gibbs sweeps over latents kept for each row, 1 if S is left out; slow for "
           "large nets)";
  }();
  return text.c_str();
}

const char* baseline_help() {
  static const std::string text = [] {
    std::string all = "elbo:K and nvil: what is taken off their signals: ";
    for (const BaselineType& each : signal_baselines()) all += format("{} ({}); ", each.name, each.help);
    return all + "auto: leave_one_out for elbo, net for nvil";
  }();
  return text.c_str();
}

const char* prior_gradient_help() {
  static const std::string text =
      format("prior rbm: its negative phase: {}; auto: exact where a side has at most 10 units, else pcd",
             names_of(negative_phases()));
  return text.c_str();
}

const char* prior_metric_help() {
  static const std::string text =
      format("prior rbm: what its gradient is solved by: {}; auto: fang, or centering where nothing shows covariances",
             names_of(metrics()));
  return text.c_str();
}

const char* layer_help() {
  static const std::string text = [] {
    std::string all = "law of every layer given the one above it, and of the data: ";
    for (const LayerKindName& each : layer_kinds())
      all += format("{}{} ({})", each.kind == LayerKind::factorial ? "" : "; ", each.name, each.help);
    return all;
  }();
  return text.c_str();
}

std::vector<std::int64_t> latent_widths(const RunConfig& config) {
  const std::string& text = config.own.as<SbnOptions>().latent;
  try {
    const std::vector<std::int64_t> widths = layer_widths(text);
    require(!widths.empty(), "at least one layer is needed");
    return widths;
  } catch (const Error&) {
    fail("@latent {}: give the numbers of latent variables in each layer from the data up, such as 200,200", text);
  }
}

std::vector<std::int64_t> between_widths(const RunConfig& config) {
  return config.layers == "none" ? std::vector<std::int64_t>{} : layer_widths(config.layers);
}

std::int64_t prior_hidden(const RunConfig& config) {
  const std::string& text = config.own.as<SbnOptions>().prior;
  if (text == "auto" || std::ranges::find(layer_kinds(), text, &LayerKindName::name) != layer_kinds().end()) return 0;
  constexpr std::string_view form = "rbm:";
  constexpr std::int64_t most = 1 << 20;
  std::int64_t hidden = 0;
  if (text.starts_with(form)) {
    const char *first = text.data() + form.size(), *end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(first, end, hidden);
    if (error == std::errc() && stopped == end && hidden >= 1 && hidden <= most) return hidden;
  }
  fail("@prior {}: there are {}, and rbm:N, an RBM with N hidden units (1 to {}) over the uppermost latents", text,
       names_of(layer_kinds()), most);
}

SigmoidBeliefNetStructure sbn_structure(const RunConfig& config) {
  const auto& own = config.own.as<SbnOptions>();
  return {.visible = autoregressive_visible(config.visible, "a sigmoid belief net"),
          .latent = latent_widths(config),
          .between = between_widths(config),
          .activation = parse_activation(config.activation),
          .prior_hidden = prior_hidden(config),
          .generation = layer_of(own),
          .recognition = inference_layer_of(own),
          .prior = prior_of(own),
          .nade_hidden = own.layer_hidden};
}

LatentObjective sbn_objective(const RunConfig& config, const std::vector<std::int64_t>& widths_below) {
  const auto& own = config.own.as<SbnOptions>();
  SignalOptions signals{.baseline = own.baseline, .normalize = own.normalize};
  if (between_widths(config).empty() && inference_layer_of(own) == LayerKind::factorial)
    signals.recognition = SigmoidBeliefNet::affine_recognition(widths_below.size());
  return {own.objective, widths_below, signals};
}

LatentObjective sbn_objective(const RunConfig& config) {
  return sbn_objective(config, std::vector<std::int64_t>(latent_widths(config).size(), 1));
}

void resolve_sbn(RunConfig& config, RunData& data) {
  (void)latent_widths(config);
  (void)between_widths(config);
  if (config.activation == "auto") config.activation = "tanh";
  require(parse_activation(config.activation) != Activation::softmax,
          "@activation softmax: layers between may be tanh, relu, elu, softplus, logistic or linear");
  (void)autoregressive_visible(config.visible, "a sigmoid belief net");
  resolve_layers(config);
  resolve_objective(config);
  resolve_likelihood(config, 0.001);
  resolve_prior(config, data);
}

}  // namespace harmonium
