// The family sbn (models/directed/sigmoid_belief_net.h): sigmoid belief nets with learned inference, with a factorial
// prior or under an RBM.
#include "harmonium/core/device.h"
#include "harmonium/core/error.h"
#include "harmonium/families/encoded_data.h"
#include "harmonium/families/likelihood_trainee.h"
#include "harmonium/families/masked_net_model.h"
#include "harmonium/families/model_header.h"
#include "harmonium/families/option_groups.h"
#include "harmonium/families/registry.h"
#include "harmonium/families/sbn_em.h"
#include "harmonium/families/sbn_model.h"
#include "harmonium/families/sbn_options.h"
#include "harmonium/families/sbn_prior_training.h"
#include "harmonium/likelihood/importance_bound.h"
#include "harmonium/training/objectives/surrogate_ascent.h"

namespace harmonium {

namespace {

std::unique_ptr<Model> make(const RunConfig& config, const RunData& data, const StageModels&) {
  check_rows(data, *make_unit(config.visible));
  SigmoidBeliefNet net(sbn_structure(config));
  initialize(net, Key(config.seed).fold_in(run_streams::initial), data.train.column_means().to(at::kFloat));
  return std::make_unique<SbnModel>(initial_info(config, data), std::move(net));
}

std::unique_ptr<Objective> ascent(const SigmoidBeliefNet& net, Moments trained,
                                  const std::shared_ptr<LatentObjective>& climbed) {
  const std::vector<ParameterGroup> groups = groups_by_name(trained);
  return std::make_unique<SurrogateAscent>(
      std::move(trained), groups, "log_likelihood",
      [net, climbed](const Moments& leaves, const std::vector<at::Tensor>& batch, const Step& step) {
        const LatentObjective::Surrogate found = climbed->estimate(net, leaves, batch.front(), step.key);
        return SurrogateAscent::Value{.climbed = found.climbed, .shown = found.shown};
      },
      SurrogateAscent::Kept{.state = [climbed] { return climbed->state(); },
                            .restore = [climbed](const NamedTensors& saved) { climbed->restore(saved); }});
}

std::unique_ptr<Trainee> train(const RunConfig& config, const RunData& data, const Model& start) {
  const auto& begun = dynamic_cast<const SbnModel&>(start);
  const SigmoidBeliefNet net = begun.net().to(at::TensorOptions().device(find_device(config.device)));
  const Key watched = Key(config.seed).fold_in(run_streams::monitor).fold_in(1);
  LikelihoodHooks hooks{.mean =
                            [net, watched](const Moments& parameters, const at::Tensor& rows) {
                              constexpr std::int64_t draws = 20;
                              const at::Tensor placed = rows.to(parameters.entries().front().second.device());
                              return importance_bound(net, parameters, placed, draws, watched).mean.value;
                            },
                        .model = [net, info = begun.info()](const Moments& parameters) -> std::unique_ptr<Model> {
                          return std::make_unique<SbnModel>(info, net.with_parameters(parameters));
                        }};
  if (em_sweeps(config.own.as<SbnOptions>().objective) > 0)
    return train_by_likelihood(em_objective(config, data, net), config, data, std::move(hooks));
  const auto climbed = std::make_shared<LatentObjective>(sbn_objective(config, net.widths_below()));
  Moments trained = net.parameters();
  climbed->declare(trained, Key(config.seed).fold_in(run_streams::initial).fold_in(1));
  if (net.rbm_prior() == nullptr)
    return train_by_likelihood(ascent(net, std::move(trained), climbed), config, data, std::move(hooks));
  SbnPriorTraining whole = train_under_prior(config, net, trained, climbed);
  hooks.normalizer = std::move(whole.normalizer);
  hooks.optimizer = std::move(whole.optimizer);
  return train_by_likelihood(std::move(whole.objective), config, data, std::move(hooks));
}

// Recognition and generation, which are nearly as large, and the prior.
ModelSize size_of(const RunConfig& config) {
  std::vector<double> widths = {static_cast<double>(make_unit(config.visible)->width())};
  for (const std::int64_t width : latent_widths(config)) {
    for (const std::int64_t each : between_widths(config)) widths.push_back(static_cast<double>(each));
    widths.push_back(static_cast<double>(width));
  }
  const ModelSize half = size_of_chain(widths);
  const auto hidden = static_cast<double>(prior_hidden(config));
  const double extra = sbn_structure(config).extra_weights(make_unit(config.visible)->width());
  return {.weights = 2 * half.weights + hidden * widths.back() + extra, .units = 2 * half.units + hidden};
}

double products_of(const RunConfig& config) {
  const std::int64_t sweeps = em_sweeps(config.own.as<SbnOptions>().objective);
  const double rows = static_cast<double>(config.batch * (sweeps > 0 ? 1 + sweeps : sbn_objective(config).draws()));
  return 3 * rows * size_of(config).weights;
}

std::string in_words(const RunConfig& config) {
  const auto& own = config.own.as<SbnOptions>();
  std::string text = config.visible;
  for (const std::string& each : split_layers(own.latent)) text += " – " + each;
  if (own.layer != "factorial") text += format(", {} layers", own.layer);
  if (own.inference_layer != own.layer && own.inference_layer != "auto")
    text += format(", {} inference", own.inference_layer);
  if (own.prior != own.layer && own.prior != "auto")
    text += " under " + (prior_hidden(config) > 0 ? own.prior : format("a prior that is {}", own.prior));
  return text + ", " + own.objective;
}

}  // namespace

Family sbn_family() {
  namespace groups = option_groups;
  return {.name = "sbn",
          .title = "Sigmoid belief net",
          .help = "sigmoid belief net with learned inference; its likelihood is bounded by importance sampling",
          .example = "harmonium train --data digits --model sbn --latent 50,20 --objective vimco:5 --updates 500",
          .options = groups::joined({groups::common(), groups::tracked(), {"layers", "activation", "patience"}}),
          .own = OwnOptions(SbnOptions{}),
          .resolve = resolve_sbn,
          .make = make,
          .train = train,
          .read = read_sbn,
          .size = size_of,
          .products = products_of,
          .words = in_words,
          .keeps_best = true};
}

}  // namespace harmonium
